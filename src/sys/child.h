// Child processes, and how they end.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace viaduct::sys {

// Of a status as waitpid(2) gives it: "ended with status 3", "was killed by signal 9 (Killed)".
std::string DescribeEnding(int status);
// "signal 9 (Killed)".
std::string DescribeSignal(int signal);
// What a shell makes of the status: the exit status, or 128 + the number of the signal.
int ShellStatus(int status);
// Whether it exited on its own, and with this exit status.
bool EndedWith(int status, int exit_status);

// Waits until this child of ours has ended; its status.
int AwaitChild(pid_t pid);

// A child process that does not outlive this object.
class Child {
 public:
  Child() = default;
  // `leads_group`: it leads a process group, all of which gets its signals.
  explicit Child(pid_t pid, bool leads_group = false) : pid_(pid), leads_group_(leads_group) {}
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();  // sends SIGKILL if it still runs, and waits

  pid_t pid() const { return pid_; }  // -1: there is none
  // Its status as waitpid(2) gives it. Waits for its end.
  int Wait();
  // The same, but waits no longer than this: nothing if it runs on.
  std::optional<int> WaitFor(Duration patience);
  // Does nothing where it has ended.
  void Signal(int signal);

 private:
  pid_t pid_ = -1;
  bool leads_group_ = false;
  std::optional<int> status_;
};

struct ProgramResult {
  int status = 0;      // ShellStatus(); 127 where there is no such program
  std::string output;  // standard output and error
};
// Runs a program to its end, with `input` as its standard input and default signals. The first word
// is looked up in PATH. Throws SystemError.
ProgramResult RunProgram(const std::vector<std::string>& words, const std::string& input = "");

}  // namespace viaduct::sys
