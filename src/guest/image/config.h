// Parsing of kernel configurations: the requested options, and the options of the finished .config.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace viaduct::guest {

struct ConfigOption {
  std::string name;   // for example "CONFIG_INET"
  std::string value;  // "y", "n", a number or a quoted word
  // The need that the heading of the option's section states: [required], [implied], or no word in
  // brackets (kWanted).
  enum class Need { kWanted, kRequired, kImplied } need;
};

// Returns the options of a configuration fragment, in order. A comment "# --- TITLE" is the heading
// of a section. A comment "# CONFIG_X is not set" means CONFIG_X=n. Throws UsageError with the name
// `file` and the line number if the fragment is malformed.
std::vector<ConfigOption> ParseFragment(std::string_view text, std::string_view file);

// Returns the options of `wanted` that have another value in the finished configuration `config`,
// the text of a .config file.
std::vector<ConfigOption> Unmet(const std::vector<ConfigOption>& wanted, std::string_view config);

// Returns the value of an option in a finished configuration; "n" if the option is not set.
std::string ConfigValue(std::string_view config, std::string_view name);

}  // namespace viaduct::guest
