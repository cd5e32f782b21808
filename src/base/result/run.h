// The results of a run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/result/engine.h"
#include "base/result/environment.h"
#include "base/result/flow.h"
#include "base/result/program.h"
#include "base/result/reconvergence.h"
#include "base/result/timing.h"

namespace viaduct::result {

struct LinkNodes {
  std::string name;
  std::vector<std::string> nodes;
  std::optional<std::string> wifi;  // the IEEE 802.11 standard, if the link is a Wi-Fi channel
  // The SPECs that the link has at the start: one, or one for each node of a pair if they differ;
  // empty for a link that is a plain wire.
  std::vector<std::string> specs = {};

  static fields::KeysOf<LinkNodes> Keys();
};

// A summary of the scenario of a run.
struct ScenarioSummary {
  std::string name, file, hash, mode, effective;
  uint64_t seed = 0;
  double duration = 0;  // s
  std::vector<std::string> nodes;
  std::vector<LinkNodes> links;

  static fields::KeysOf<ScenarioSummary> Keys();
};

// The reachability of nodes from each other after convergence. Pairs are ordered: (a, b) is not (b,
// a).
struct Convergence {
  double seconds = 0;
  uint32_t reachable = 0, pairs = 0;
  std::vector<std::pair<std::string, std::string>> unreachable = {};  // pairs of nodes: from, to
  // True if the protocol looks for a route only when a packet needs the route: the run neither
  // waited for convergence nor counted pairs.
  std::optional<bool> on_demand = std::nullopt;
  // True if the programs of the nodes set the routes (routing: none): the run neither waited for
  // convergence nor counted pairs.
  std::optional<bool> by_programs = std::nullopt;

  static fields::KeysOf<Convergence> Keys();
};

struct LinkEvent {
  std::string link, change;
  double at = 0;  // s, since convergence
  std::optional<double> late_ms = {};

  static fields::KeysOf<LinkEvent> Keys();
};

struct Capture {
  std::string link, file;
  uint64_t frames = 0, dropped = 0;
  // The number of captured frames that differ from those on a wire (too long, or without checksum);
  // never 0.
  std::optional<uint64_t> unfinished;
  std::string error = {};  // the reason, if the file is incomplete

  static fields::KeysOf<Capture> Keys();
};

// The files to which the state of a node's kernel was written.
struct StateFiles {
  std::string node;
  std::vector<std::string> files;

  static fields::KeysOf<StateFiles> Keys();
};

// The counters of a simulated interface, or of the device through which a node's programs send.
struct DeviceCounters {
  FrameCounters frames;
  uint64_t tx_dropped_unclaimed = 0;
  std::map<std::string, uint64_t> drops;

  static fields::KeysOf<DeviceCounters> Keys();
};

struct RoutePushes {
  uint64_t batches = 0, refused = 0, missing = 0;
  double seconds = 0;

  static fields::KeysOf<RoutePushes> Keys();
};

// The statistics of reading routes periodically from protocols that do not report changes.
struct RoutePolls {
  uint64_t polls = 0;
  double seconds = 0;
  double interval = 0;  // s

  // Whether the interval is above its default of 0.1 s, because reading took too much time.
  bool IsStretched() const { return interval > 0.15; }
  // Whether the interval is so long that the kernels follow a change of a route later than the
  // neighbours of most protocols notice a failure.
  bool IsVoid() const { return interval > kMaxInterval; }

  static constexpr double kMaxInterval = 1;  // s
  static fields::KeysOf<RoutePolls> Keys();
};

// The next hops between all nodes, as the protocols' routes give them at an instant.
struct RouteSample {
  double at = 0;  // s, since convergence
  // The neighbour to which each node (first key) sends packets for another node (second key); "" if
  // the node has no route.
  std::map<std::string, std::map<std::string, std::string>> next;

  static fields::KeysOf<RouteSample> Keys();
};

// The method by which routes are read from the protocol of some nodes.
struct RouteReading {
  std::string protocol;     // the protocol's ns-3 TypeId
  std::string method;       // such as "printed table"
  std::string reason = {};  // the reason for not using a better method
  std::vector<std::string> nodes;

