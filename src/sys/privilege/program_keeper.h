// What the keepers of a shell and of a joined node have in common: both start one program, and end
// it with all that descends from it. And how the user's half asks them.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "sys/ipc/answer.h"
#include "sys/ipc/caller.h"
#include "sys/privilege/spawn.h"
#include "sys/process/invoking_user.h"

namespace viaduct::privilege {

class ProgramKeeper {
 public:
  ProgramKeeper(UniqueFd connection, const ipc::Service& service, const sys::Identity& user)
      : connection_(std::move(connection), service), user_(user) {}
  virtual ~ProgramKeeper() = default;
  ProgramKeeper(const ProgramKeeper&) = delete;
  ProgramKeeper& operator=(const ProgramKeeper&) = delete;

  // Serves until the connection ends or a signal comes; then the program has ended, with all that
  // it left. `name` is the process's.
  void Work(const char* name);

 protected:
  // A request that is not about the program.
  virtual ipc::Reply Perform(ipc::Message& request) = 0;
  // The network namespace in which the program is to be started. Called once, in this process.
  virtual int EnterNetwork(const ProgramOptions& program) = 0;
  // A descriptor to be watched, or -1; and what is done when it is readable.
  virtual int Watched() const { return -1; }
  virtual void Follow() {}

  const sys::Identity& user() const { return user_; }
  bool HasProgram() const { return pid_ > 0; }

 private:
  bool Serve(int signals);
  ipc::Reply PerformAny(ipc::Message& request);
  ipc::Reply Start(ipc::Message& request);
  bool Collect(int signals);

  ipc::Connection connection_;
  const sys::Identity user_;
  UniqueFd status_;  // where the program's wait status goes
  int pid_ = 0;
  bool is_running_ = false;
};

// The user's login shell, as the words of a command.
std::vector<std::string> LoginShell();
// Have the keeper start the program, signal its process group, and end it with what it left. The
// first returns a descriptor from which the program's wait status (waitpid(2)) can be read, as one
// int32_t, when it ends; throws sys::ExecuteError, or Error if it cannot be started.
UniqueFd StartKeptProgram(ipc::Caller& keeper, const ProgramOptions& program);
void SignalKeptProgram(ipc::Caller& keeper, int number);
void EndKeptProgram(ipc::Caller& keeper);

}  // namespace viaduct::privilege
