// The simulator process of a run, and the protocol between the command and the simulator.
//
//   viaduct-sim --scenario FILE --control FD --captures DIR [--pause-at TIME]...
//               [--specs live] [--lab adopt] [--host NAME]
//
// FILE is the effective scenario (scenario::Print), FD one end of a stream socket pair. In every
// mode but `simulate`, VIADUCT_BROKER_FD names a separate broker connection for the simulator. Both
// descriptors are inherited. The simulator builds the lab (LabHelper), or takes over the one that
// the broker has (--lab adopt), runs the protocol, and ends on {"command":"stop"} or at end of file
// on FD; in mode `simulate` also by itself, `duration` after convergence in virtual time.
//
// Messages are JSON objects, one a line: scenario/messages/simulator_messages.h. With --hub
// [ADDRESS]:PORT [--inner-socket FD], mode simulate runs in real time until it is stopped.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "scenario/messages/simulator_messages.h"
#include "scenario/scenario.h"
#include "sys/ipc/lines.h"
#include "sys/process/child.h"

namespace viaduct::run {

// Finds viaduct-sim: VIADUCT_SIM, else next to this program, else in ../libexec/viaduct. Throws
// EnvironmentError, whose message explains how to build viaduct-sim.
std::string FindSimulator();

// Selects how a simulator uses the lab in a real mode.
enum class LabUse {
  kOfRun,  // builds a lab that exists as long as the simulator
  kStays,  // builds a lab that stays up: `viaduct path set` may change its SPECs
  kAdopt,  // takes over a lab that stays up
};

// The address and port at which a simulator serves the clients of remote nodes.
struct HubPlace {
  std::string port;  // the address and port: "[ADDRESS]:PORT"
  // In mode simulate: the socket through which clients are served in place of a UDP socket of the
  // simulator; -1: none.
  int inner_socket = -1;
};

struct SimulatorStart {
  std::string program;  // the result of FindSimulator()
  const scenario::Scenario& scenario;
  UniqueFd broker = {};               // in real modes: a connection for the simulator
  std::string captures = {};          // in mode simulate: the directory for captures
  std::vector<Duration> pauses = {};  // RunOptions::pauses
  LabUse lab = LabUse::kOfRun;        // for real modes
  std::string folder = {};            // the working directory; empty: this process's
  std::optional<HubPlace> hub = {};   // only if it serves remote nodes' clients
  std::string machine = {};           // the host whose part of the lab to build; empty: all hosts
};

// A running viaduct-sim. The destructor ends the process: by end of file on its descriptor, then by
// SIGTERM, then by SIGKILL. A simulator that is killed at its pause leaves a record, which the
// destructor removes.
class SimulatorProcess {
 public:
  explicit SimulatorProcess(const SimulatorStart& start);
  SimulatorProcess(const SimulatorProcess&) = delete;
  SimulatorProcess& operator=(const SimulatorProcess&) = delete;
  ~SimulatorProcess();

  // Returns a descriptor that is readable when Receive() has a message, or the simulator has ended.
  int fd() const { return control_->fd(); }
  // Returns the events to poll fd() for, which include POLLOUT while commands wait to be sent.
  short Events() const { return control_->Events(); }
  // Returns the descriptor of the simulator's output (output of protocols, NS_LOG), which is
  // readable when ReadOutput() has something; the output must be read, because the simulator blocks
  // when the pipe is full.
  int OutputFd() const { return output_.get(); }
  // Reads the available output and passes each line to the function of OnOutput(). Returns false at
  // the end of the output.
  bool ReadOutput();
  void OnOutput(std::function<void(const std::string&)> print) { print_ = std::move(print); }
  // Returns the next message, if a complete one has arrived; never blocks. Throws a message
  // SimulatorFailed as Error with its status. If the simulator crashed, throws Error with its wait
  // status and the last lines of its output. At an orderly end returns nullopt, and Ended() is
  // true.
  std::optional<scenario::SimulatorEvent> Receive();
  bool Ended() const { return ended_; }
  void Tell(const scenario::SimulatorCommand& command);
  // Ends the simulator at once, without a report.
  void Kill();
  int Pid() const { return process_.pid(); }

 private:
  [[noreturn]] void ThrowDeath();

  sys::Child process_;
  std::optional<ipc::LineChannel> control_;
  UniqueFd output_;
  std::string line_;
  std::deque<std::string> last_lines_;
  std::function<void(const std::string&)> print_;
  bool ended_ = false, reported_ = false;
};

}  // namespace viaduct::run
