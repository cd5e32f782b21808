// viaduct sweep, viaduct compare, viaduct plot, viaduct view: execute the Python package, which
// implements them. Their options are also declared here, for help, the manual and completion.
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/python.h"
#include "sys/process/find_program.h"

namespace viaduct::cli {
namespace {

// Returns the main file of the Python package, which is found through a link in the build folder,
// or is installed (Python packages are not in share/): next to the prefix's lib, or around the
// prefix in a binary wheel (PACKAGES/viaduct/_prefix).
std::string FindPackage() {
  for (const char* place : {"python", "../../lib/python3/dist-packages", "../../../.."}) {
    std::string main = sys::FindSharedFile(std::string(place) + "/viaduct/__main__.py");
    if (!main.empty()) return main;
  }
  throw EnvironmentError(
      "the Python package viaduct is not installed: apt-get install "
      "python3-viaduct");
}

// Executes the package with the words as the user typed them: the package parses the words itself.
void ExecutePackage(const Invocation& invocation) {
  std::vector<std::string> words = {FindPackage()};
  words.insert(words.end(), invocation.words.begin() + 1, invocation.words.end());
  ExecutePython(words);
}

}  // namespace

void AddSweep(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("sweep", "run a scenario with many values and seeds");
  static std::string file, out, jobs, confidence, mode;
  static std::vector<std::string> over, set;
  static bool plots = true;
  command->add_option("FILE", file, "the scenario file")->required();
  command->add_option("--over", over, "values of a key: KEY=A,B or KEY=1..20; may be repeated")
      ->type_name("KEY=VALUES")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--set", set, "override a key in every run")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--mode", mode, "simulate, traditional, emulate or offload");
  command->add_option("--jobs", jobs, "simulations at a time; default: one for each processor")
      ->type_name("N");
  command->add_option("--out", out, "folder of the results; what is done there is not run again")
      ->type_name("DIR");
  command->add_option("--confidence", confidence, "of the intervals; default: 0.95")
      ->type_name("SHARE");
  command->add_flag("--no-plots{false}", plots, "no figures");
  command->footer(
      R"(Repeat --over with the same KEY to add values. Values with commas: KEY:;=A;B names another
separator after the colon. Simulations run in parallel, real modes one by one. As ranks of mpirun
they share the work of one folder. Exit status: 1 if a run failed, 130 after Ctrl-C, which keeps
what was done.
Examples:
  viaduct sweep x.yaml --over links.0.spec=delay=5ms,delay=9ms --over seed=1..20 --out sweep
  mpirun -n 4 viaduct sweep x.yaml --mode simulate --over seed=1..100 --out sweep)");
  command->callback([&invocation] { ExecutePackage(invocation); });
}

void AddCompare(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("compare", "what differs between the results of two runs");
  static std::vector<std::string> figures;
  static std::string a, b, json, relative, absolute, confidence;
  command->add_option("A", a, "results of run --json or sweep, or a report's or sweep's folder")
      ->required();
  command->add_option("B", b, "those to compare with")->required();
  command->add_option("--figure", figures, "only these: '*rtt_ms.p50'; may be repeated")
      ->type_name("PATTERN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--relative", relative, "tolerance, a share of A's value; default: 0.05")
      ->type_name("SHARE");
  command->add_option("--absolute", absolute, "tolerance in the figure's unit, in addition")
      ->type_name("X");
  command->add_option("--confidence", confidence, "of the intervals; default: 0.95")
      ->type_name("SHARE");
  command->add_option("--json", json, "write the comparison to this file; - is standard output")
      ->type_name("FILE");
  command->footer(R"(Exit status: 0 the same within the tolerance, 1 different, 2 bad input.
Example:
  viaduct run x.yaml --mode simulate --json a.json; viaduct run x.yaml --json b.json
  viaduct compare a.json b.json --relative 0.02)");
  command->callback([&invocation] { ExecutePackage(invocation); });
}

void AddPlot(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("plot", "draw the flows of a run's results over time");
  static std::vector<std::string> flows;
  static std::string file, figure, size;
  command->add_option("RESULTS", file, "results of run --json, or a report's folder")->required();
  command->add_option("--figure", figure, "the file to write: .pdf, .svg, .png, .eps, .pgf")
      ->type_name("FILE")
      ->required();
  command->add_option("--flow", flows, "only these: 'ping*'; may be repeated")
      ->type_name("PATTERN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--size", size, "in inches; default: 6x2.2, for each flow")
      ->type_name("WIDTHxHEIGHT");
  command->footer(
      R"(A panel for each flow, a line for each mode; no line where packets are missing, which are marked, as are
changes of links. Needs python3-matplotlib.
Example:
  viaduct run x.yaml --mode simulate --json r.json; viaduct plot r.json --flow 'ping*' --figure rtt.pdf)");
  command->callback([&invocation] { ExecutePackage(invocation); });
}

void AddView(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "view", "show a lab, a path, a paused simulation or a finished run in the browser");
  static std::string what, port, interval;
  command->add_option(
      "WHAT", what,
      "a lab, a path, a shell or a paused simulation; or results of run --json, or a report's "
      "folder; may be omitted if only one lab or paused simulation is there");
  command->add_option("--port", port, "TCP port on 127.0.0.1; default: any that is free")
      ->type_name("PORT");
  command->add_option("--interval", interval, "between two looks; default: 0.5s")
      ->type_name("TIME");
  command->footer(
      R"(Prints the page's address, which has a token in it: whoever has it can change the lab. Serves this
machine alone, until Ctrl-C. Routes, counters and packets of a lab's nodes need root.
Examples:
  viaduct view                   the lab that is up, or the run in progress
  viaduct view out/results.json  plays a finished run back)");
  command->callback([&invocation] { ExecutePackage(invocation); });
}

}  // namespace viaduct::cli
