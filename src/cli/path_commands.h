// The subcommands of `viaduct path`.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace viaduct::cli {

void AddPathSet(CLI::App& path, Invocation& invocation);
void AddPathStats(CLI::App& path, Invocation& invocation);
void AddPathList(CLI::App& path, Invocation& invocation);
void AddSwitchConfig(CLI::App& path, Invocation& invocation);

}  // namespace viaduct::cli
