// Binds the rows of the table of keys (scenario/keys.cc) to members of the scenario's structs.
#pragma once

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/units.h"
#include "scenario/keys.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {

template <class T>
inline constexpr char kTypeTag = 0;

// Prints the members of `object` that have a key directly in `section` ("links[]", "" for the
// file), in the order of the table.
template <class T>
void PrintMembers(YAML::Emitter& out, std::string_view section, const T& object) {
  for (const Key& key : Keys()) {
    if (!key.access.print || key.Section() != section) continue;
    if (key.access.object_type != &kTypeTag<T>) throw std::logic_error(key.path);
    key.access.print(out, key, &object);
  }
}

template <class T>
void PrintPair(YAML::Emitter& out, const Key& key, const T& value) {
  out << YAML::Key << std::string(key.Name()) << YAML::Value << value;
}

// A value as it would be written in a file, for each type of member.
inline std::string Written(const std::string& text) { return text; }
inline bool Written(bool value) { return value; }
inline int Written(int value) { return value; }
inline uint64_t Written(uint64_t value) { return value; }
inline std::string Written(Duration duration) { return FormatDuration(duration); }
inline std::string Written(int64_t rate) { return FormatRate(rate); }
inline std::string Written(const path::Spec& spec) { return path::FormatSpec(spec); }
inline std::string Written(const wire::IpPrefix& prefix) { return prefix.ToString(); }
inline std::string Written(Mode mode) { return ModeName(mode); }
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
// An optional member that has a value is always printed, even if a plain member with that value
// would be omitted.
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

template <class T, class M>
T ObjectOf(M T::*member);
template <class T>
bool Always(const T&) {
  return true;
}

// A value of T that the function `print` writes.
template <class T, auto print>
constexpr Access Custom() {
  return {[](YAML::Emitter& out, const Key& key, const void* object) {
            print(out, key, *static_cast<const T*>(object));
          },
          &kTypeTag<T>};
}

template <auto member>
using Object = decltype(ObjectOf(member));

// A member, printed if `applies` is true for its object.
template <auto member, auto applies = Always<Object<member>>>
constexpr Access Printed(std::string (*fallback)() = nullptr) {
  using T = Object<member>;
  Access access = Custom<T, [](YAML::Emitter& out, const Key& key, const T& object) {
    if (applies(object)) PrintValue(out, key, object.*member);
  }>();
  access.fallback = fallback;
  return access;
}

template <auto member>
std::string DefaultOf() {
  YAML::Emitter out;
  out << Written(Object<member>().*member);
  return out.c_str();
}
// The same with the default of the struct's member.
template <auto member, auto applies = Always<Object<member>>>
constexpr Access Member() {
  return Printed<member, applies>(DefaultOf<member>);
}

// A section that is a struct of its own.
template <auto member>
constexpr Access Inner() {
  using T = Object<member>;
  return Custom<T, [](YAML::Emitter& out, const Key& key, const T& object) {
    PrintPair(out, key, YAML::BeginMap);
    PrintMembers(out, key.path, object.*member);
    out << YAML::EndMap;
  }>();
}
// A section whose members are T's own.
template <class T, auto applies = Always<T>>
constexpr Access Group() {
  return Custom<T, [](YAML::Emitter& out, const Key& key, const T& object) {
    if (!applies(object)) return;
    PrintPair(out, key, YAML::BeginMap);
    PrintMembers(out, key.path, object);
    out << YAML::EndMap;
  }>();
}
// A list of sections.
template <auto member>
constexpr Access Each() {
  using T = Object<member>;
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

// A key that is printed through the values of other keys: a shape as its links, a default in each
// place where it applies.
constexpr Access Elsewhere(std::string (*fallback)() = nullptr) {
  return {nullptr, nullptr, fallback};
}

}  // namespace viaduct::scenario
