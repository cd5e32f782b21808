// The messages between the command and the simulator process: JSON objects, one a line, over a
// stream socket pair (run/simulator/simulator_process.h). The simulator's have the key "event", the
// command's "command"; a further message is a struct, its table of keys, and its place in the
// variant.
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

// Real modes: the lab is built, and programs may start.
struct LabBuilt {
  static constexpr char kName[] = "lab";
  std::string name;
  static fields::KeysOf<LabBuilt> Keys();
};

// While routes converge, with the pairs that reach each other; then, in mode simulate, without.
struct SimulatorProgress {
  static constexpr char kName[] = "progress";
  double time = 0;
  std::optional<uint32_t> reachable = {}, pairs = {};
  static fields::KeysOf<SimulatorProgress> Keys();
};

// Progress of one machine's part of a lab, instead of SimulatorProgress: how far packets get by its
// routes.
struct Passages {
  static constexpr char kName[] = "passages";
  result::Convergence here;
  // convergence.timeout has passed.
  bool late = false;
  // For each node on a link between machines, if this machine's nodes reach all others or pass
  // packets on to other machines (if late, for each of its nodes): indexed by the number of the
  // destination, the number of the destination itself or of another machine's node where packets
  // leave, or -1.
  std::map<std::string, std::vector<int32_t>> passages = {};
  static fields::KeysOf<Passages> Keys();
};

// Once: all pairs reach each other, or convergence.timeout has passed.
struct Converged {
  static constexpr char kName[] = "converged";
  result::Convergence convergence;
  static fields::KeysOf<Converged> Keys();
};

// The lateness of the simulator's events until now, of a lab's hub: twice a second.
struct TimingNow {
  static constexpr char kName[] = "timing";
  result::Timing timing;
  static fields::KeysOf<TimingNow> Keys();
};

// A data plane forwards differently from its node's protocol, which fails the run.
struct RouteDifference {
  static constexpr char kName[] = "difference";
  std::string message;
  static fields::KeysOf<RouteDifference> Keys();
};

// Mode simulate: the result of a flow.
struct FlowDone {
  static constexpr char kName[] = "flow";
  result::FlowResult flow;
  static fields::KeysOf<FlowDone> Keys();
};

// Mode simulate: an event of the scenario has been applied.
struct LinkChanged {
  static constexpr char kName[] = "link";
  result::LinkEvent event;
  static fields::KeysOf<LinkChanged> Keys();
};

// Mode simulate: a program has written a line.
struct ProgramOutput {
  static constexpr char kName[] = "output";
  std::string program, line;
  static fields::KeysOf<ProgramOutput> Keys();
};

// Mode simulate: the result of a program.
struct ProgramDone {
  static constexpr char kName[] = "program";
  result::ProgramOutcome outcome;
  static fields::KeysOf<ProgramDone> Keys();
};

// Mode simulate: paused until Resume, or `viaduct kernel resume`.
struct Paused {
  static constexpr char kName[] = "paused";
  double time = 0;
  std::vector<std::string> nodes;  // on which `viaduct kernel shell` opens a shell
  static fields::KeysOf<Paused> Keys();
};

// The reason why the simulator does not go on.
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

// Progress of a simulated hub: sent when it begins to serve clients, then twice a second.
struct HubNow {
  static constexpr char kName[] = "hub";
  result::HubProgress progress;
  static fields::KeysOf<HubNow> Keys();
};

// Reply of a simulated hub: it has obeyed Claim for this node.
struct Claimed {
  static constexpr char kName[] = "claimed";
  std::string node;
  static fields::KeysOf<Claimed> Keys();
};

// Reply of a simulated hub to AskStatistics, in several messages with some of the clients in each.
struct HubStatistics {
  static constexpr char kName[] = "statistics";
  result::HubResult results;
  bool last = false;
  static fields::KeysOf<HubStatistics> Keys();
};

// The last message, before exit with status 0.
struct SimulatorDone {
  static constexpr char kName[] = "report";
  std::string ns3, build;  // ns-3's version; "asserts on"
  result::SimulatorReport results;
  std::optional<result::EngineResult> links = {};  // mode simulate: results of its paths
  // The number of packets that nodes of the simulator lost, by place, for each flow of the
  // scenario.
  std::vector<std::map<std::string, uint64_t>> lost_at = {};
  std::optional<result::HubResult> hub = {};  // results of a simulated hub
  static fields::KeysOf<SimulatorDone> Keys();
};

// The last message instead, before exit with this status.
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

// Mode simulate: resumes where it is paused.
struct Resume {
  static constexpr char kName[] = "resume";
  static fields::KeysOf<Resume> Keys();
};

// Sent to one machine's part of a lab: the routes of all machines have converged, or have timed
// out.
struct Go {
  static constexpr char kName[] = "go";
  uint32_t pairs = 0;                                                 // number, over all machines
  std::vector<std::pair<std::string, std::string>> unreachable = {};  // pairs, from and to
  static fields::KeysOf<Go> Keys();
};

// Sent to a simulated hub: this node's client is at `address`, and sends from `port`; 0: the hub's
// port.
struct Claim {
  static constexpr char kName[] = "claim";
  std::string node, address;
  uint16_t port = 0;
  static fields::KeysOf<Claim> Keys();
};

// Sent to a simulated hub: the node has no client any more.
struct Release {
  static constexpr char kName[] = "release";
  std::string node;
  static fields::KeysOf<Release> Keys();
};

// Requests HubStatistics of a simulated hub.
struct AskStatistics {
  static constexpr char kName[] = "statistics";
  static fields::KeysOf<AskStatistics> Keys();
};

using SimulatorCommand = std::variant<Stop, Resume, Go, Claim, Release, AskStatistics>;

// Lines, without the newline.
std::string Encode(const SimulatorEvent& event);
std::string Encode(const SimulatorCommand& command);
// Throw Error if the line is no message, or has a type, a key or a value that is not known (the two
// programs are then of different versions); the error states how the line is malformed.
SimulatorEvent DecodeEvent(std::string_view line);
SimulatorCommand DecodeCommand(std::string_view line);

}  // namespace viaduct::scenario
