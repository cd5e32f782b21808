// Functions that run the programs of a kernel build, each in a separate process group, and read
// their output line by line. No program is left running.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct::guest {

struct ToolOptions {
  std::filesystem::path folder;                // the working directory; "": the caller's
  std::vector<std::string> environment;        // NAME=VALUE to set, NAME to unset
  std::filesystem::path log;                   // the file to which output is appended; "": none
  std::function<void(std::string_view)> line;  // called with each line of output when it arrives
  int cancel_fd = -1;  // if readable, the program and its children are killed
};

// Thrown when the cancel descriptor becomes readable, after the program has ended.
struct ToolCancelled {};

// Runs a program, which is searched for in PATH, and returns its exit status (128 + signal if it
// was killed by a signal). The program's standard input is empty, and the program's messages are in
// English. Throws EnvironmentError if the program cannot be started.
int RunTool(const std::vector<std::string>& words, const ToolOptions& options = {});

// Runs a program and returns its standard output and standard error. Throws Error with the last
// line of the output unless the exit status is 0.
std::string ToolOutput(const std::vector<std::string>& words, const ToolOptions& options = {});

}  // namespace viaduct::guest
