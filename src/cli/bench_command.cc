// viaduct bench: executes the harness in bench/.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "cli/command.h"
#include "sys/find_program.h"

namespace viaduct::cli {
namespace {

constexpr const char* kPython = "/usr/bin/python3";

// The build folder has a link to the harness in the source tree; it is not installed.
std::filesystem::path FindHarness() {
  const std::string harness = sys::FindSharedFile("bench/run.py");
  if (!harness.empty()) return std::filesystem::path(harness).parent_path();
  throw EnvironmentError("the benchmarks (bench/run.py) are not installed; use a source tree");
}

// As whoever called it: the harness itself says where it must be root.
[[noreturn]] void Execute(const std::vector<std::string>& words) {
  const std::filesystem::path folder = FindHarness();
  const std::string command = sys::OwnProgram();
  setenv("VIADUCT", command.c_str(), 1);
  std::vector<std::string> all = {kPython, (folder / "run.py").string()};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(all.size() + 1);
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(kPython, arguments.data());
  throw EnvironmentError(
      fmt::format("{}: {}; apt-get install python3", kPython, std::strerror(errno)));
}

}  // namespace

void AddBench(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("bench", "reproduce a published experiment");
  command->prefix_command();
  command->set_help_flag();  // the harness answers --help
  command->footer("Example:\n  viaduct bench olsr --quick --report out");
  command->callback([command] { Execute(command->remaining()); });
}

}  // namespace viaduct::cli
