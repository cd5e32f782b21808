// Options and values that several subcommands have.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/config.h"

namespace viaduct::cli {

// An option that may be repeated, with one value each time. `values` outlives the command line.
void AddRepeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                 const std::string& type, const std::string& help);
// --json, for output that programs read; whether it was given.
std::shared_ptr<bool> AddJsonFlag(CLI::App& command, const std::string& help = "for machines");

// A scenario, and the overrides of it that have options of their own.
struct ScenarioOptions {
  std::string file;
  std::vector<std::string> set;
  std::string mode, duration;

  void AddTo(CLI::App& command);
  // --set assignments, the special options last. UsageError: no such mode.
  std::vector<std::string> Overrides() const;
};

// The options of the path engine.
struct EngineOptions {
  std::string seed, memory, trace, cpus;
  std::vector<std::string> spill;
  int threads = 1;
  bool busy = false, cpu_saving = false;

  void AddTo(CLI::App& command);
  // UsageError names the option. A seed that was not given is drawn.
  void Fill(engine::Config* config) const;
};

// A node as the user names it: NODE, or PLACE:NODE where there are several labs or simulations.
struct NodeName {
  explicit NodeName(const std::string& text);
  std::string place;  // empty: the only one
  std::string node;
};

}  // namespace viaduct::cli
