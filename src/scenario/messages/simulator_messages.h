// The messages between the command and the simulator process: JSON objects, one a line, over a
// stream socket pair (run/simulator/simulator_process.h). Messages of the simulator have the key
// "event", messages of the command the key "command". A new message needs a struct, a table of its
// keys, and a place in the variant.
//
// Times are in seconds since the simulation began, unless a comment states another origin.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/result/engine.h"
#include "base/result/flow.h"
#include "base/result/hub.h"
#include "base/result/program.h"
#include "base/result/run.h"
#include "base/result/timing.h"

namespace viaduct::scenario {

// The lab is built, and programs may start. Sent in real modes.
struct LabBuilt {
  static constexpr char kName[] = "lab";
  std::string name;
  static fields::KeysOf<LabBuilt> Keys();
};

// Progress of the simulation. While routes converge, the message has the number of pairs that reach
// each other. Afterwards, the message is sent only in mode simulate, without this number.
struct SimulatorProgress {
  static constexpr char kName[] = "progress";
  double time = 0;
  std::optional<uint32_t> reachable = {}, pairs = {};
  static fields::KeysOf<SimulatorProgress> Keys();
};

// Progress of one machine's part of a lab: how far the machine's routes lead packets. Sent instead
// of SimulatorProgress.
struct Passages {
  static constexpr char kName[] = "passages";
  result::Convergence here;
  // Whether convergence.timeout has passed.
  bool late = false;
  // The nodes that packets reach from each of this machine's nodes that are on a link to another
  // machine (if `late`, from each of this machine's nodes). Given once this machine's nodes reach
  // all other nodes or pass packets on to other machines. Indexed by the number of the destination.
  // A value is the number of the destination, the number of another machine's node to which the
  // packets leave, or -1.
  std::map<std::string, std::vector<int32_t>> passages = {};
  static fields::KeysOf<Passages> Keys();
};

// The end of convergence, sent once: all pairs reach each other, or convergence.timeout has passed.
struct Converged {
  static constexpr char kName[] = "converged";
  result::Convergence convergence;
  static fields::KeysOf<Converged> Keys();
};

// The lateness of the simulator's events until now; sent twice a second for a lab's hub.
struct TimingNow {
  static constexpr char kName[] = "timing";
  result::Timing timing;
  static fields::KeysOf<TimingNow> Keys();
};

// A difference between a data plane's forwarding and the routes of its node's protocol. Such a
// difference fails the run.
struct RouteDifference {
  static constexpr char kName[] = "difference";
  std::string message;
  static fields::KeysOf<RouteDifference> Keys();
};

// The result of a flow. Sent in mode simulate.
struct FlowDone {
  static constexpr char kName[] = "flow";
  result::FlowResult flow;
  static fields::KeysOf<FlowDone> Keys();
};

// An event of the scenario that has been applied. Sent in mode simulate.
struct LinkChanged {
  static constexpr char kName[] = "link";
  result::LinkEvent event;
  static fields::KeysOf<LinkChanged> Keys();
};

// A line that a program has written. Sent in mode simulate.
struct ProgramOutput {
  static constexpr char kName[] = "output";
  std::string program, line;
  static fields::KeysOf<ProgramOutput> Keys();
};

// The result of a program. Sent in mode simulate.
struct ProgramDone {
  static constexpr char kName[] = "program";
  result::ProgramOutcome outcome;
  static fields::KeysOf<ProgramDone> Keys();
};

// The simulation is paused until Resume, or `viaduct kernel resume`. Sent in mode simulate.
struct Paused {
  static constexpr char kName[] = "paused";
  double time = 0;
  std::vector<std::string> nodes;  // nodes on which `viaduct kernel shell` can open a shell
  static fields::KeysOf<Paused> Keys();
};

// The reason for which the simulator is waiting.
struct Note {
  static constexpr char kName[] = "note";
  std::string message;
  static fields::KeysOf<Note> Keys();
};

struct Resumed {
  static constexpr char kName[] = "resumed";
  double time = 0;
  static fields::KeysOf<Resumed> Keys();
};

// Progress of a simulated hub: sent when the hub begins to serve clients, then twice a second.
struct HubNow {
  static constexpr char kName[] = "hub";
  result::HubProgress progress;
  static fields::KeysOf<HubNow> Keys();
};

// The reply of a simulated hub after it has processed Claim for this node.
struct Claimed {
  static constexpr char kName[] = "claimed";
  std::string node;
  static fields::KeysOf<Claimed> Keys();
};

// The reply of a simulated hub to AskStatistics: several messages, each with some of the clients.
struct HubStatistics {
  static constexpr char kName[] = "statistics";
  result::HubResult results;
  bool last = false;
  static fields::KeysOf<HubStatistics> Keys();
};

// The last message of a simulator that exits with status 0.
struct SimulatorDone {
  static constexpr char kName[] = "report";
  std::string ns3, build;  // ns-3's version; the kind of build: "asserts on"
  result::SimulatorReport results;
  std::optional<result::EngineResult> links = {};  // in mode simulate: the results of its paths
  // The number of packets that nodes of the simulator lost, by place, for each flow of the
  // scenario.
  std::vector<std::map<std::string, uint64_t>> lost_at = {};
  std::optional<result::HubResult> hub = {};  // results of a simulated hub
  static fields::KeysOf<SimulatorDone> Keys();
};

// The last message of a simulator that exits with `status`, in place of SimulatorDone.
struct SimulatorFailed {
  static constexpr char kName[] = "error";
  std::string message;
  int status = 1;
  static fields::KeysOf<SimulatorFailed> Keys();
};

using SimulatorEvent =
    std::variant<LabBuilt, SimulatorProgress, Passages, Converged, TimingNow, RouteDifference,
                 FlowDone, LinkChanged, ProgramOutput, ProgramDone, Paused, Note, Resumed, HubNow,
                 Claimed, HubStatistics, SimulatorDone, SimulatorFailed>;

// Ends the run; the simulator then reports.
struct Stop {
  static constexpr char kName[] = "stop";
  static fields::KeysOf<Stop> Keys();
};

// Resumes a paused simulation; in mode simulate.
struct Resume {
  static constexpr char kName[] = "resume";
  static fields::KeysOf<Resume> Keys();
};

// Reports to one machine's part of a lab that the routes of all machines have converged, or have
// timed out.
struct Go {
  static constexpr char kName[] = "go";
  // The number of pairs of nodes, over all machines.
  uint32_t pairs = 0;
  // The pairs of nodes (from, to) that do not reach each other.
  std::vector<std::pair<std::string, std::string>> unreachable = {};
  static fields::KeysOf<Go> Keys();
};

// Informs a simulated hub about the client of the node `node`. The client has the address
// `address`, and sends from the port `port` (0: the hub's port).
struct Claim {
  static constexpr char kName[] = "claim";
  std::string node, address;
  uint16_t port = 0;
  static fields::KeysOf<Claim> Keys();
};

// Informs a simulated hub that the node no longer has a client.
struct Release {
  static constexpr char kName[] = "release";
  std::string node;
  static fields::KeysOf<Release> Keys();
};

// Requests HubStatistics from a simulated hub.
struct AskStatistics {
  static constexpr char kName[] = "statistics";
  static fields::KeysOf<AskStatistics> Keys();
};

using SimulatorCommand = std::variant<Stop, Resume, Go, Claim, Release, AskStatistics>;

// Returns the message as a line, without the newline.
std::string Encode(const SimulatorEvent& event);
std::string Encode(const SimulatorCommand& command);
// Parse a line. Throw Error if the line is not a message, or has a type, a key or a value that is
// not known (the two programs are then of different versions); the error states what is wrong with
// the line.
SimulatorEvent DecodeEvent(std::string_view line);
SimulatorCommand DecodeCommand(std::string_view line);

}  // namespace viaduct::scenario
