// Binds the rows of the table of keys (scenario/keys.cc) to members of the scenario's structs.
#pragma once

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/member_pointer.h"
#include "base/units.h"
#include "scenario/keys.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

template <class T>
inline constexpr char kTypeTag = 0;

// Prints the members of `object` that have a key directly in `section` ("links[]"; "" for the top
// level of the file), in the order of the table.
template <class T>
void PrintMembers(YAML::Emitter& out, std::string_view section, const T& object) {
  for (const Key& key : Keys()) {
    if (!key.access.print || key.Section() != section) continue;
    if (key.access.object_type != &kTypeTag<T>) throw std::logic_error(key.path);
    key.access.print(out, key, &object);
  }
}

// Reads from the section the members of `object` that have a row with a reader in the table; the
// inverse of PrintMembers().
template <class T>
void ReadMembers(const Section& section, T& object) {
  for (const Key& key : Keys()) {
    if (!key.access.read || key.Section() != section.path()) continue;
    if (key.access.object_type != &kTypeTag<T>) throw std::logic_error(key.path);
    key.access.read(section, key, &object);
  }
}

template <class T>
void PrintPair(YAML::Emitter& out, const Key& key, const T& value) {
  out << YAML::Key << std::string(key.Name()) << YAML::Value << value;
}

// Written() returns a value in the form in which it is written in a file; one overload for each
// type of member.
inline std::string Written(const std::string& text) { return text; }
inline bool Written(bool value) { return value; }
inline int Written(int value) { return value; }
inline uint64_t Written(uint64_t value) { return value; }
inline std::string Written(Duration duration) { return FormatDuration(duration); }
inline std::string Written(int64_t rate) { return FormatRate(rate); }
inline std::string Written(const path::Spec& spec) { return path::FormatSpec(spec); }
inline std::string Written(const wire::IpPrefix& prefix) {
  return prefix == kNoAddress ? "none" : prefix.ToString();
}
inline std::string Written(Mode mode) { return ModeName(mode); }
inline std::string Written(GuestPlace place) { return GuestPlaceName(place); }
inline std::string Written(Mobility::Layout layout) {
  constexpr const char* kNames[] = {"grid", "line", "random"};
  return kNames[static_cast<size_t>(layout)];
}
inline std::string Written(Flow::Kind kind) { return KindName(kind); }
inline std::string Written(lab::Emulator emulator) { return lab::EmulatorName(emulator); }

template <class T>
void PrintValue(YAML::Emitter& out, const Key& key, const T& value) {
  PrintPair(out, key, Written(value));
}
inline void PrintValue(YAML::Emitter& out, const Key& key, const std::string& text) {
  if (!text.empty()) PrintPair(out, key, text);
}
inline void PrintValue(YAML::Emitter& out, const Key& key, const fib::DataPlane* plane) {
  if (plane) PrintPair(out, key, std::string(plane->name));
}
inline void PrintValue(YAML::Emitter& out, const Key& key, const path::Spec& spec) {
  if (!spec.IsPlainWire()) PrintPair(out, key, Written(spec));
}
// Prints an optional member that has a value, even if a member of the value's type would be
// omitted.
template <class T>
void PrintValue(YAML::Emitter& out, const Key& key, const std::optional<T>& value) {
  if (value) PrintPair(out, key, Written(*value));
}
template <class T>
void PrintValue(YAML::Emitter& out, const Key& key, const std::vector<T>& items) {
  if (items.empty()) return;
  PrintPair(out, key, YAML::Flow);
  out << YAML::BeginSeq;
  for (const T& item : items) out << Written(item);
  out << YAML::EndSeq;
}
inline void PrintValue(YAML::Emitter& out, const Key& key,
                       const std::map<std::string, std::string>& table) {
  if (table.empty()) return;
  PrintPair(out, key, YAML::BeginMap);
  for (const auto& [name, value] : table) out << YAML::Key << name << YAML::Value << value;
  out << YAML::EndMap;
}

