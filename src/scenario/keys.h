// All keys of a scenario file, in one table: the parser accepts these keys and no others, and
// docs/scenario.md is generated from the table. Each key is bound to the member that it sets, so
// that the value that is printed (and hashed, and passed to the simulator) is the value that was
// read, and each default is stated only once.
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
  kName,     // letters, digits, "-" and "_"
  kChoice,   // one of the words in `choices`
  kBoolean,  // true or false
  kInteger,
  kDuration,  // a duration, parsed by base/units.h
  kRate,
  kSpec,      // a SPEC, parsed by path/spec.h
  kPrefix,    // a prefix such as 10.0.0.0/8, or none
  kNode,      // the name of a node
  kNodes,     // a list of nodes, or all
  kLink,      // the name of a link
  kLinks,     // a list of links, or all
  kTexts,     // a list of texts
  kWords,     // a command: a text that is split as by a shell, or a list of words
  kTable,     // a map from names to texts
  kSection,   // a map with keys of the table
  kProtocol,  // a map with keys of the table, or only the value of its key protocol
  kPlane,     // the name of a data plane (fib::DataPlanes()), or a map with keys of the table
  kSections,  // a list of sections
  kNodeSet,   // a number, a list of names, or a section for each name
  kAlias,     // another name of the key whose path is in `choices`
};

struct Key;

// The binding of a key to a member of the struct into which the key's section is read. Created by
// the functions of scenario/binding.h.
struct Access {
  // Prints the key and the member of `object`; prints nothing if the member is empty. Null: the key
  // is printed through the values of other keys.
  void (*print)(YAML::Emitter& out, const Key& key, const void* object) = nullptr;
  const void* object_type = nullptr;  // the type of `object` for print and read: &kTypeTag<T>
  std::string (*fallback)() = nullptr;
  // Sets the member of `object` to the value in the section, or to the default. Null: the value
  // depends on other keys, and the reader of the section sets it.
  void (*read)(const Section& section, const Key& key, void* object) = nullptr;
  // The bounds of an integer, or of the length of a name.
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
  kRefused = 'r',   // the command fails with an error that names the key
  kNotRun = 'n',    // the command reports that it ignores the key
  kNoMeaning = '-'  // the key has no meaning for the command
};

// The commands that read scenarios, in the order of Key::uses: first `viaduct run` in each mode;
// then `viaduct up`, `viaduct hub` and labs on several machines, each in the modes that it
// supports. `viaduct sweep`, `plot` and `view` execute `viaduct run`.
inline constexpr const char* kCommands[] = {"simulate", "traditional", "emulate",         "offload",
                                            "up",       "hub",         "several machines"};

struct Key {
  // The path of the key, "links[].mtu": [] stands for any position of a list, NAME for any name
  // that the user chose.
  const char* path;
  Type type;
  Access access;
  const char* help;
  const char* example;
  const char* choices = "";      // for kChoice: the words, separated by spaces
  const char* uses = "yyyyyyy";  // a Use for each of kCommands

  Use UseBy(size_t command) const { return static_cast<Use>(uses[command]); }
  // Returns the default as it is written in a file; "" if there is none.
  std::string Default() const { return access.fallback ? access.fallback() : ""; }
  // Return the two parts of the path: "links[]" and "mtu".
  std::string_view Section() const;
  std::string_view Name() const;
};

std::span<const Key> Keys();
// Returns the key at `path`, which must exist.
const Key& FindKey(std::string_view path);
// Returns the words that the value may be, separated by spaces; "" if the value is not one of a few
// words.
std::string ChoicesOf(const Key& key);
// Returns a description of the type, "a duration such as 10s", for messages and the documentation.
std::string DescribeType(const Key& key);

// Generates the text of docs/scenario.md.
std::string DocumentKeys();
// Generates the JSON Schema of a scenario file.
std::string DocumentSchema();

}  // namespace viaduct::scenario
