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
  // What its nodes' packets undergo from the start: of each of a pair, where they differ; empty: of
  // a plain wire.
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

// Which nodes can reach which. Pairs are ordered: (a, b) is not (b, a).
struct Convergence {
  double seconds = 0;
  uint32_t reachable = 0, pairs = 0;
  std::vector<std::pair<std::string, std::string>> unreachable = {};  // from, to
  // The protocol looks for a route when a packet needs it, so nothing was waited for or counted.
  std::optional<bool> on_demand = std::nullopt;
  // The routes are those of the nodes' programs (routing: none), so nothing was waited for or
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
  std::optional<uint64_t> unfinished;  // frames that are not as on a wire; not 0
  std::string error = {};              // why the file is not whole

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

  // Above the usual 0.1 s, because it took too much time.
  bool IsStretched() const { return interval > 0.15; }
  // The kernels follow a route's change later than most protocols' neighbours notice one.
  bool IsVoid() const { return interval > kMaxInterval; }

  static constexpr double kMaxInterval = 1;  // s
  static fields::KeysOf<RoutePolls> Keys();
};

// The protocols' routes at an instant, from node to node.
struct RouteSample {
  double at = 0;  // s, since convergence
  // Of each node, for each other one, the neighbour to which it sends; "": it has no route.
  std::map<std::string, std::map<std::string, std::string>> next;

  static fields::KeysOf<RouteSample> Keys();
};

// How the routes of a node's protocol became known.
struct RouteReading {
  std::string protocol;     // its TypeId
  std::string method;       // "printed table"
  std::string reason = {};  // why no better method served
  std::vector<std::string> nodes;

  static fields::KeysOf<RouteReading> Keys();
};

// What the simulator itself reports at the end of a run.
struct SimulatorReport {
  std::optional<Timing> timing;       // real time only
  std::optional<Timing> port_timing;  // real time only, of frames at the simulator's ports
  std::map<std::string, double> loop;
  std::map<std::string, DeviceCounters> counters;
  std::map<std::string, uint64_t> routes;
  std::vector<RouteSample> route_samples;                // if the scenario asks for them
  std::vector<RouteChange> route_changes;                // mode offload
  std::optional<uint64_t> route_changes_omitted;         // routes, if there was no more room
  std::optional<RoutePushes> route_pushes;               // real modes only
  std::optional<RoutePolls> route_polls;                 // real modes, if there are some
  std::vector<RouteReading> route_readings;              // mode offload
  std::vector<std::string> refused;                      // a line for each
  std::vector<std::string> exceeded;                     // a line for each limit
  std::optional<std::vector<std::string>> unsupported;   // real modes only
  std::optional<std::vector<std::string>> assumptions;   // mode simulate only
  std::optional<std::vector<StateFiles>> state;          // mode simulate only
  std::map<std::string, std::vector<double>> positions;  // m: x, y, z; of those that are somewhere
  std::vector<Capture> captures;

  static fields::KeysOf<SimulatorReport> Keys();
};

// A key of NodePlane::drops: packets without a route that came faster than the simulator read them.
inline constexpr const char* kUpcallQueueFull = "upcall_queue_full";

// Where a node's packets were forwarded (plane/fib/data_plane.h).
struct NodePlane {
  std::string name, reason;
  // What came in, by interface and by what became of it, where the data plane counts.
  std::map<std::string, std::map<std::string, uint64_t>> packets;
  std::map<std::string, uint64_t> drops;  // packets, by cause, while the traffic ran
  static fields::KeysOf<NodePlane> Keys();
};

// A host of a lab that several have.
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
  std::optional<Timing> event_timing;            // of `events`; real modes
  std::vector<Reconvergence> reconvergence;      // of `events`
  std::optional<EngineResult> engine;            // of the links, if any has a SPEC
  std::optional<uint64_t> neighbour_discards;    // packets; real modes, if the kernel tells
  std::map<std::string, NodePlane> data_planes;  // by node; real modes
  SimulatorReport simulator;
  std::vector<HostResult> hosts;  // of a lab on several
  Verdict verdict = Verdict::kNotJudged;
  std::vector<std::string> judged, not_judged;  // what the verdict covers, and what it does not
  std::vector<std::string> failures;
  int status = 0;  // ExitStatus

  // Sets the verdict on timing by the limit, if there is one, and concludes.
  void Judge(std::optional<Duration> lateness_limit);
  // Sets the status by the verdict and the failures: a run that failed is never VALID.
  void Conclude();

  static fields::KeysOf<RunResult> Keys();
};

}  // namespace viaduct::result
