// A scenario file as a tree that records the position of each part.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace viaduct::scenario {

// One YAML node. Maps keep the order of the file. `where` is "FILE:LINE" or the --set option.
struct Value {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  std::string text;                    // kScalar
  std::vector<Value> items;            // kList
  std::vector<struct Member> members;  // kMap
  std::string where;

  // The member called `key`, or null.
  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);
  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsMap() const { return kind == Kind::kMap; }
  // "a list", "a map", "nothing", "'text'": for messages.
  std::string Describe() const;
};

struct Member {
  std::string first;  // the key
  Value second;
};

// "WHERE: MESSAGE", the form of every error about a scenario file.
[[noreturn]] void Fail(const Value& at, const std::string& message);

// Parses YAML text; `source` is its name in messages. Throws UsageError: malformed YAML, a key
// given twice, text that is not UTF-8, over 1 MiB, nested over 32 deep, several documents.
Value ParseYaml(const std::string& text, const std::string& source);

// Applies "flows.0.rate=2Mbit" or "flows[0].rate=2Mbit": the value is YAML; missing parts of the
// path are created. Throws UsageError.
void Override(Value& root, const std::string& assignment);

}  // namespace viaduct::scenario
