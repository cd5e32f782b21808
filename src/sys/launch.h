// Starting a program.
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

// Variables as NAME=VALUE: this process's, and changes of them.
using Environment = std::vector<std::string>;
Environment OwnEnvironment();
void SetVariable(Environment& environment, std::string_view name, std::string_view value);
void UnsetVariable(Environment& environment, std::string_view name);

struct LaunchOptions {
  // What becomes of a program that it shares with others.
  enum class Group {
    kParents,  // Ctrl-C on the terminal reaches it
    kOwn,      // a process group of its own
    kOwnSession,
  };

  std::vector<std::string> words;           // the first is looked up in the PATH of its environment
  std::optional<Environment> environment;   // nothing: this process's
  std::string folder;                       // where it runs; "": where this process does
  std::array<int, 3> standard{-1, -1, -1};  // input, output, error; -1: /dev/null
  std::vector<int> inherited;               // what else it gets, by the same numbers
  Group group = Group::kParents;
  bool terminal = false;         // in a session of its own: input becomes its controlling terminal
  bool default_signals = false;  // ResetSignals(); no signal is blocked in any case
  int death_signal = 0;          // it gets this when its parent, the calling thread, ends
  // Called in the new process, after its group is made and before it gets its folder and
  // descriptors. What it throws, Launch() throws.
  std::function<void()> prepare;
};

// Why a program could not be started: "execute NAME: No such file or directory".
class LaunchError : public SystemError {
 public:
  enum class Step : int { kPrepare, kFolder, kDescriptors, kTerminal, kExecute };

  LaunchError(Step step, std::string_view attempted, int error_number)
      : SystemError(attempted, error_number), step_(step) {}
  Step step() const { return step_; }

 private:
  Step step_;
};

// Returns the process, a child of this one, once it runs the program; the caller collects it.
// Throws LaunchError, and SystemError where there can be no process.
pid_t Launch(const LaunchOptions& options);

}  // namespace viaduct::sys
