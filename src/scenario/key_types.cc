// The names of scenario keys, and descriptions of their types in words.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "plane/fib/data_plane.h"
#include "scenario/keys.h"

namespace viaduct::scenario {

const Key& FindKey(std::string_view path) {
  for (const Key& key : Keys()) {
    if (path == key.path) return key;
  }
  throw std::logic_error(fmt::format("no scenario key '{}'", path));
}

std::string_view Key::Name() const {
  const std::string_view whole = path;
  return whole.substr(whole.rfind('.') + 1);
}

std::string_view Key::Section() const {
  const std::string_view whole = path;
  return whole.substr(0, whole.size() - std::min(Name().size() + 1, whole.size()));
}

std::string ChoicesOf(const Key& key) {
  if (key.type == Type::kAlias) return ChoicesOf(FindKey(key.choices));
  if (key.type != Type::kPlane) return key.choices;
  std::string names;
  for (const fib::DataPlane* plane : fib::DataPlanes()) {
    names += fmt::format("{}{}", names.empty() ? "" : " ", plane->name);
  }
  return names;
}

std::string DescribeType(const Key& key) {
  // The descriptions of the types, in the order of the enumeration Type.
  constexpr const char* kDescriptions[] = {"text",
                                           "a name (letters, digits, - and _)",
                                           "one of ",
                                           "true or false",
                                           "a whole number",
                                           "a duration such as 10s or 200ms",
                                           "a rate such as 2Mbit",
                                           "a link SPEC such as delay=20ms rate=10Mbit",
                                           "a prefix such as 10.0.0.0/8, or none",
                                           "a node's name",
                                           "a list of nodes, or all",
                                           "a link's name",
                                           "a list of links, or all",
                                           "a list",
                                           "a command",
                                           "a map from names to values",
                                           "a map",
                                           "a protocol, or a map",
                                           "a map, or one of ",
                                           "a list of maps",
                                           "a number, a list of names, or a map"};
  static_assert(std::size(kDescriptions) == static_cast<size_t>(Type::kAlias));
  if (key.type == Type::kAlias) return DescribeType(FindKey(key.choices));
  std::string words = ChoicesOf(key);
  for (size_t at = 0; (at = words.find(' ', at)) != std::string::npos; at += 2) {
    words.replace(at, 1, ", ");
  }
  return kDescriptions[static_cast<size_t>(key.type)] + words;
}

}  // namespace viaduct::scenario
