// The user's side of a program on a node of a paused simulation.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "guest/shell/paused.h"
#include "guest/shell/shell_protocol.h"
#include "sys/terminal.h"

namespace viaduct::guest {

// Runs a program on a node as if it ran here, with this process's standard input, output and error,
// its signals and its terminal. For use by one thread.
class ShellClient {
 public:
  // `words`: the program and its arguments; none: a shell. From the constructor on, signals are
  // blocked until Follow() handles them. Throws UsageError if the simulation is not paused any
  // more, EnvironmentError if it belongs to another user.
  ShellClient(const PausedSimulation& paused, std::string node, std::vector<std::string> words);

  struct Opened {
    std::string release;  // "uname -r" of the node's kernel
    double time = 0;      // the instant at which the simulation is paused, in seconds
  };
  // Starts the program. Throws the simulation's Error.
  Opened Open();
  // Returns whether this is a shell on a terminal.
  bool Interactive() const { return terminal_ && words_.empty(); }
  // Relays input and output until the program ends; returns its status as a shell reports it.
  // Throws sys::Interrupted if this process must end first, Error if the simulation ends first.
  int Follow();

 private:
  void Send(ShellPacket packet, std::string_view payload);
  void TakeSignal();
  void TakePacket();
  void TakeInput();
  [[noreturn]] void ThrowEnd();

  std::string name_, node_;
  std::vector<std::string> words_;
  bool terminal_, input_open_ = true;
  UniqueFd signals_, connection_;
  std::optional<sys::RawMode> raw_;
  std::optional<int> status_;
};

// Returns the simulation's answer to a question about itself (ns3/sim/paused-view.h), which lets no
// virtual time pass. Throws the simulation's Error.
nlohmann::json Ask(const PausedSimulation& paused, const nlohmann::json& request);
// Lets the simulation continue. Throws the simulation's Error if a shell is open.
void Resume(const PausedSimulation& paused);

}  // namespace viaduct::guest
