// A program behind an emulated path: `viaduct shell`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "path/engine/config.h"
#include "path/live/path_ports.h"
#include "path/live/shell_list.h"
#include "sys/ipc/caller.h"
#include "sys/privilege/spawn.h"

namespace viaduct::path {

// Returns the ports and the pair of a shell's path, which the user's arguments complete. Up is the
// direction from the program to the outside.
engine::Config ShellPath();

// One program in a separate network, whose only connection to the outside is the path between these
// two ports. Root's half (path/shell/shell_keeper.h) creates the network and starts the program;
// when this process ends, even if it is killed, root's half removes the network and ends the
// processes that the program leaves behind. There must be a steward (sys/privilege/halves.h).
class Shell final : public PathPorts {
 public:
  // Creates the network. Throws EnvironmentError or SystemError; in that case no part of the
  // network is left.
  Shell();

  const std::string& name() const override { return name_; }
  const std::string& created() const override { return created_; }
  UniqueFd TakeListener() override { return std::move(listener_); }
  std::unique_ptr<io::AnyPort> OpenPort(size_t port) override;  // may be called once for each port
  bool CanComeBack() const override { return false; }
  int ifindex(size_t port) const override { return ports_.at(port).ifindex; }
  int fd() const override { return root_.fd(); }

  // Returns the options for StartProgram() that run `words` as a command, or the login shell if
  // `words` is empty.
  privilege::ProgramOptions Program(const std::vector<std::string>& words) const;
  const ShellInside& host() const { return host_; }
  // Returns the reason why the program can reach nothing beyond this namespace; empty if the
  // program reaches the outside.
  const std::string& limits() const { return limits_; }
  // Returns the reason why the program has less connectivity by IPv6 than by IPv4; empty if the
  // connectivity is the same, or if there is no IPv6 here.
  const std::string& ipv6_limits() const { return ipv6_limits_; }

  // Starts the program. Returns a descriptor from which the program's wait status (waitpid(2)) can
  // be read, as one int32_t, when the program ends. Throws sys::ExecuteError, or Error if the
  // program cannot be started.
  UniqueFd StartProgram(const privilege::ProgramOptions& program);
  void Signal(int number);  // sends a signal to the program's process group
  // Ends the program and the processes that it has left behind; the network stays.
  void EndProgram();
  // Returns the number of TCP connections in the program's network that still have data to send
  // (sys/network/tcp_table.h).
  uint64_t CountUnsent();

 private:
  struct Port {
    UniqueFd socket;
    int ifindex = 0;
  };

  ipc::Caller root_;
  std::string name_, created_, limits_, ipv6_limits_;
  ShellInside host_;
  UniqueFd listener_;
  std::array<Port, 2> ports_;
};

}  // namespace viaduct::path
