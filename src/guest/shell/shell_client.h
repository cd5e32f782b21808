// The user's side of a program that runs on a node of a paused simulation.
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

// Runs a program on a node as if it ran in the calling process: with the process's standard input,
// output and error, its signals and its terminal. Must be used by one thread only.
class ShellClient {
 public:
  // Connects to the simulation. `words`: the program and its arguments; if `words` is empty, a
  // shell is run. The constructor blocks signals until Follow() handles them. Throws UsageError if
  // the simulation is not paused any more, EnvironmentError if the simulation belongs to another
  // user.
  ShellClient(const PausedSimulation& paused, std::string node, std::vector<std::string> words);

  struct Opened {
    std::string release;  // "uname -r" of the node's kernel
    double time = 0;      // the virtual time of the pause, in seconds
  };
  // Starts the program. Throws the Error that the simulation reports.
  Opened Open();
  // Returns whether the program is a shell on a terminal.
  bool Interactive() const { return terminal_ && words_.empty(); }
  // Relays input and output until the program ends; returns the program's status as a shell reports
  // it. Throws sys::Interrupted if this process must end first, Error if the simulation ends first.
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

// Sends a question about the simulation (ns3/sim/paused-view.h) and returns the simulation's
// answer; the question lets no virtual time pass. Throws the Error that the simulation reports.
nlohmann::json Ask(const PausedSimulation& paused, const nlohmann::json& request);
// Lets the simulation continue. Throws the Error that the simulation reports if a shell is open.
void Resume(const PausedSimulation& paused);

}  // namespace viaduct::guest