// Reads a value from the section, depending on the type of the member.
template <class T>
void ReadValue(const Section& section, const Key& key, T& value) {
  const std::string_view name = key.Name();
  if constexpr (std::is_enum_v<T>) {
    value = section.Choice<T>(name);
  } else if constexpr (std::is_same_v<T, bool>) {
    value = section.Boolean(name);
  } else if constexpr (std::is_integral_v<T>) {
    value = static_cast<T>(key.type == Type::kRate
                               ? section.Rate(name)
                               : section.Integer(name, key.access.low, key.access.high));
  } else if constexpr (std::is_same_v<T, Duration>) {
    value = section.Duration(name);
  } else if constexpr (std::is_same_v<T, path::Spec>) {
    value = section.Located(name, [&] { return path::ParseSpec(section.Text(name)); });
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = section.Text(name);
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    value = section.Texts(name);
  } else {
    for (const auto& [word, text] : section.Table(name)) value[word] = text;
  }
}
template <class T>
void ReadValue(const Section& section, const Key& key, std::optional<T>& value) {
  if (section.Has(key.Name())) ReadValue(section, key, value.emplace());
}

template <class T>
bool Always(const T&) {
  return true;
}

// Binds a key to a value of T that the function `print` prints.
template <class T, auto print>
constexpr Access Custom() {
  return {[](YAML::Emitter& out, const Key& key, const void* object) {
            print(out, key, *static_cast<const T*>(object));
          },
          &kTypeTag<T>};
}

// Binds a key to a member that is printed if `applies` returns true for the object that has the
// member.
template <auto member, auto applies = Always<ClassOf<member>>>
constexpr Access Printed(std::string (*fallback)() = nullptr) {
  using T = ClassOf<member>;
  Access access = Custom<T, [](YAML::Emitter& out, const Key& key, const T& object) {
    if (applies(object)) PrintValue(out, key, object.*member);
  }>();
  access.fallback = fallback;
  return access;
}

template <auto member>
std::string DefaultOf() {
  YAML::Emitter out;
  out << Written(ClassOf<member>().*member);
  return out.c_str();
}
// Binds a key to a member as Printed() does; the key's default is the default of the struct's
// member.
template <auto member, auto applies = Always<ClassOf<member>>>
constexpr Access Member() {
  return Printed<member, applies>(DefaultOf<member>);
}

// Makes the binding also read the member from the section, because the member's value depends on no
// other key.
template <auto member>
constexpr Access Plain(Access access) {
  access.read = [](const Section& section, const Key& key, void* object) {
    ReadValue(section, key, static_cast<ClassOf<member>*>(object)->*member);
  };
  return access;
}
template <auto member, auto applies = Always<ClassOf<member>>>
constexpr Access PlainMember() {
  return Plain<member>(Member<member, applies>());
}
template <auto member>
constexpr Access PlainPrinted() {
  return Plain<member>(Printed<member>());
}

// Binds a key to a section whose keys are bound to members of the struct that `inner` returns for a
// T.
template <class T, auto inner, auto applies = Always<T>>
constexpr Access SectionOf() {
  Access access = Custom<T, [](YAML::Emitter& out, const Key& key, const T& object) {
    if (!applies(object)) return;
    PrintPair(out, key, YAML::BeginMap);
    PrintMembers(out, key.path, inner(object));
    out << YAML::EndMap;
  }>();
  access.read = [](const Section& section, const Key& key, void* object) {
    ReadMembers(section.Inner(key.Name()), inner(*static_cast<T*>(object)));
  };
  return access;
}
// Binds a key to a section that is read into a separate struct, which is a member of the object.
template <auto member, auto applies = Always<ClassOf<member>>>
constexpr Access Inner() {
  return SectionOf < ClassOf<member>, [](auto& object) -> auto& { return object.*member; }
  , applies > ();
}
// Binds a key to a section whose keys are bound to members of T itself.
template <class T, auto applies = Always<T>>
constexpr Access Group() {
  return SectionOf < T, [](auto& object) -> auto& { return object; }
  , applies > ();
}
// Binds a key to a member that is a list of sections.
template <auto member>
constexpr Access Each() {
  using T = ClassOf<member>;
  return Custom<T, [](YAML::Emitter& out, const Key& key, const T& object) {
    if ((object.*member).empty()) return;
    PrintPair(out, key, YAML::BeginSeq);
    for (const auto& item : object.*member) {
      out << YAML::BeginMap;
      PrintMembers(out, std::string(key.path) + "[]", item);
      out << YAML::EndMap;
    }
    out << YAML::EndSeq;
  }>();
}

// Binds a key that is not printed itself, because its value is part of the printed values of other
// keys: a shape is printed as its links, and a default is printed in each place where it applies.
constexpr Access Elsewhere(std::string (*fallback)() = nullptr) {
  return {nullptr, nullptr, fallback};
}

}  // namespace viaduct::scenario
