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
      "the Python package viaduct is not installed; install it with apt-get install "
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
  command->add_option("--over", over, "the values of a key: KEY=A,B or KEY=1..20; may be repeated")
      ->type_name("KEY=VALUES")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--set", set, "override a key in every run")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--mode", mode, "the mode: simulate, traditional, emulate or offload");
  command
      ->add_option("--jobs", jobs,
                   "the number of parallel simulations; default: the number of processors")
      ->type_name("N");
  command
      ->add_option(
          "--out", out,
          "the directory of the results; runs that have results in the directory are not repeated")
      ->type_name("DIR");
  command
      ->add_option("--confidence", confidence,
                   "the confidence level of the intervals; default: 0.95")
      ->type_name("SHARE");
  command->add_flag("--no-plots{false}", plots, "do not draw plots");
  command->footer(
      R"(Repeat --over with the same KEY to add values. For values that contain commas, specify another
separator after a colon: KEY:;=A;B. Simulations run in parallel, runs of other modes one at a time.
Sweeps that mpirun starts share the work in one directory. Exit status: 1 if a run failed, 130 after
Ctrl-C, which keeps the completed runs.
Examples:
  viaduct sweep x.yaml --over links.0.spec=delay=5ms,delay=9ms --over seed=1..20 --out sweep
  mpirun -n 4 viaduct sweep x.yaml --mode simulate --over seed=1..100 --out sweep)");
  command->callback([&invocation] { ExecutePackage(invocation); });
}

void AddCompare(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("compare", "show the differences between the results of two runs");
  static std::vector<std::string> figures;
  static std::string a, b, json, relative, absolute, confidence;
  command
      ->add_option("A", a,
                   "the results of run --json or sweep, or the directory of a report or sweep")
      ->required();
  command->add_option("B", b, "the results to compare with A")->required();
  command
      ->add_option("--figure", figures,
                   "compare only matching metrics, such as '*rtt_ms.p50'; may be repeated")
      ->type_name("PATTERN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--relative", relative,
                   "the relative tolerance, as a share of A's value; default: 0.05")
      ->type_name("SHARE");
  command
      ->add_option("--absolute", absolute,
                   "an additional absolute tolerance, in the unit of the metric")
      ->type_name("X");
  command
      ->add_option("--confidence", confidence,
                   "the confidence level of the intervals; default: 0.95")
      ->type_name("SHARE");
  command->add_option("--json", json, "write the comparison to this file; - is standard output")
      ->type_name("FILE");
  command->footer(R"(Exit status: 0 equal within the tolerance, 1 different, 2 invalid input.
Example:
  viaduct run x.yaml --mode simulate --json a.json; viaduct run x.yaml --json b.json
  viaduct compare a.json b.json --relative 0.02)");
  command->callback([&invocation] { ExecutePackage(invocation); });
}

void AddPlot(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("plot", "draw the flows of a run's results over time");
  static std::vector<std::string> flows;
  static std::string file, figure, size;
  command->add_option("RESULTS", file, "the results of run --json, or the directory of a report")
      ->required();
  command
      ->add_option("--figure", figure,
                   "the file to write, which ends with .pdf, .svg, .png, .eps or .pgf")
      ->type_name("FILE")
      ->required();
  command->add_option("--flow", flows, "draw only matching flows, such as 'ping*'; may be repeated")
      ->type_name("PATTERN")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--size", size, "the size of each flow's panel in inches; default: 6x2.2")
      ->type_name("WIDTHxHEIGHT");
  command->footer(
      R"(Draws a panel for each flow and a line for each mode. Lost packets interrupt the line and are marked, as
are changes of links. Needs python3-matplotlib.
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
      "a lab, a path, a shell or a paused simulation, the results of run --json, or the directory "
      "of a report; may be omitted if there is only one lab or paused simulation");
  command
      ->add_option("--port", port, "the TCP port on localhost (127.0.0.1); default: any free port")
      ->type_name("PORT");
  command->add_option("--interval", interval, "the time between two updates; default: 0.5s")
      ->type_name("TIME");
  command->footer(
      R"(Prints a URL, which contains a token: anyone who has the URL can change the lab. Listens only on
localhost, until Ctrl-C. Root is required to show the routes, counters and packets of a lab's nodes.
Examples:
  viaduct view                   the lab that is up, or the run in progress
  viaduct view out/results.json  plays a finished run back)");
  command->callback([&invocation] { ExecutePackage(invocation); });
}

}  // namespace viaduct::cli
