// The subcommands of `viaduct kernel` that are in files of their own.
#pragma once

#include "cli/command.h"

namespace viaduct::cli {

void AddKernelShell(CLI::App& kernel, Invocation& invocation);
void AddKernelResume(CLI::App& kernel);

}  // namespace viaduct::cli
