// The time that routes and flows took to recover from each event of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"

namespace viaduct::result {

struct RunResult;

// A change of a node's route table.
struct RouteChange {
  double at = 0;  // s, since convergence
  std::string node;
  std::vector<std::string> added, replaced, removed;  // routes in the format of `ip route`

  static fields::KeysOf<RouteChange> Keys();
};

// The recovery of a flow that lost packets after an event, until the flow recovered or the next
// event happened.
struct FlowRecovery {
  std::string flow;
  uint64_t lost = 0;
  double last_lost = 0;          // when the last lost packet was sent, s since the event
  std::optional<double> steady;  // when the first packet after the loss was sent, s since the event

  static fields::KeysOf<FlowRecovery> Keys();
};

struct Reconvergence {
  std::string link, change;
  double at = 0;  // s, since convergence
  std::optional<double>
      routes;  // when the last route before the next event changed, s since this event
  std::vector<FlowRecovery> flows;

  static fields::KeysOf<Reconvergence> Keys();
};

// The number of consecutive packets that must arrive after a loss for the flow to have recovered.
inline constexpr uint64_t kSteadyPackets = 10;

// Returns the recovery from each event that changes a link, in the order of time. Omits flows that
// have omitted gaps.
std::vector<Reconvergence> FindReconvergence(const RunResult& run);

}  // namespace viaduct::result
