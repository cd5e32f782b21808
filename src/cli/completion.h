// Completion of the command's words by shells, generated from the subcommands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace viaduct::cli {

std::string BashCompletion(const CLI::App& app);
std::string ZshCompletion(const CLI::App& app);
std::string FishCompletion(const CLI::App& app);

}  // namespace viaduct::cli
