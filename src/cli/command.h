// What the subcommands of `viaduct` share. Each lives in a file of its own and adds itself to the
// command line.
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

void AddRun(CLI::App& app, Invocation& invocation);
void AddUp(CLI::App& app, Invocation& invocation);
void AddExec(CLI::App& app, Invocation& invocation);
void AddList(CLI::App& app, Invocation& invocation);
void AddDown(CLI::App& app, Invocation& invocation);
void AddClean(CLI::App& app, Invocation& invocation);
void AddDoctor(CLI::App& app, Invocation& invocation);
void AddPath(CLI::App& app, Invocation& invocation);
void AddShell(CLI::App& app, Invocation& invocation);
void AddBench(CLI::App& app, Invocation& invocation);
void AddKernel(CLI::App& app, Invocation& invocation);
void AddVersion(CLI::App& app, Invocation& invocation);
void AddDocs(CLI::App& app, Invocation& invocation);

// The whole command: parses, runs the subcommand, prints the one line of an error. Returns the exit
// status (base/error.h; 128 + signal when interrupted).
int Main(const std::vector<std::string>& words);

// Returns if this process is root or has a broker connection already; else runs the same command
// through sudo, if that asks no password, and does not return. EnvironmentError otherwise.
void NeedRoot(const Invocation& invocation);

// Overrides of a scenario that have options of their own.
struct ScenarioOptions {
  std::string file;
  std::vector<std::string> set;
  std::string mode, duration;
  // --set assignments, the special options last.
  std::vector<std::string> Overrides() const;
};
void AddScenarioOptions(CLI::App& app, ScenarioOptions& options);

}  // namespace viaduct::cli
