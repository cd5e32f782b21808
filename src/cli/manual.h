// The manual page of the command, generated from its subcommands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace viaduct::cli {

// Returns the manual page viaduct(1) for man(1): one page with all subcommands that are not hidden.
std::string ManualPage(const CLI::App& app);

// Return the subcommands that --help shows, and the options of a command that have names.
std::vector<const CLI::App*> ShownSubcommands(const CLI::App& app);
std::vector<const CLI::Option*> ShownOptions(const CLI::App& app);

}  // namespace viaduct::cli
