// How long routes and flows took to recover from each event of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"

namespace viaduct::result {

struct RunResult;

// What changed in a node's route table at once.
struct RouteChange {
  double at = 0;  // s, since convergence
  std::string node;
  std::vector<std::string> added, replaced, removed;  // as `ip route` writes routes

  static fields::KeysOf<RouteChange> Keys();
};

// Of a flow that lost packets after an event, and until it recovered or something else happened.
struct FlowRecovery {
  std::string flow;
  uint64_t lost = 0;
  double last_lost = 0;          // s since the event, when it was sent
  std::optional<double> steady;  // s since the event, when the first of those that came was sent

  static fields::KeysOf<FlowRecovery> Keys();
};

struct Reconvergence {
  std::string link, change;
  double at = 0;  // s, since convergence
  std::optional<double>
      routes;  // s since the event: the last change of a table before the next one
  std::vector<FlowRecovery> flows;

  static fields::KeysOf<Reconvergence> Keys();
};

// So many packets in a row that arrive are an end of losses.
inline constexpr uint64_t kSteadyPackets = 10;

// For each change of a link, in the order of their times. Flows with omitted gaps are left out.
std::vector<Reconvergence> FindReconvergence(const RunResult& run);

}  // namespace viaduct::result
