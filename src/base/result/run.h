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
  std::optional<std::string> wifi;  // the IEEE 802.11 standard, of a Wi-Fi channel
  // The SPECs of the nodes' packets from the start: one, or one for each node of a pair if they
  // differ; empty for a plain wire.
  std::vector<std::string> specs = {};

  static fields::KeysOf<LinkNodes> Keys();
};

// The scenario that was run.
struct ScenarioSummary {
  std::string name, file, hash, mode, effective;
  uint64_t seed = 0;
  double duration = 0;  // s
  std::vector<std::string> nodes;
  std::vector<LinkNodes> links;

  static fields::KeysOf<ScenarioSummary> Keys();
};

// The reachability of nodes from each other. Pairs are ordered: (a, b) is not (b, a).
struct Convergence {
  double seconds = 0;
  uint32_t reachable = 0, pairs = 0;
  std::vector<std::pair<std::string, std::string>> unreachable = {};  // from, to
  // True if the protocol looks for a route when a packet needs it: nothing was waited for or
  // counted.
  std::optional<bool> on_demand = std::nullopt;
  // True if the routes are those of the nodes' programs (routing: none): nothing was waited for or
  // counted.
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
  std::optional<uint64_t> unfinished;  // frames that differ from those on a wire; not 0
  std::string error = {};              // the reason, if the file is not whole

  static fields::KeysOf<Capture> Keys();
};

// The files to which a kernel's state was written.
struct StateFiles {
  std::string node;
  std::vector<std::string> files;

  static fields::KeysOf<StateFiles> Keys();
};

// The counters of a simulated interface, or of the program device of a node.
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

// The reading of routes from protocols that do not report changes.
struct RoutePolls {
  uint64_t polls = 0;
  double seconds = 0;
  double interval = 0;  // s

  // Whether the interval is above the usual 0.1 s, because reading took too much time.
  bool IsStretched() const { return interval > 0.15; }
  // Whether the kernels follow a route's change later than most protocols' neighbours notice one.
  bool IsVoid() const { return interval > kMaxInterval; }

  static constexpr double kMaxInterval = 1;  // s
  static fields::KeysOf<RoutePolls> Keys();
};

// The protocols' routes at an instant, from node to node.
struct RouteSample {
  double at = 0;  // s, since convergence
  // The neighbour to which each node (first key) sends packets for another node (second key); "":
  // it has no route.
  std::map<std::string, std::map<std::string, std::string>> next;

  static fields::KeysOf<RouteSample> Keys();
};

// The method by which the routes of a node's protocol are read.
struct RouteReading {
  std::string protocol;     // the protocol's ns-3 TypeId
  std::string method;       // "printed table"
  std::string reason = {};  // the reason for not using a better method
  std::vector<std::string> nodes;

  static fields::KeysOf<RouteReading> Keys();
};

// The simulator's report at the end of a run.
struct SimulatorReport {
  std::optional<Timing> timing;       // real time only
  std::optional<Timing> port_timing;  // real time only, of frames at the simulator's ports
  std::map<std::string, double> loop;
  std::map<std::string, DeviceCounters> counters;
  std::map<std::string, uint64_t> routes;
  std::vector<RouteSample> route_samples;                // if the scenario asks for them
  std::vector<RouteChange> route_changes;                // mode offload
  std::optional<uint64_t> route_changes_omitted;         // routes, beyond the maximum of the list
  std::optional<RoutePushes> route_pushes;               // real modes only
  std::optional<RoutePolls> route_polls;                 // real modes, if routes are polled
  std::vector<RouteReading> route_readings;              // mode offload
  std::vector<std::string> refused;                      // one line each
  std::vector<std::string> exceeded;                     // one line for each limit
  std::optional<std::vector<std::string>> unsupported;   // real modes only
  std::optional<std::vector<std::string>> assumptions;   // mode simulate only
  std::optional<std::vector<StateFiles>> state;          // mode simulate only
  std::map<std::string, std::vector<double>> positions;  // m: x, y, z; nodes that have a place
  std::vector<Capture> captures;

  static fields::KeysOf<SimulatorReport> Keys();
};

// A key of NodePlane::drops: packets without a route that arrived faster than the simulator read
// them.
inline constexpr const char* kUpcallQueueFull = "upcall_queue_full";

// The data plane that forwarded a node's packets (plane/fib/data_plane.h).
struct NodePlane {
  std::string name, reason;
  // Received packets by interface and by their outcome, if the data plane counts them.
  std::map<std::string, std::map<std::string, uint64_t>> packets;
  std::map<std::string, uint64_t> drops;  // packets, by cause, while the traffic ran
  static fields::KeysOf<NodePlane> Keys();
};

// A host of a lab that runs on several machines.
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
  std::optional<double> setup_seconds;  // real modes only
  double teardown_seconds = 0;
  Convergence convergence;
  std::vector<FlowResult> flows;
  std::vector<ProgramResult> programs;
  std::vector<LinkEvent> events;
  std::optional<Timing> event_timing;            // the lateness of `events`; real modes
  std::vector<Reconvergence> reconvergence;      // the recovery from each of `events`
  std::optional<EngineResult> engine;            // the links' engine, if a link has a SPEC
  std::optional<uint64_t> neighbour_discards;    // packets; real modes, if the kernel reports them
  std::map<std::string, NodePlane> data_planes;  // node to data plane; real modes
  SimulatorReport simulator;
  std::vector<HostResult> hosts;  // only for a lab on several machines
  Verdict verdict = Verdict::kNotJudged;
  std::vector<std::string> judged, not_judged;  // the parts that the verdict covers, and the rest
  std::vector<std::string> failures;
  int status = 0;  // ExitStatus

  // Sets the verdict on timing by the limit, if there is one, and concludes.
  void Judge(std::optional<Duration> lateness_limit);
  // Sets the status by the verdict and the failures: a run that failed is never VALID.
  void Conclude();

  static fields::KeysOf<RunResult> Keys();
};

}  // namespace viaduct::result
