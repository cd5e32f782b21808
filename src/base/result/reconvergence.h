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

// The recovery of a flow that lost packets after an event; covers the time until it recovered or
// the next event.
struct FlowRecovery {
  std::string flow;
  uint64_t lost = 0;
  double last_lost = 0;          // s since the event: sending of the last lost packet
  std::optional<double> steady;  // s since the event: sending of the first packet that arrived

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

// The number of consecutive packets that must arrive for losses to be over.
inline constexpr uint64_t kSteadyPackets = 10;

// Returns the recovery from each change of a link, in the order of time. Flows with omitted gaps
// are left out.
std::vector<Reconvergence> FindReconvergence(const RunResult& run);

}  // namespace viaduct::result
