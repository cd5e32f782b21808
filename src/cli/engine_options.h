// The options of the path engine that several subcommands have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

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

}  // namespace viaduct::cli
