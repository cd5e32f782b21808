#include "scenario/section.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/edit_distance.h"
#include "base/units.h"
#include "scenario/text/words.h"

namespace viaduct::scenario {
namespace {

bool HasShape(Type type, const Value& value) {
  switch (type) {
    case Type::kNodes:
    case Type::kLinks:
      return value.IsList() || (value.IsScalar() && value.text == "all");
    case Type::kTexts:
      return value.IsList();
    case Type::kWords:
      return value.IsList() || value.IsScalar();
    case Type::kTable:
    case Type::kSection:
    case Type::kProtocol:  // WriteRoutingAsMap() has replaced a word by a map
      return value.IsMap();
    case Type::kPlane:
      return value.IsScalar() || value.IsMap();
    case Type::kSections:
      return value.IsList();
    case Type::kAlias:  // ResolveAliases() has replaced aliases by current names
      return false;
    case Type::kNodeSet:
      return true;
    default:
      return value.IsScalar();
  }
}

// Returns "prefix.key"; `key` if the prefix is empty.
std::string Join(const std::string& prefix, std::string_view key) {
  return prefix.empty() ? std::string(key) : fmt::format("{}.{}", prefix, key);
}

}  // namespace

bool IsName(std::string_view text, size_t longest) {
  return !text.empty() && text.size() <= longest &&
         std::isalnum(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

Section::Section(const Value& value, std::string path, std::string shown, bool free_names)
    : value_(value), path_(std::move(path)), shown_(std::move(shown)) {
  if (value.kind == Value::Kind::kNull) return;
  if (!value.IsMap()) {
    scenario::Fail(value, fmt::format("{} is {}; it must be a map",
                                      shown_.empty() ? "the file" : shown_, value.Describe()));
  }
  if (free_names) return;
  for (const auto& [name, member] : value.members) CheckMember(name, member);
}

std::string Section::PathOf(std::string_view key) const { return Join(path_, key); }

const Key* Section::KeyFor(std::string_view key) const {
  const std::string path = PathOf(key);
  for (const Key& candidate : Keys()) {
    if (path == candidate.path && key != "NAME") return &candidate;
  }
  return nullptr;
}

void Section::CheckMember(const std::string& name, const Value& member) const {
  const Key* key = KeyFor(name);
  if (!key) FailUnknown(name, member);
  if (member.kind != Value::Kind::kNull && !HasShape(key->type, member)) {
    Fail(name, fmt::format("{} where {} is expected", member.Describe(), DescribeType(*key)));
  }
}

void Section::FailUnknown(const std::string& name, const Value& member) const {
  std::vector<std::string> known;
  for (const Key& key : Keys()) {
    if (key.Section() == path_) known.emplace_back(key.Name());
  }
  const std::string hint = DidYouMean(name, known);
  scenario::Fail(member, fmt::format("unknown key '{}'{}{} known keys: {}", name,
                                     shown_.empty() ? "" : " in " + shown_,
                                     hint.empty() ? ";" : hint, fmt::join(known, ", ")));
}

const Value* Section::Find(std::string_view key) const {
  FindKey(PathOf(key));
  const Value* member = value_.Find(key);
  return member && member->kind != Value::Kind::kNull ? member : nullptr;
}

const Value& Section::At(std::string_view key) const {
  const Value* member = value_.Find(key);
  return member ? *member : value_;
}

void Section::Need(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    if (!Has(key)) scenario::Fail(value_, fmt::format("{} needs {}", shown_, key));
  }
}

Section Section::Inner(std::string_view key) const {
  static const Value nothing;
  const Value* value = Find(key);
  return Section(value ? *value : nothing, PathOf(key), Join(shown_, key));
}

Section Section::Item(std::string_view key, const Value& item, size_t index) const {
  return Section(item, PathOf(key) + "[]", fmt::format("{}[{}]", Join(shown_, key), index));
}

void Section::Fail(std::string_view key, const std::string& message) const {
  scenario::Fail(At(key), fmt::format("{}: {}", Join(shown_, key), message));
}

std::string Section::Text(std::string_view key) const {
  const Key& known = FindKey(PathOf(key));
  const Value* member = Find(key);
  std::string text = member ? member->text : known.Default();
  if (member && (known.type == Type::kChoice || known.type == Type::kPlane)) {
    const std::string choices = fmt::format(" {} ", ChoicesOf(known));
    if (text.find(' ') != std::string::npos || text.empty() ||
        choices.find(" " + text + " ") == std::string::npos) {
      Fail(key, fmt::format("'{}' is not {}", text, DescribeType(known)));
    }
  }
  const auto longest = static_cast<size_t>(known.access.high);
  if (member && known.type == Type::kName && !IsName(text, longest)) {
    Fail(key,
         fmt::format("'{}' is not a valid name (letters, digits, - and _; at most {} characters)",
                     text, longest));
  }
  return text;
}

size_t Section::ChoiceIndex(std::string_view key) const {
  const std::string word = " " + Text(key) + " ";
  const std::string before = fmt::format(" {} ", ChoicesOf(FindKey(PathOf(key))));
  return static_cast<size_t>(
      std::count(before.begin(), before.begin() + static_cast<long>(before.find(word)), ' '));
}

bool Section::Boolean(std::string_view key) const {
  const std::string text = Text(key);
  if (text != "true" && text != "false") {
    Fail(key, fmt::format("'{}' is not true or false", text));
  }
  return text == "true";
}

int64_t Section::Integer(std::string_view key, int64_t low, int64_t high) const {
  return Located(key, [&] { return ParseInteger(Text(key), low, high); });
}

viaduct::Duration Section::Duration(std::string_view key) const {
  return Located(key, [&] { return ParseDuration(Text(key)); });
}

int64_t Section::Rate(std::string_view key) const {
  return Located(key, [&] { return ParseRate(Text(key)); });
}

std::vector<std::string> Section::Texts(std::string_view key) const {
  const Value* member = Find(key);
  if (!member) return {};
  if (member->IsScalar()) {
    if (FindKey(PathOf(key)).type != Type::kWords) return {member->text};
    return Located(key, [&] { return SplitWords(member->text); });
  }
  std::vector<std::string> texts;
  for (const Value& item : member->items) {
    if (!item.IsScalar()) {
      scenario::Fail(item,
                     fmt::format("{}: {} is not allowed in this list, which may contain only text",
                                 Join(shown_, key), item.Describe()));
    }
    texts.push_back(item.text);
  }
  return texts;
}

std::vector<std::pair<std::string, std::string>> Section::Table(std::string_view key) const {
  std::vector<std::pair<std::string, std::string>> table;
  const Value* member = Find(key);
  if (!member) return table;
  for (const auto& [name, value] : member->members) {
    if (!value.IsScalar()) {
      scenario::Fail(value, fmt::format("{}.{}: {} where text is expected", Join(shown_, key), name,
                                        value.Describe()));
    }
    table.emplace_back(name, value.text);
  }
  return table;
}

}  // namespace viaduct::scenario
