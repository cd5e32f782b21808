// Options that `viaduct path` and `viaduct shell` share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/path_arguments.h"
#include "path/live/path_emulation.h"

namespace viaduct::cli {

// The options that define what is emulated: pairs, classes and SPECs, whose order on the command
// line matters.
struct PairOptions {
  std::vector<std::string> between, pair, classes, up, down;

  void AddPairs(CLI::App& command);
  void AddSpecs(CLI::App& command, const std::string& up_help, const std::string& down_help);
  OrderedArguments InOrder(const CLI::App& command) const;
};

// The options of the emulation itself and of the output of results.
struct EmulationOptions {
  std::string schedule, duration, lateness_limit, json_file;
  EngineOptions engine;

  void AddTo(CLI::App& command, const std::string& duration_help, const std::string& json_help);
  // Throws UsageError naming the option.
  path::PathOptions Understand(engine::Config config) const;
};

// Tells what was not done as asked and whether the run is VOID, and returns the command's exit
// status: unless one of these determines it, that of the program, if there was one.
int Conclude(const result::EngineResult& result, std::optional<int> program);

}  // namespace viaduct::cli
