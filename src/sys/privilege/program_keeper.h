// The common part of the keepers of a shell and of a joined node: both start one program, and end
// it with all its descendants. And the requests of the user's half to them.
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
  // its descendants. `name` becomes the process's name.
  void Work(const char* name);

 protected:
  // Performs a request that is not about the program.
  virtual ipc::Reply Perform(ipc::Message& request) = 0;
  // Returns the network namespace in which the program must be started. Called once, in this
  // process.
  virtual int EnterNetwork(const ProgramOptions& program) = 0;
  // Watched() returns a descriptor to be polled, or -1; Follow() is called when it is readable.
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

// Returns the user's login shell, as the words of a command.
std::vector<std::string> LoginShell();
// Make the keeper start the program, signal its process group, and end it with its descendants. The
// first returns a descriptor from which the program's wait status (waitpid(2)) can be read, as one
// int32_t, when it ends; throws sys::ExecuteError, or Error if the program cannot be started.
UniqueFd StartKeptProgram(ipc::Caller& keeper, const ProgramOptions& program);
void SignalKeptProgram(ipc::Caller& keeper, int number);
void EndKeptProgram(ipc::Caller& keeper);

}  // namespace viaduct::privilege
