// Options and values that several subcommands have.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "path/engine/config.h"
#include "scenario/scenario.h"

namespace viaduct::cli {

// The items of an option's value that commas separate. Throws UsageError where one is empty.
std::vector<std::string> SplitList(const std::string& option, const std::string& text);
// An option's value that is a time, and above zero. Throws UsageError naming the option.
Duration PositiveDuration(const std::string& option, const std::string& text);

// An option that may be repeated, with one value each time. `values` must outlive the command line.
void AddRepeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                 const std::string& type, const std::string& help);
// Adds --json, for output that programs read; the result is whether it was given.
std::shared_ptr<bool> AddJsonFlag(CLI::App& command, const std::string& help = "for machines");
// Adds --new-privileges (sys::ProgramOptions), which sets `wanted`.
void AddNewPrivilegesFlag(CLI::App& command, bool& wanted);

// A scenario file, or a topology instead, and the options that override its keys.
struct ScenarioOptions {
  std::string file, topology, protocol;
  std::vector<std::string> set;
  std::string mode, duration;

  void AddTo(CLI::App& command);
  // The --set assignments, followed by those of the special options. Throws UsageError if there is
  // no such mode.
  std::vector<std::string> Overrides() const;
  // Reads the file (`-` is standard input), or makes the topology's. Throws UsageError.
  std::string Text() const;
  // The scenario that Text() has given. Throws UsageError naming where it is from.
  scenario::Scenario Understand(const std::string& text) const;
};

// The options of the path engine.
struct EngineOptions {
  std::string seed, memory, trace, log, cpus;
  std::vector<std::string> spill;
  int threads = 1;
  bool busy = false, cpu_saving = false;

  void AddTo(CLI::App& command);
  // Throws UsageError naming the option. A seed that was not given is chosen at random.
  void Fill(engine::Config* config) const;
};

// A node as the user names it: NODE, or PLACE:NODE if there are several labs or simulations.
struct NodeName {
  explicit NodeName(const std::string& text);
  std::string place;  // empty: the only lab or simulation
  std::string node;
};

}  // namespace viaduct::cli
