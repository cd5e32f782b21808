// viaduct bench: executes the harness in bench/.
#include <filesystem>

#include "base/error.h"
#include "cli/command.h"
#include "cli/python.h"
#include "sys/process/find_program.h"

namespace viaduct::cli {
namespace {

// Returns the path of the harness: the build folder has a link to the harness in the source tree,
// and the harness is not installed.
std::filesystem::path FindHarness() {
  const std::string harness = sys::FindSharedFile("bench/run.py");
  if (!harness.empty()) return harness;
  throw EnvironmentError(
      "the benchmarks (bench/run.py) are not installed; run viaduct from a source tree");
}

// Executes the harness as the calling user: the harness itself reports if it must be root.
[[noreturn]] void Execute(const std::vector<std::string>& words) {
  std::vector<std::string> all = {FindHarness().string()};
  all.insert(all.end(), words.begin(), words.end());
  ExecutePython(all);
}

}  // namespace

void AddBench(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("bench", "reproduce a published experiment");
  command->prefix_command();
  command->set_help_flag();  // the harness handles --help
  command->footer("Example:\n  viaduct bench olsr --quick --report out");
  command->callback([command] { Execute(command->remaining()); });
}

}  // namespace viaduct::cli
