// Every key of a scenario file, in one table: the parser accepts these and no others, takes its
// defaults from here, and docs/scenario.md is printed from here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "scenario/value.h"

namespace viaduct::scenario {

// What a key's value looks like.
enum class Type {
  kText,
  kName,     // letters, digits, "-", "_"
  kChoice,   // one of the words in `choices`
  kBoolean,  // true, false
  kInteger,
  kDuration,  // base/units.h
  kRate,
  kSpec,      // path/spec.h
  kPrefix,    // 10.0.0.0/8, or none
  kNode,      // the name of a node
  kNodes,     // a list of nodes, or all
  kLink,      // the name of a link
  kLinks,     // a list of links, or all
  kTexts,     // a list of texts
  kWords,     // a command: text, split as a shell would, or a list of words
  kTable,     // names with texts
  kSection,   // keys of its own
  kSections,  // a list of sections
  kNodeSet,   // a number, a list of names, or a section a name
  kAlias,     // another name of the key in `fallback`
};

struct Key {
  // "links[].mtu": [] is any position of a list, NAME any name the user chose.
  const char* path;
  Type type;
  const char* fallback;  // default as it would be written; "" where absence means something else
  const char* help;
  const char* example;
  const char* choices = "";  // kChoice: separated by spaces
};

std::span<const Key> Keys();
// The key at `path`, which must exist.
const Key& FindKey(std::string_view path);
// "a duration such as 10s", for messages and the documentation.
std::string DescribeType(const Key& key);

// docs/scenario.md, as Markdown.
std::string DocumentKeys();

// One section of the file against its part of the table. The constructor throws UsageError on keys
// the table does not have and on values of the wrong shape; the getters check the rest. A key that
// is absent or empty has its default.
class Section {
 public:
  // `path` is the section's own in the table ("links[]", "" for the file), `shown` its name in
  // messages ("links[0]"). Members whose names `free_names` says are the user's are not looked at.
  Section(const Value& value, std::string path, std::string shown, bool free_names = false);

  // The value, null when absent.
  const Value* Find(std::string_view key) const;
  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  // Where to point to about `key`: its value, or the section.
  const Value& At(std::string_view key) const;
  const Value& value() const { return value_; }
  const std::string& shown() const { return shown_; }

  std::string Text(std::string_view key) const;  // also names and choices
  bool Boolean(std::string_view key) const;
  int64_t Integer(std::string_view key, int64_t low, int64_t high) const;
  viaduct::Duration Duration(std::string_view key) const;
  int64_t Rate(std::string_view key) const;
  // A list of texts; for kWords a text is split.
  std::vector<std::string> Texts(std::string_view key) const;
  std::vector<std::pair<std::string, std::string>> Table(std::string_view key) const;

  // Fails at `key` with "shown.key: message".
  [[noreturn]] void Fail(std::string_view key, const std::string& message) const;
  // Runs `parse`; a UsageError of its gets the place of `key`.
  template <class F>
  auto Located(std::string_view key, F parse) const {
    try {
      return parse();
    } catch (const UsageError& e) {
      Fail(key, e.what());
    }
  }

 private:
  const Key* KeyFor(std::string_view key) const;
  void CheckMember(const std::string& name, const Value& member) const;
  [[noreturn]] void FailUnknown(const std::string& name, const Value& member) const;
  std::string PathOf(std::string_view key) const;

  const Value& value_;
  std::string path_, shown_;
};

// The word of `known` most like `word`, or "": for "did you mean".
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace viaduct::scenario
