// What of Viaduct is alive on this machine, as this user may see it: labs, paths and shells, hubs,
// joined nodes.
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

// What passed in the time between two snapshots, per second. Of a link: what entered it and what
// left it; of a hub's client: what came from it and what went to it.
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

// A path, or that of a shell.
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
// The names of its nodes that have namespaces.
std::vector<std::string> NodesOf(const lab::RunInfo& run);

// Reads the records and asks each that is alive for its statistics, for which it has `timeout`.
// Why one gave none is its `trouble`; one that ends meanwhile is no error. Throws SystemError or
// EnvironmentError where records cannot be read.
Snapshot Look(Duration timeout);

// Sets the rates of all that was there before and has statistics in both.
void SetRates(const Snapshot& before, Snapshot* now);

// The sum of what a link lost, for whatever cause.
uint64_t LostOn(const result::PipelineResult& link);

// The chapter of docs/results.md.
std::string DocumentSnapshot();

}  // namespace viaduct::watch
