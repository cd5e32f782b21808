// The simulator process of a run, and the protocol between the command and the simulator.
//
//   viaduct-sim --scenario FILE --control FD --captures DIR [--pause-at TIME]...
//               [--specs live] [--lab adopt] [--host NAME]
//
// FILE is the effective scenario (scenario::Print), FD one end of a stream socket pair. In every
// mode but `simulate`, VIADUCT_BROKER_FD names a broker connection of the simulator's own. Both
// descriptors are inherited. The simulator builds the lab (LabHelper), or takes over the one that
// the broker has (--lab adopt), runs the protocol, and ends
// on {"command":"stop"} or at end of file on FD; in mode `simulate` also by itself, `duration`
// after convergence in virtual time.
//
// Each message is one JSON object on one line. From the simulator, times in seconds; types and
// their keys are those of src/base/result:
//   {"event":"lab", "name":LAB}                  real modes: the lab is built, programs may start
//   {"event":"progress", "time":T, "reachable":N, "pairs":M}    while routes converge
//   {"event":"passages", KEYS of Convergence, "late":BOOLEAN, "passages":{NODE:[N,...]}}
//       --host: instead of progress. For each node on a link between hosts, if this host's nodes
//       reach all others or pass packets on to other hosts, by the number of the destination: where
//       packets leave this host's nodes, the number of the destination or of a node of another
//       host, or -1. "late": convergence.timeout has passed; for each of this host's nodes
//   {"event":"converged", KEYS of Convergence}   once: all pairs reach, or convergence.timeout has
//       passed (then "unreachable" lists pairs)
//   {"event":"report", "ns3":VERSION, "build":"asserts on", "results":SimulatorReport}    the last
//       message, before exit with status 0
//   {"event":"error", "message":M, "status":S}   instead, before exit with status S (ExitStatus)
// In mode simulate also:
//   {"event":"progress", "time":T}               while flows run, every 2 s of wall time
//   {"event":"flow", KEYS of FlowResult}         a flow's result
//   {"event":"output", "program":NAME, "line":TEXT}    a program has written a line
//   {"event":"program", KEYS of ProgramOutcome}  a program's result
//   {"event":"paused", "time":T, "nodes":[NAME,...]}   until "resume", or viaduct kernel resume;
//       nodes that viaduct kernel shell opens a shell on
//   {"event":"note", "message":TEXT}             why it does not go on
//   {"event":"resumed", "time":T}
// With --hub [ADDRESS]:PORT [--inner-socket FD] mode simulate runs in real time until it is
// stopped, and there are only:
//   {"event":"hub", KEYS of HubProgress}         first when it serves clients, then twice a second
//   {"event":"claimed", "node":NAME}             "claim" of this node has been obeyed
//   {"event":"statistics", "results":HubResult, "last":LAST}    what "statistics" asks for: with
//       some of the clients each, the last of them with LAST true
//   {"event":"report", ..., "results":HubResult}
// To the simulator:
//   {"command":"stop"}
//   {"command":"go", "unreachable":[[NODE,NODE],...]}   --host: the routes of all hosts have
//       converged, or have had their time: then these pairs, of all hosts, cannot reach
//   {"command":"resume"}     mode simulate: goes on where it is paused
//   {"command":"claim", "node":NAME, "address":A, "port":P}    --hub: A is the node's client; P:
//   its
//       UDP port if it is not the hub's
//   {"command":"release", "node":NAME}                         --hub: the node has none
//   {"command":"statistics"}                                   --hub: all, now
#pragma once

#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "scenario/scenario.h"
#include "sys/process/child.h"

namespace viaduct::run {

// Finds viaduct-sim: VIADUCT_SIM, else beside this program, else ../libexec/viaduct. Throws
// EnvironmentError saying how to build it.
std::string FindSimulator();

// What a simulator does with the lab of its real mode.
enum class LabUse {
  kOfRun,  // builds one for as long as it runs
  kStays,  // builds one that stays up: `viaduct path set` may change its SPECs
  kAdopt,  // takes over one that stays up
};

// Where a simulator serves the clients of remote nodes.
struct HubPlace {
  std::string port;       // "[ADDRESS]:PORT"; empty: it does not
  int inner_socket = -1;  // mode simulate: by which it serves them instead, or -1
};

// A running viaduct-sim. The destructor ends it: end of file, then SIGTERM, then SIGKILL. A
// simulator killed at its pause leaves its record, which the destructor removes.
class SimulatorProcess {
 public:
  // Starts the simulator and passes it `broker` (real modes; else empty). `captures`: the directory
  // for mode simulate's captures. `pauses`: those of RunOptions. `folder`: its working
  // directory; empty: this process's. `hub`: where it serves the clients of remote nodes. `host`:
  // whose part of the lab it builds; empty: all of it.
  SimulatorProcess(const std::string& program, const scenario::Scenario& scenario, UniqueFd broker,
                   const std::string& captures = "", const std::vector<Duration>& pauses = {},
                   LabUse lab = LabUse::kOfRun, const std::string& folder = "",
                   const HubPlace& hub = {}, const std::string& host = "");
  SimulatorProcess(const SimulatorProcess&) = delete;
  SimulatorProcess& operator=(const SimulatorProcess&) = delete;
  ~SimulatorProcess();

  // A descriptor that is readable when Receive() has something, or the simulator has ended.
  int Fd() const { return control_.get(); }
  // What to watch it for: POLLOUT, too, while commands wait for the simulator to read earlier ones.
  short Events() const;
  // The output of the simulator (a protocol's own output, NS_LOG). Readable when ReadOutput() has
  // something; it must be read, or the simulator blocks when the pipe is full.
  int OutputFd() const { return output_.get(); }
  // Reads the available output and passes each line to the print function. Returns false at the end
  // of the output.
  bool ReadOutput();
  void OnOutput(std::function<void(const std::string&)> print) { print_ = std::move(print); }
  // Returns the next message, if a complete one has arrived; never blocks. Throws an "error"
  // message as Error with its status; if the simulator died, throws Error with its wait status and
  // its last lines of output. At an orderly end returns nullopt, and Ended() is true.
  std::optional<nlohmann::json> Receive();
  bool Ended() const { return ended_; }
  // Sends it a command.
  void Tell(const nlohmann::json& command);
  // Asks the simulator to report and end.
  void Stop();
  // Ends it at once, without a report.
  void Kill();
  // Asks the paused simulator to continue.
  void Resume();
  int Pid() const { return process_.pid(); }

 private:
  [[noreturn]] void ThrowDeath();
  void Send(std::string_view line);
  void Flush();
  std::optional<nlohmann::json> TakeLine();

  sys::Child process_;
  UniqueFd control_, output_;
  std::string received_, unsent_, line_;
  std::deque<std::string> last_lines_;
  std::function<void(const std::string&)> print_;
  bool ended_ = false, reported_ = false, end_of_file_ = false;
};

}  // namespace viaduct::run
