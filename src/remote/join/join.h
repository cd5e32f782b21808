// A hub's node on this machine: `viaduct join`.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "remote/join/join_network.h"
#include "sys/ipc/caller.h"
#include "sys/privilege/spawn.h"

namespace viaduct::remote {

// The network of a node that the hub has given to this machine. Root's half
// (remote/join/join_keeper.h) creates the network and starts the program. However this process
// ends, root's half then removes the network and ends the processes that the program leaves behind.
// There must be a steward (sys/privilege/halves.h).
class Join {
 public:
  // Creates the network. Throws UsageError, EnvironmentError or SystemError, and then leaves
  // nothing behind.
  explicit Join(const JoinRequest& request);

  const std::string& name() const { return name_; }  // the name of the node's record
  int fd() const { return root_.fd(); }              // readable when root's half has ended
  const std::string& interface() const { return interface_; }

  // Replaces the tunnel to an encrypted hub (JoinNetwork::ChangeHub()). Throws UsageError.
  void ChangeHub(const claim::EncryptedTunnel& tunnel);

  // Returns the options with which StartProgram() runs the command `words`, or the login shell if
  // there are no words.
  privilege::ProgramOptions Program(const std::vector<std::string>& words) const;
  // Starts the program by StartKeptProgram() (sys/privilege/program_keeper.h).
  UniqueFd StartProgram(const privilege::ProgramOptions& program);
  void Signal(int number);  // sends a signal to the program's process group

 private:
  ipc::Caller root_;
  const std::string node_, hub_;
  std::string name_, interface_;
};

}  // namespace viaduct::remote