  static fields::KeysOf<RouteReading> Keys();
};

// The simulator's report at the end of a run.
struct SimulatorReport {
  std::optional<Timing> timing;  // lateness of events; only in real time
  // The lateness of frames at the simulator's ports; only in real time.
  std::optional<Timing> port_timing;
  std::map<std::string, double> loop;
  std::map<std::string, DeviceCounters> counters;
  std::map<std::string, uint64_t> routes;
  // The samples of all routes; empty unless the scenario asks for samples.
  std::vector<RouteSample> route_samples;
  std::vector<RouteChange> route_changes;  // only in mode offload
  // The number of route changes beyond the maximum of `route_changes`.
  std::optional<uint64_t> route_changes_omitted;
  std::optional<RoutePushes> route_pushes;   // only in real modes
  std::optional<RoutePolls> route_polls;     // only in real modes, if routes are polled
  std::vector<RouteReading> route_readings;  // only in mode offload
  // The refused routes, changes and frame types, one line for each.
  std::vector<std::string> refused;
  // The limits of the machine that the lab may exceed, one line for each.
  std::vector<std::string> exceeded;
  std::optional<std::vector<std::string>> unsupported;  // only in real modes
  std::optional<std::vector<std::string>> assumptions;  // only in mode simulate
  std::optional<std::vector<StateFiles>> state;         // only in mode simulate
  // The positions x, y, z in m, by node, of the nodes that have a position.
  std::map<std::string, std::vector<double>> positions;
  std::vector<Capture> captures;

  static fields::KeysOf<SimulatorReport> Keys();
};

// A key of NodePlane::drops: packets without a route that were dropped because they arrived faster
// than the simulator read them.
inline constexpr const char* kUpcallQueueFull = "upcall_queue_full";

// The data plane that forwarded a node's packets (plane/fib/data_plane.h).
struct NodePlane {
  std::string name, reason;
  std::string forwards_in;  // the process that forwards: "kernel", "forwarder" or "simulator"
  // The numbers of received packets by interface and by outcome, if the data plane counts them.
  std::map<std::string, std::map<std::string, uint64_t>> packets;
  std::map<std::string, uint64_t> drops;  // dropped packets, by cause, while the traffic ran
  static fields::KeysOf<NodePlane> Keys();
};

// A machine of a lab that runs on several machines.
struct HostResult {
  std::string name, address;
  std::vector<std::string> nodes;
  std::string kernel, cpu;
  double clock_ahead = 0, clock_error = 0;  // ms

  static fields::KeysOf<HostResult> Keys();
};

struct RunResult {
  ScenarioSummary scenario;
  Environment environment;
  std::optional<double> setup_seconds;  // only in real modes
  double teardown_seconds = 0;
  Convergence convergence;
  std::vector<FlowResult> flows;
  std::vector<ProgramResult> programs;
  std::vector<LinkEvent> events;
  std::optional<Timing> event_timing;        // the lateness of `events`; only in real modes
  std::vector<Reconvergence> reconvergence;  // the recovery from each of `events` but captures
  std::optional<EngineResult> engine;        // the engine of the links, if a link has a SPEC
  // The number of packets that the kernel dropped because a neighbour's address was not resolved;
  // only in real modes, if the kernel reports it.
  std::optional<uint64_t> neighbour_discards;
  std::map<std::string, NodePlane> data_planes;  // key: the node; only in real modes
  SimulatorReport simulator;
  std::vector<HostResult> hosts;  // only for a lab on several machines
  Verdict verdict = Verdict::kNotJudged;
  // The parts of the run's packet processing that the verdict covers, and those that it does not
  // cover.
  std::vector<std::string> judged, not_judged;
  std::vector<std::string> failures;
  int status = 0;  // ExitStatus

  // Sets the verdict on timing by the limit, if there is one, then calls Conclude().
  void Judge(std::optional<Duration> lateness_limit);
  // Sets the exit status by the verdict and the failures: a run that failed is never VALID.
  void Conclude();

  static fields::KeysOf<RunResult> Keys();
};

}  // namespace viaduct::result
