// A flow of real packets: the programs that carry it, and the parsing of their output.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result/flow.h"
#include "base/time.h"
#include "scenario/scenario.h"

namespace viaduct::run {

// The commands of a flow's two programs. `receiver` is empty if none is needed (ping).
struct FlowCommands {
  std::vector<std::string> receiver, sender;
  // The text that the receiver prints when it is ready.
  std::string ready;
  // The receiver's option for the lead of the receiver's clock over the sender's, in nanoseconds;
  // empty: the receiver does not have such an option.
  std::string clock;
  // The required programs, with the Debian package of each.
  std::vector<std::pair<std::string, std::string>> needs;
};

// The location of remote hosts (nodes.NAME.remote) for a lab.
enum class RemoteHosts {
  kAreNodes,      // remote hosts are nodes of this lab, like all others
  kAreElsewhere,  // remote hosts are clients of a hub, without a namespace
};

// Returns the interfaces of a link, in the order of its nodes. Interfaces are named eth0, eth1, ...
// in the order of the scenario's links; interfaces of the machine keep their names. Remote hosts
// that are elsewhere have none.
std::vector<lab::Endpoint> EndpointsOf(const scenario::Scenario& scenario, const std::string& link,
                                       RemoteHosts remotes = RemoteHosts::kAreNodes);

// Returns the commands of a flow. `index`: the flow's index, which determines its port; `load`: the
// path of viaduct-load.
FlowCommands CommandsFor(const scenario::Scenario& scenario, size_t index, const std::string& load);

// Returns the result of a flow that failed.
result::FlowResult FailedFlow(const scenario::Flow& flow, const std::string& error);
// The end of a flow's sender. `with_run`: whether the sender was stopped because the run was
// interrupted; otherwise the sender ended without being stopped.
struct Ending {
  bool with_run = false;
  // The time at which the run stopped the sender, by CLOCK_MONOTONIC of the sender's machine;
  // absent if the sender ran on another machine.
  std::optional<Instant> at = std::nullopt;
};
// Parses the standard output of a flow's programs (and, for errors, standard error). Never throws:
// output that cannot be parsed is reported in FlowResult::error.
result::FlowResult ParseFlow(const scenario::Flow& flow, const std::string& receiver_output,
                             const std::string& sender_output, const std::string& sender_error,
                             const Ending& ending = {});
// Adds to `flows`, which are all flows of the scenario, the packets of each flow that nodes of the
// simulator lost, by place (scenario::SimulatorDone::lost_at).
void AddLosses(const std::vector<std::map<std::string, uint64_t>>& lost_at,
               std::vector<result::FlowResult>* flows);

}  // namespace viaduct::run
