// Suggestions of the probable meaning of a command line that was not understood.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace viaduct::cli {

// The subcommands and options of `app`, also hidden ones; options as they are typed ("--mode").
std::vector<std::string> SubcommandsOf(const CLI::App& app);
std::vector<std::string> OptionsOf(const CLI::App& app);

// The subcommand that was parsed last: `set` of `viaduct path set`; `app` itself if there was none.
const CLI::App& LastParsed(const CLI::App& app);

// "; did you mean '--mode'?" about the first word that `app` could not parse; "" if nothing is like
// it.
std::string SuggestionFor(const CLI::App& app);

}  // namespace viaduct::cli
