// Running the programs of the build, each in a separate process group, with its output read line by
// line. No program is left running.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct::guest {

struct ToolOptions {
  std::filesystem::path folder;                // working directory; "": this process's
  std::vector<std::string> environment;        // NAME=VALUE to set, NAME to unset
  std::filesystem::path log;                   // output is appended; "": not kept
  std::function<void(std::string_view)> line;  // called with each line of output as it arrives
  int cancel_fd = -1;                          // readable: the program and its children are killed
};

// Thrown when the cancel descriptor became readable; the program has ended by then.
struct ToolCancelled {};

// Runs the program found in PATH and returns its exit status (128 + signal when killed). Standard
// input is empty, messages are in English. Throws EnvironmentError when it cannot be started.
int RunTool(const std::vector<std::string>& words, const ToolOptions& options = {});

// Returns the program's standard output and standard error. Throws Error with the last line of the
// output unless its exit status is 0.
std::string ToolOutput(const std::vector<std::string>& words, const ToolOptions& options = {});

}  // namespace viaduct::guest
