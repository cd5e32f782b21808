// The common part of the keepers of a shell and of a joined node, which both start one program and
// end it with all its descendants; and the requests that the user's half sends to keepers.
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

  // Serves until the connection ends or a signal arrives; on return the program has ended, with all
  // its descendants. `name` becomes this process's name.
  void Work(const char* name);

 protected:
  // Performs a request that is not one of ProgramRequest.
  virtual ipc::Reply Perform(ipc::Message& request) = 0;
  // Returns the network namespace in which the program must be started. Called once, in this
  // process.
  virtual int EnterNetwork(const ProgramOptions& program) = 0;
  // Watched() returns a descriptor that Work() polls, or -1; Follow() is called when the descriptor
  // is readable.
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
  UniqueFd status_;  // the pipe for the program's wait status
  int pid_ = 0;
  bool is_running_ = false;
};

// Returns the words of the command that starts the user's login shell.
std::vector<std::string> LoginShell();
// StartKeptProgram() makes the keeper start the program. It returns a descriptor from which the
// program's wait status (waitpid(2)) can be read, as one int32_t, when the program ends; throws
// sys::ExecuteError, or Error if the program cannot be started. SignalKeptProgram() signals the
// program's process group; EndKeptProgram() ends the program with its descendants.
UniqueFd StartKeptProgram(ipc::Caller& keeper, const ProgramOptions& program);
void SignalKeptProgram(ipc::Caller& keeper, int number);
void EndKeptProgram(ipc::Caller& keeper);

}  // namespace viaduct::privilege
