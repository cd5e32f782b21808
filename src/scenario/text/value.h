// A scenario file as a tree of values that records the position of each value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace viaduct::scenario {

// One YAML node. Maps keep the order of the file. `where` is "FILE:LINE" or the --set option.
struct Value {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  std::string text;                    // for kScalar
  std::vector<Value> items;            // for kList
  std::vector<struct Member> members;  // for kMap
  std::string where;

  // Returns the value of the member `key`, or null.
  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);
  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsMap() const { return kind == Kind::kMap; }
  // Returns a description of the value for messages: "a list", "a map", "nothing", "'text'".
  std::string Describe() const;
};

struct Member {
  std::string first;  // the key of the member
  Value second;
};

// Throws UsageError with "WHERE: MESSAGE", the form of every error about a scenario file.
[[noreturn]] void Fail(const Value& at, const std::string& message);

// Parses YAML text; `source` is its name in messages. Throws UsageError for malformed YAML, for a
// key that occurs twice, and for text that is not UTF-8, is over 1 MiB, is nested over 32 deep, or
// contains several documents.
Value ParseYaml(const std::string& text, const std::string& source);

// Applies an override, "flows.0.rate=2Mbit" or "flows[0].rate=2Mbit": the value is YAML; missing
// parts of the path are created. Throws UsageError.
void Override(Value& root, const std::string& assignment);

}  // namespace viaduct::scenario
