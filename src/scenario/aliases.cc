#include "scenario/aliases.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "scenario/keys.h"

namespace viaduct::scenario {
namespace {

// Removes and returns the first name of a path such as "nodes.NAME".
std::string_view TakeName(std::string_view& path) {
  const size_t end = std::min(path.find_first_of(".["), path.size());
  const std::string_view name = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return name;
}

// Renames the alias to the current name of its key, in each map to which the path `section` of the
// table of keys leads from `value`.
void Rename(Value& value, std::string_view section, const Key& alias) {
  if (!value.IsMap()) return;
  if (!section.empty()) {
    const std::string_view name = TakeName(section);
    for (auto& [key, member] : value.members) {
      if (name == "NAME" || name == key) Rename(member, section, alias);
    }
    return;
  }
  const Value* found = value.Find(alias.Name());
  if (!found) return;
  const Key& current = FindKey(alias.choices);
  if (value.Find(current.Name())) {
    Fail(*found,
         fmt::format("{} is another name of {}, and both are set; remove one of the two keys",
                     alias.Name(), current.Name()));
  }
  for (auto& [key, member] : value.members) {
    if (key == alias.Name()) key = current.Name();
  }
}

// Returns the position in `path` of the last name of the alias's path; npos if `path` does not lead
// to the alias.
size_t Find(const Key& alias, std::string_view path) {
  std::string_view expected = alias.path, rest = path;
  while (!expected.empty()) {
    const size_t position = path.size() - rest.size();
    const std::string_view name = TakeName(expected);
    if (TakeName(rest) != name && name != "NAME") return std::string::npos;
    if (expected.empty()) return position;
  }
  return std::string::npos;
}

}  // namespace

void ResolveAliases(Value& root) {
  for (const Key& key : Keys()) {
    if (key.type == Type::kAlias) Rename(root, key.Section(), key);
  }
}

std::string ResolveAliases(const std::string& assignment) {
  const std::string_view path = std::string_view(assignment).substr(0, assignment.find('='));
  for (const Key& key : Keys()) {
    if (key.type != Type::kAlias) continue;
    if (const size_t position = Find(key, path); position != std::string::npos) {
      return std::string(assignment)
          .replace(position, key.Name().size(), FindKey(key.choices).Name());
    }
  }
  return assignment;
}

}  // namespace viaduct::scenario
