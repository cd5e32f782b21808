// Options that several subcommands have, and the parsing of their values.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "path/engine/config.h"
#include "scenario/scenario.h"

namespace viaduct::cli {

// Returns the items of an option's value, which are separated by commas. Throws UsageError if an
// item is empty.
std::vector<std::string> SplitList(const std::string& option, const std::string& text);
// Parses an option's value that is a duration above zero. Throws UsageError naming the option.
Duration PositiveDuration(const std::string& option, const std::string& text);

// Adds an option that may be repeated, with one value each time. `values` must outlive the command
// line.
void AddRepeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                 const std::string& type, const std::string& help);
// Adds --json, for output that programs read; returns whether the option was given.
std::shared_ptr<bool> AddJsonFlag(CLI::App& command, const std::string& help = "print JSON");
// Adds --new-privileges (sys::ProgramOptions); the option sets `wanted`.
void AddNewPrivilegesFlag(CLI::App& command, bool& wanted);

// The options that select a scenario, which is a file or a sample topology, and that override its
// keys.
struct ScenarioOptions {
  std::string file, topology, protocol;
  std::vector<std::string> set;
  std::string mode, duration;

  void AddTo(CLI::App& command);
  // Returns the --set assignments, followed by the assignments of --mode and other special options.
  // Throws UsageError if there is no such mode.
  std::vector<std::string> Overrides() const;
  // Returns the text of the file (`-`: of standard input), or of the topology's scenario. Throws
  // UsageError.
  std::string Text() const;
  // Parses a text that Text() has returned. Throws UsageError naming the file or topology.
  scenario::Scenario Understand(const std::string& text) const;
};

// The command-line options of the path engine.
struct EngineOptions {
  std::string seed, memory, trace, log, cpus;
  std::vector<std::string> spill;
  int threads = 1;
  bool busy = false, cpu_saving = false;

  void AddTo(CLI::App& command);
  // Sets the members of `config`. Throws UsageError naming the option. The seed is random if the
  // option was not given.
  void Fill(engine::Config* config) const;
};

// The name of a node as the user gives it: NODE, or PLACE:NODE if there are several labs or
// simulations.
struct NodeName {
  explicit NodeName(const std::string& text);
  std::string place;  // the lab or simulation; empty: the only one that is running
  std::string node;
};

}  // namespace viaduct::cli
