// A snapshot of all parts of Viaduct that run on this machine and that this user may see: labs,
// paths and shells, hubs, joined nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result/engine.h"
#include "base/result/hub.h"
#include "base/time.h"
#include "lab/record.h"

namespace viaduct::watch {

// The traffic per second between two snapshots. For a link, `in` counts what entered the link and
// `out` what left it; for a hub's client, `in` counts what the client sent and `out` what was sent
// to it.
struct Rates {
  double in_packets = 0, in_bits = 0, out_packets = 0, out_bits = 0, lost_packets = 0;
  std::optional<double> delay_ms = {};

  static fields::KeysOf<Rates> Keys();
};

// The state and the statistics of a lab in a snapshot.
struct LabView {
  std::string name, state;
  std::vector<std::string> nodes;
  int pid = 0;
  uint32_t uid = 0;
  std::string created, trouble;
  lab::SimulatorHistory simulator;
  std::optional<result::EngineResult> statistics;
  std::vector<Rates> rates;

  static fields::KeysOf<LabView> Keys();
};

// The state and the statistics of a path, or of the path of a shell, in a snapshot.
struct PathView {
  std::string name, state;
  int pid = 0;
  uint32_t uid = 0;
  std::string created, trouble;
  std::optional<result::EngineResult> statistics;
  std::vector<Rates> rates;

  static fields::KeysOf<PathView> Keys();
};

// The state and the statistics of a hub in a snapshot.
struct HubView {
  std::string name, state;
  int pid = 0;
  uint32_t uid = 0;
  std::string created, trouble;
  std::optional<result::HubResult> statistics;
  std::vector<Rates> rates;

  static fields::KeysOf<HubView> Keys();
};

// The state of a joined node in a snapshot.
struct JoinView {
  std::string node, hub, interface, state;
  int pid = 0;
  uint32_t uid = 0;
  std::string created;

  static fields::KeysOf<JoinView> Keys();
};

struct Snapshot {
  std::string time;  // UTC, ISO 8601
  std::vector<LabView> labs;
  std::vector<PathView> paths;
  std::vector<HubView> hubs;
  std::vector<JoinView> joined;

  static fields::KeysOf<Snapshot> Keys();
};

// Returns the state of a lab: "up", "running" or "dead".
std::string StateOf(const lab::RunInfo& run);
// Returns the names of the nodes of a lab that have namespaces.
std::vector<std::string> NodesOf(const lab::RunInfo& run);

// Reads the records of all running labs, paths, hubs and joined nodes, and requests the statistics
// of each process, which must answer within `timeout`. If a process gives no statistics, `trouble`
// has the reason. A process that ends in the meantime is not an error. Throws SystemError or
// EnvironmentError if records cannot be read.
Snapshot TakeSnapshot(Duration timeout);

// Sets the rates of all objects in `now` for which both snapshots have statistics.
void SetRates(const Snapshot& before, Snapshot* now);

// Returns the number of packets that a link lost, of all causes.
uint64_t LostOn(const result::PipelineResult& link);

// Returns the chapter of docs/results.md about the snapshot.
std::string DocumentSnapshot();

}  // namespace viaduct::watch
