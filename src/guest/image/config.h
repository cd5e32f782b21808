// Parsing kernel configurations: the requested options, and those of the finished .config.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace viaduct::guest {

struct ConfigOption {
  std::string name;   // "CONFIG_INET"
  std::string value;  // "y", "n", a number or a quoted word
  // The need that the heading of the option's section states: [required], [implied], or nothing.
  enum class Need { kWanted, kRequired, kImplied } need;
};

// Returns the options of a fragment, in order. A heading is a comment "# --- TITLE". "# CONFIG_X is
// not set" is CONFIG_X=n. Throws UsageError naming `file` and the line when malformed.
std::vector<ConfigOption> ParseFragment(std::string_view text, std::string_view file);

// Returns the options of `wanted` that have another value in the finished configuration `config` (a
// .config).
std::vector<ConfigOption> Unmet(const std::vector<ConfigOption>& wanted, std::string_view config);

// Returns the value of an option in a finished configuration; "n" when not set.
std::string ConfigValue(std::string_view config, std::string_view name);

}  // namespace viaduct::guest
