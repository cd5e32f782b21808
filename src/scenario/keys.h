// Every key of a scenario file, in one table: the parser accepts these and no others, and
// docs/scenario.md is printed from here. Each key is bound to the member that it sets, so that the
// printed (and hashed, and passed to the simulator) value is the one that was read, and each
// default is stated once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace YAML {
class Emitter;
}

namespace viaduct::scenario {

class Section;

// The type of a key's value.
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
  kTable,     // a map from names to texts
  kSection,   // a map with separate keys
  kProtocol,  // a map with separate keys, or the value of its key protocol
  kPlane,     // the name of a data plane (fib::DataPlanes()), or a map with separate keys
  kSections,  // a list of sections
  kNodeSet,   // a number, a list of names, or a section for each name
  kAlias,     // another name of the key whose path is in `choices`
};

struct Key;

// The binding of a key to a member of the struct that its section is read into. Created by the
// functions of scenario/binding.h.
struct Access {
  // Writes the key and the member of `object`; nothing if the member is empty. Null: the key is
  // printed through the values of other keys.
  void (*print)(YAML::Emitter& out, const Key& key, const void* object) = nullptr;
  const void* object_type = nullptr;  // the type of print's and read's object: &kTypeTag<T>
  std::string (*fallback)() = nullptr;
  // Sets the member of `object` to the value in the section, or to the default. Null: the value
  // depends on other keys; the reader of the section reads it.
  void (*read)(const Section& section, const Key& key, void* object) = nullptr;
  // The bounds of a whole number, or of a name's length.
  int64_t low = INT64_MIN, high = INT64_MAX;

  constexpr Access From(int64_t least, int64_t most) const {
    Access access = *this;
    access.low = least;
    access.high = most;
    return access;
  }
};

// The treatment of a key by a command.
enum class Use : char {
  kHonoured = 'y',
  kRefused = 'r',   // an error that names the key
  kNotRun = 'n',    // the command reports that it does not do that
  kNoMeaning = '-'  // the key has no meaning for it
};

// The commands that read scenarios, in the order of Key::uses: `viaduct run` in each mode; the last
// three in the modes that they have. `viaduct sweep`, `plot` and `view` run `viaduct run`.
inline constexpr const char* kCommands[] = {"simulate", "traditional", "emulate",         "offload",
                                            "up",       "hub",         "several machines"};

struct Key {
  // "links[].mtu": [] is any position of a list, NAME any name the user chose.
  const char* path;
  Type type;
  Access access;
  const char* help;
  const char* example;
  const char* choices = "";      // kChoice: separated by spaces; kAlias: a path
  const char* uses = "yyyyyyy";  // for each of kCommands a Use

  Use UseBy(size_t command) const { return static_cast<Use>(uses[command]); }
  // The default as it would be written; "" if there is none.
  std::string Default() const { return access.fallback ? access.fallback() : ""; }
  // "links[]" and "mtu".
  std::string_view Section() const;
  std::string_view Name() const;
};

std::span<const Key> Keys();
// The key at `path`, which must exist.
const Key& FindKey(std::string_view path);
// The words that it may be, separated by spaces; "" where it is none of a few words.
std::string ChoicesOf(const Key& key);
// "a duration such as 10s", for messages and the documentation.
std::string DescribeType(const Key& key);

// Generates docs/scenario.md.
std::string DocumentKeys();
// Generates the JSON Schema of the file.
std::string DocumentSchema();

}  // namespace viaduct::scenario
