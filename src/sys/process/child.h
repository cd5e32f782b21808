// Starts, awaits and signals child processes.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace viaduct::sys {

// Waits until this child process has ended and returns its wait status.
int AwaitChild(pid_t pid);

// A child process that is ended at the latest when this object is destroyed.
class Child {
 public:
  Child() = default;
  // `leads_group`: the child leads a process group, and signals are sent to the group.
  explicit Child(pid_t pid, bool leads_group = false) : pid_(pid), leads_group_(leads_group) {}
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();  // sends SIGKILL if the child still runs, and waits for it

  pid_t pid() const { return pid_; }  // -1: no child
  // Waits for the end of the child and returns its wait status (waitpid(2)).
  int Wait();
  // Waits for the end of the child like Wait(), but returns nothing if the child still runs after
  // `timeout`.
  std::optional<int> WaitFor(Duration timeout);
  // Sends a signal to the child; does nothing if the child has ended.
  void Signal(int signal);

 private:
  pid_t pid_ = -1;
  bool leads_group_ = false;
  std::optional<int> status_;
};

struct ProgramResult {
  int status = 0;      // ShellStatus() of the wait status; 127 if there is no such program
  std::string output;  // text of standard output and error
};
// Runs a program to its end, with `input` as its standard input and with default signal actions.
// The first word is searched in PATH. Throws SystemError.
ProgramResult RunProgram(const std::vector<std::string>& words, const std::string& input = "");

}  // namespace viaduct::sys
