// Types as JSON: one table of keys for each type, from which its writer, its reader and its
// documentation (docs/results.md) are made.
#pragma once

#include <concepts>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/member_pointer.h"

namespace viaduct::fields {

// A row of docs/results.md: the path of a JSON key ("flows[].rtt_ms.min"), the type or unit of the
// key's value, and the value's meaning.
struct DocumentRow {
  std::string path, value, meaning;
};

// A row of a type's table of keys: a JSON key, and the functions that write, read and document it.
template <class T>
struct Key {
  // The JSON key; "" if the keys of a member are merged into the keys of the type.
  const char* name;
  const char* value;
  const char* meaning;
  void (*write)(const Key& key, const T& record, nlohmann::json& object);
  // Reads the key's value into its member of `record`. If the key is absent or null, the member
  // remains unchanged. Throws nlohmann::json::exception.
  void (*read)(const Key& key, const nlohmann::json& object, T& record);
  void (*document)(const Key& key, const std::string& prefix, std::vector<DocumentRow>& rows);
};

// The table of keys of a type, which the type's function `static KeysOf<T> Keys()` returns.
template <class T>
using KeysOf = std::span<const Key<T>>;

template <class T>
concept Record = requires {
  { T::Keys() } -> std::same_as<KeysOf<T>>;
};

template <Record T>
void Write(const T& record, nlohmann::json& object) {
  for (const Key<T>& key : T::Keys()) key.write(key, record, object);
}

template <Record T>
void Read(const nlohmann::json& object, T& record) {
  for (const Key<T>& key : T::Keys()) key.read(key, object, record);
}

template <Record T>
void Document(const std::string& prefix, std::vector<DocumentRow>& rows) {
  for (const Key<T>& key : T::Keys()) key.document(key, prefix, rows);
}

namespace internal {

// The type of the values in a container (optional, vector, map), and the suffix that the container
// adds to the path of a key in docs/results.md.
template <class V>
struct Inner {
  using Type = V;
  static constexpr const char* kPath = "";
};
template <class V>
struct Inner<std::optional<V>> : Inner<V> {};
template <class V>
struct Inner<std::vector<V>> {
  using Type = V;
  static constexpr const char* kPath = "[]";
};
template <class V>
struct Inner<std::map<std::string, V>> {
  using Type = V;
  static constexpr const char* kPath = ".*";
};

template <class V>
nlohmann::json ToJson(const V& value) {
  return value;
}
template <class V>
nlohmann::json ToJson(const std::optional<V>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

template <class V>
bool IsSet(const V& value) {
  if constexpr (requires { value.has_value(); }) {
    return value.has_value();
  } else {
    return !value.empty();
  }
}

template <auto kMember>
void WriteMember(const Key<ClassOf<kMember>>& key, const ClassOf<kMember>& record,
                 nlohmann::json& object) {
  object[key.name] = ToJson(record.*kMember);
}

template <auto kMember>
void ReadMember(const Key<ClassOf<kMember>>& key, const nlohmann::json& object,
                ClassOf<kMember>& record) {
  const auto found = object.find(key.name);
  if (found == object.end() || found->is_null()) return;
  if constexpr (requires { (record.*kMember).has_value(); }) {
    record.*kMember = found->template get<typename ValueOf<kMember>::value_type>();
  } else {
    found->get_to(record.*kMember);
  }
}

template <auto kMember>
void DocumentMember(const Key<ClassOf<kMember>>& key, const std::string& prefix,
                    std::vector<DocumentRow>& rows) {
  using Inside = Inner<ValueOf<kMember>>;
  rows.push_back({prefix + key.name, key.value, key.meaning});
  if constexpr (Record<typename Inside::Type>) {
    Document<typename Inside::Type>(prefix + key.name + Inside::kPath + ".", rows);
  }
}

}  // namespace internal

// Returns a key that is always written; its value is null for an optional without a value.
template <auto kMember>
constexpr Key<ClassOf<kMember>> Always(const char* name, const char* value, const char* meaning) {
  return {name,
          value,
          meaning,
          internal::WriteMember<kMember>,
          internal::ReadMember<kMember>,
          internal::DocumentMember<kMember>};
}

// Returns a key that is not written while its member is empty.
template <auto kMember>
constexpr Key<ClassOf<kMember>> WhenSet(const char* name, const char* value, const char* meaning) {
  auto key = Always<kMember>(name, value, meaning);
  key.write = [](const auto& row, const auto& record, nlohmann::json& object) {
    if (internal::IsSet(record.*kMember)) internal::WriteMember<kMember>(row, record, object);
  };
  return key;
}

// Merges the keys of a member, which is itself a record, into the keys of the type.
template <auto kMember>
constexpr Key<ClassOf<kMember>> Among() {
  return {"",
          "",
          "",
          [](const auto&, const auto& record, nlohmann::json& object) {
            Write(record.*kMember, object);
          },
          [](const auto&, const nlohmann::json& object, auto& record) {
            Read(object, record.*kMember);
          },
          [](const auto&, const std::string& prefix, std::vector<DocumentRow>& rows) {
            Document<ValueOf<kMember>>(prefix, rows);
          }};
}

}  // namespace viaduct::fields

template <viaduct::fields::Record T>
struct nlohmann::adl_serializer<T> {
  static void to_json(nlohmann::json& object, const T& record) {
    object = nlohmann::json::object();
    viaduct::fields::Write(record, object);
  }
  static void from_json(const nlohmann::json& object, T& record) {
    viaduct::fields::Read(object, record);
  }
};
