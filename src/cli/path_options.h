// The options that `viaduct path` and `viaduct shell` share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/path_arguments.h"
#include "path/live/path_emulation.h"

namespace viaduct::cli {

// The options that define the emulation: pairs, classes and SPECs, whose order on the command line
// matters.
struct PairOptions {
  std::vector<std::string> between, pair, classes, up, down;

  void AddPairs(CLI::App& command);
  void AddSpecs(CLI::App& command, const std::string& up_help, const std::string& down_help);
  OrderedArguments InOrder(const CLI::App& command) const;
};

// The options of the emulation run and of the output of results.
struct EmulationOptions {
  std::string schedule, duration, lateness_limit, json_file;
  EngineOptions engine;

  void AddTo(CLI::App& command, const std::string& duration_help, const std::string& json_help);
  // Returns the parsed options. Throws UsageError naming the option.
  path::PathOptions Understand(engine::Config config) const;
};

// Prints failures and the reason for a VOID run on standard error, and returns the command's exit
// status: kVoid for a VOID run; otherwise the status of the program, if there was one and its
// status is not 0; otherwise kFailure if there were failures, else 0.
int Conclude(const result::EngineResult& result, std::optional<int> program);

}  // namespace viaduct::cli
