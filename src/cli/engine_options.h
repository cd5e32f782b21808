// The options of the path engine that several subcommands have.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/config.h"

namespace viaduct::cli {

struct EngineOptions {
  std::string seed, memory, trace, cpus;
  std::vector<std::string> spill;
  int threads = 1;
  bool busy = false, cpu_saving = false;

  void AddTo(CLI::App& command);
  // UsageError names the option. A seed that was not given is drawn.
  void Fill(engine::Config* config) const;
};

// Runs `work`; a UsageError then begins with the argument it came from.
template <class Work>
auto Within(const std::string& argument, const Work& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", argument, error.what()));
  }
}

}  // namespace viaduct::cli
