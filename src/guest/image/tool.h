// Programs of the build: started in a process group of their own, watched line by line, never left
// behind.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct::guest {

struct ToolOptions {
  std::filesystem::path folder;                // to run in; "": here
  std::vector<std::string> environment;        // NAME=VALUE to set, NAME to take away
  std::filesystem::path log;                   // output is appended; "": kept nowhere
  std::function<void(std::string_view)> line;  // called with each line of output as it comes
  int cancel_fd = -1;  // readable: the program is killed with all it started
};

// Thrown when the user's cancel descriptor became readable; the program is gone by then.
struct ToolCancelled {};

// Runs the program found in PATH and returns its exit status (128 + signal when killed). Standard
// input is empty, messages are in English. Throws EnvironmentError when it cannot be started.
int RunTool(const std::vector<std::string>& words, const ToolOptions& options = {});

// Its standard output and standard error. Throws Error with the last line of it unless status 0.
std::string ToolOutput(const std::vector<std::string>& words, const ToolOptions& options = {});

}  // namespace viaduct::guest
