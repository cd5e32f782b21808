// Messages of several types as JSON objects, whose types are distinguished by the value of one key,
// such as {"event":"claimed", "node":"n1"}. A message type M is a record (base/fields.h) with a
// static M::kName.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/fields.h"

namespace viaduct::ipc {

// The wording of the messages of a variant, and of errors in reading them.
struct Dialogue {
  const char* tag;     // the key whose value is the type's name
  const char* sender;  // the sender, as errors name it: "the simulator"
  const char* advice;  // advice in errors, for a sender and a receiver that know different messages
};

// Throws Error naming the message, the problem and the advice.
[[noreturn]] void ThrowUnknown(const Dialogue& dialogue, const std::string& what);
// Returns the name of a message's type. Throws Error if the message has no type.
std::string TagOf(const Dialogue& dialogue, const nlohmann::json& message);

namespace internal {

// Returns all keys that a message of type M may have, without the keys of records inside it.
template <fields::Record M>
std::set<std::string> MakeKeys() {
  std::vector<fields::DocumentRow> rows;
  fields::Document<M>("", rows);
  std::set<std::string> keys;
  for (const fields::DocumentRow& row : rows) {
    if (row.path.find_first_of(".[") == std::string::npos) keys.insert(row.path);
  }
  return keys;
}

// Throws Error if the message has a key that M does not have, or lacks a key that M always writes.
template <fields::Record M>
void CheckKeys(const Dialogue& dialogue, const nlohmann::json& message) {
  static const std::set<std::string> known = MakeKeys<M>();
  static const nlohmann::json always = M();
  for (const auto& [key, value] : message.items()) {
    if (key != dialogue.tag && !known.contains(key)) {
      ThrowUnknown(dialogue, fmt::format("{} '{}' with '{}'", dialogue.tag, M::kName, key));
    }
  }
  for (const auto& [key, value] : always.items()) {
    if (!message.contains(key)) {
      ThrowUnknown(dialogue, fmt::format("{} '{}' without '{}'", dialogue.tag, M::kName, key));
    }
  }
}

template <class Messages, fields::Record M>
bool TakeIf(const Dialogue& dialogue, const std::string& name, const nlohmann::json& message,
            Messages* taken) {
  if (name != M::kName) return false;
  CheckKeys<M>(dialogue, message);
  *taken = message.get<M>();
  return true;
}

template <class Messages, class... M>
bool TakeAny(const Dialogue& dialogue, const std::string& name, const nlohmann::json& message,
             Messages* taken, std::type_identity<std::variant<M...>>) {
  return (TakeIf<Messages, M>(dialogue, name, message, taken) || ...);
}

}  // namespace internal

template <class... M>
nlohmann::json ToTagged(const Dialogue& dialogue, const std::variant<M...>& message) {
  return std::visit(
      [&](const auto& one) {
        nlohmann::json object = one;
        object[dialogue.tag] = one.kName;
        return object;
      },
      message);
}

// Converts a JSON object to a message. Throws Error if the object is of none of these types, lacks
// a key of its type, has a further key, or has a value of another type.
template <class Messages>
Messages FromTagged(const Dialogue& dialogue, const nlohmann::json& message) {
  const std::string name = TagOf(dialogue, message);
  Messages taken;
  try {
    if (internal::TakeAny(dialogue, name, message, &taken, std::type_identity<Messages>())) {
      return taken;
    }
  } catch (const nlohmann::json::exception& error) {
    ThrowUnknown(dialogue, fmt::format("{} '{}' ({})", dialogue.tag, name, error.what()));
  }
  ThrowUnknown(dialogue, fmt::format("{} '{}'", dialogue.tag, name.substr(0, 40)));
}

}  // namespace viaduct::ipc
