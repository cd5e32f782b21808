// Suggests the probable meaning of a command line that could not be parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace viaduct::cli {

// Return the subcommands and options of `app`, including hidden ones; options in the form in which
// they are typed ("--mode").
std::vector<std::string> SubcommandsOf(const CLI::App& app);
std::vector<std::string> OptionsOf(const CLI::App& app);

// Returns the subcommand that was parsed last: `set` for `viaduct path set`; `app` itself if there
// was no subcommand.
const CLI::App& LastParsed(const CLI::App& app);

// Returns a hint, "; did you mean '--mode'?", about the first word that `app` could not parse; ""
// if no subcommand or option is similar.
std::string SuggestionFor(const CLI::App& app);

}  // namespace viaduct::cli
