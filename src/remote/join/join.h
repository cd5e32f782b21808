// A hub's node on this machine: `viaduct join`.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "remote/join/join_network.h"
#include "sys/ipc/caller.h"
#include "sys/privilege/spawn.h"

namespace viaduct::remote {

// The network of a node that the hub has given. Root's half (remote/join/join_keeper.h) creates it,
// starts the program, and removes all of that, with the processes that the program leaves behind,
// however this process ends. There must be a steward (sys/privilege/halves.h).
class Join {
 public:
  // Throws UsageError, EnvironmentError or SystemError, and then leaves nothing behind.
  explicit Join(const JoinRequest& request);

  const std::string& name() const { return name_; }  // the record's name
  int fd() const { return root_.fd(); }              // readable when root's half has ended
  const std::string& interface() const { return interface_; }

  // Sets the new tunnel of an encrypted hub (JoinNetwork::ChangeHub()). Throws UsageError.
  void ChangeHub(const claim::EncryptedTunnel& tunnel);

  // Returns the options for StartProgram() that run these words; if there are none, the login
  // shell.
  privilege::ProgramOptions Program(const std::vector<std::string>& words) const;
  // Starts the program: StartKeptProgram() (sys/privilege/program_keeper.h).
  UniqueFd StartProgram(const privilege::ProgramOptions& program);
  void Signal(int number);  // to the program's process group

 private:
  ipc::Caller root_;
  const std::string node_, hub_;
  std::string name_, interface_;
};

}  // namespace viaduct::remote
