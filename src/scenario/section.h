// Reads the sections of a scenario file against the table of keys.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "scenario/keys.h"
#include "scenario/text/value.h"

namespace viaduct::scenario {

// One section of the file, checked against its part of the table of keys. The constructor throws
// UsageError for keys that the table does not have and for values of a wrong type; the getters
// check the values further. A key that is absent or empty has its default.
class Section {
 public:
  // `path` is the section's path in the table ("links[]", "" for the top level of the file),
  // `shown` its name in messages ("links[0]"). With `free_names` the user chooses the names of the
  // members, which are not checked.
  Section(const Value& value, std::string path, std::string shown, bool free_names = false);

  // Returns the value of a key; null if it is absent.
  const Value* Find(std::string_view key) const;
  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  // Returns the value whose position is used in messages about `key`: the value of the key, or the
  // section if the key is absent.
  const Value& At(std::string_view key) const;
  const Value& value() const { return value_; }
  const std::string& path() const { return path_; }
  const std::string& shown() const { return shown_; }

  // Throws UsageError unless all of these keys are present.
  void Need(std::initializer_list<std::string_view> keys) const;
  // Returns the section that is the value of `key`; a section without keys if the key is absent.
  Section Inner(std::string_view key) const;
  // Calls use(section) for each item of the list of sections at `key`, or of `list`, if the file
  // has the list under an alias of `key`.
  template <class Use>
  void Each(std::string_view key, Use use) const {
    const Value* list = Find(key);
    for (size_t i = 0; list && i < list->items.size(); ++i) use(Item(key, list->items[i], i));
  }

  std::string Text(std::string_view key) const;  // accepts names and choices, too
  // Returns the value, which is one of the key's words, as an enumerator: words and enumerators
  // have the same order.
  template <class Enum>
  Enum Choice(std::string_view key) const {
    return static_cast<Enum>(ChoiceIndex(key));
  }
  bool Boolean(std::string_view key) const;
  int64_t Integer(std::string_view key, int64_t low, int64_t high) const;
  viaduct::Duration Duration(std::string_view key) const;
  int64_t Rate(std::string_view key) const;
  // Returns a list of texts; splits the text of a command (kWords) into words.
  std::vector<std::string> Texts(std::string_view key) const;
  std::vector<std::pair<std::string, std::string>> Table(std::string_view key) const;

  // Throws UsageError at the position of `key` with "shown.key: message".
  [[noreturn]] void Fail(std::string_view key, const std::string& message) const;
  // Runs `parse` and adds the position of `key` to a UsageError that it throws.
  template <class F>
  auto Located(std::string_view key, F parse) const {
    try {
      return parse();
    } catch (const UsageError& e) {
      Fail(key, e.what());
    }
  }

 private:
  Section Item(std::string_view key, const Value& item, size_t index) const;
  size_t ChoiceIndex(std::string_view key) const;
  const Key* KeyFor(std::string_view key) const;
  void CheckMember(const std::string& name, const Value& member) const;
  [[noreturn]] void FailUnknown(const std::string& name, const Value& member) const;
  std::string PathOf(std::string_view key) const;

  const Value& value_;
  std::string path_, shown_;
};

// Whether `text` consists of letters, digits, "-" and "_", begins with a letter or digit and has at
// most `longest` characters.
bool IsName(std::string_view text, size_t longest);

}  // namespace viaduct::scenario
