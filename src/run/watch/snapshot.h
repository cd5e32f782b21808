// A snapshot of everything of Viaduct that runs on this machine and that this user may see: labs,
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

// The traffic per second between two snapshots. For a link: in is what entered it and out what left
// it; for a hub's client: in is what it sent and out what was sent to it.
struct Rates {
  double in_packets = 0, in_bits = 0, out_packets = 0, out_bits = 0, lost_packets = 0;
  std::optional<double> delay_ms = {};

  static fields::KeysOf<Rates> Keys();
};

// A lab.
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

// A path, or the path of a shell.
struct PathView {
  std::string name, state;
  int pid = 0;
  uint32_t uid = 0;
  std::string created, trouble;
  std::optional<result::EngineResult> statistics;
  std::vector<Rates> rates;

  static fields::KeysOf<PathView> Keys();
};

// A hub.
struct HubView {
  std::string name, state;
  int pid = 0;
  uint32_t uid = 0;
  std::string created, trouble;
  std::optional<result::HubResult> statistics;
  std::vector<Rates> rates;

  static fields::KeysOf<HubView> Keys();
};

// A joined node.
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

// "up", "running" or "dead".
std::string StateOf(const lab::RunInfo& run);
// The names of the run's nodes that have namespaces.
std::vector<std::string> NodesOf(const lab::RunInfo& run);

// Reads the records and requests the statistics of each running one, which must answer within
// `timeout`. The reason why one gave none is in `trouble`; one that ends meanwhile is no error.
// Throws SystemError or EnvironmentError where records cannot be read.
Snapshot TakeSnapshot(Duration timeout);

// Sets the rates of all objects in `now` that have statistics in both snapshots.
void SetRates(const Snapshot& before, Snapshot* now);

// The number of packets that a link lost, of all causes.
uint64_t LostOn(const result::PipelineResult& link);

// Returns the snapshot's chapter of docs/results.md.
std::string DocumentSnapshot();

}  // namespace viaduct::watch
