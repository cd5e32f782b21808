// Options that `viaduct path` and `viaduct shell` share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/path_arguments.h"
#include "emulate/path_emulation.h"

namespace viaduct::cli {

// What is emulated: pairs, classes and SPECs, whose order on the command line matters.
struct PairOptions {
  std::vector<std::string> between, pair, classes, up, down;

  void AddPairs(CLI::App& command);
  void AddSpecs(CLI::App& command, const std::string& up_help, const std::string& down_help);
  OrderedArguments InOrder(const CLI::App& command) const;
};

// How it is emulated, and what becomes of the results.
struct EmulationOptions {
  std::string schedule, duration, lateness_limit, json_file;
  EngineOptions engine;

  void AddTo(CLI::App& command, const std::string& duration_help, const std::string& json_help);
  // Throws UsageError naming the option.
  emulate::PathOptions Understand(engine::Config config) const;
};

// Tells what was not done as asked, and returns the command's exit status where its work has not
// failed.
int Conclude(const result::EngineResult& result, int otherwise);

}  // namespace viaduct::cli
