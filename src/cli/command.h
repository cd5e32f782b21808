// The subcommands of `viaduct`. Each has a separate file and adds itself to the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace viaduct::cli {

// The words with which the command was called, and its exit status.
struct Invocation {
  std::vector<std::string> words;  // the words as the user typed them
  int status = 0;
};

// Adds a subcommand, with its options and its callback, to its parent command. `invocation` must
// outlive the command line.
using AddSubcommand = void(CLI::App& parent, Invocation& invocation);

AddSubcommand AddRun, AddPath, AddShell, AddUp, AddHub, AddJoin, AddExec, AddLink, AddList, AddTop,
    AddDown, AddClean, AddDoctor, AddInit, AddSweep, AddCompare, AddPlot, AddView, AddBench,
    AddKernel, AddVersion, AddDocs, AddRank;
// The subcommands of `viaduct path` and `viaduct kernel` that are in separate files.
AddSubcommand AddPathSet, AddPathStats, AddPathList, AddSwitchConfig;
AddSubcommand AddKernelShell, AddKernelResume;

// Runs the command: parses the words, runs the subcommand, prints an error as one line. Returns the
// exit status (base/error.h; 128 + signal if a signal interrupted the command).
int Main(const std::vector<std::string>& words);

}  // namespace viaduct::cli
