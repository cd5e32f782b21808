// Starts a program.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace viaduct::sys {

// Environment variables in the form NAME=VALUE.
using Environment = std::vector<std::string>;
Environment OwnEnvironment();
void SetVariable(Environment& environment, std::string_view name, std::string_view value);
void UnsetVariable(Environment& environment, std::string_view name);

struct LaunchOptions {
  // The process group that a launched program runs in.
  enum class Group {
    kParents,  // the parent's group: Ctrl-C on the terminal reaches the program
    kOwn,      // a separate process group
    kOwnSession,
  };

  // The words of the command (argv); the first is searched in the PATH of `environment`.
  std::vector<std::string> words;
  std::optional<Environment> environment;   // default: this process's
  std::string folder;                       // the program's working directory; "": this process's
  std::array<int, 3> standard{-1, -1, -1};  // standard input, output, error; -1: /dev/null
  std::vector<int> inherited;               // further descriptors, passed under the same numbers
  Group group = Group::kParents;
  // Whether the program gets a new session, whose controlling terminal is standard input.
  bool terminal = false;
  // Whether the new process calls ResetSignals(). In both cases it blocks no signal.
  bool default_signals = false;
  // Whether the new process calls RestoreDescriptorLimit() and, in root's half,
  // RestoreCallersLimits().
  bool former_descriptor_limit = false;
  // A socket of the process that waits for the program. The launch is cancelled once the socket's
  // peer is closed: the program's folder or file may be in a file system that does not answer.
  int asker = -1;
  int death_signal = 0;  // sent to the program when its parent, the calling thread, ends
  // A function that is called in the new process after its process group is set and before its
  // working directory and descriptors are set. Launch() rethrows the function's exceptions.
  std::function<void()> prepare;
};

// The error of a program that could not be started: "execute NAME: No such file or directory".
class LaunchError : public SystemError {
 public:
  enum class Step : int { kPrepare, kFolder, kDescriptors, kTerminal, kExecute };

  LaunchError(Step step, std::string_view attempted, int error_number)
      : SystemError(attempted, error_number), step_(step) {}
  Step step() const { return step_; }

 private:
  Step step_;
};

// Returns the pid of the child process once it executes the program; the caller must wait(2) for
// it. Throws LaunchError, or SystemError if no process can be created.
pid_t Launch(const LaunchOptions& options);

}  // namespace viaduct::sys
