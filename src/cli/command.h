// The subcommands of `viaduct`. Each lives in a file of its own and adds itself to the command
// line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace viaduct::cli {

// How the command was called, and what its exit status is to be.
struct Invocation {
  std::vector<std::string> words;  // as typed
  int status = 0;
};

// Adds a subcommand, with its options and its callback, to its parent command. `invocation` must
// outlive the command line.
using AddSubcommand = void(CLI::App& parent, Invocation& invocation);

AddSubcommand AddRun, AddPath, AddShell, AddUp, AddHub, AddJoin, AddExec, AddLink, AddList, AddTop,
    AddDown, AddClean, AddDoctor, AddInit, AddSweep, AddCompare, AddPlot, AddView, AddBench,
    AddKernel, AddVersion, AddDocs, AddRank;
// The subcommands of `viaduct path` and `viaduct kernel` that are in files of their own.
AddSubcommand AddPathSet, AddPathStats, AddPathList, AddSwitchConfig;
AddSubcommand AddKernelShell, AddKernelResume;

// The whole command: parses, runs the subcommand, prints the one line of an error. Returns the exit
// status (base/error.h; 128 + signal when interrupted).
int Main(const std::vector<std::string>& words);

}  // namespace viaduct::cli
