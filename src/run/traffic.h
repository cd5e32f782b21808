// A flow of real packets: which programs carry it, and what their output says.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "result/flow.h"
#include "scenario/scenario.h"

namespace viaduct::run {

// The two programs of a flow. `receiver` is empty where none is needed (ping).
struct FlowCommands {
  std::vector<std::string> receiver, sender;
  // What the receiver prints when it is ready.
  std::string ready;
  // The programs needed, with the Debian package that holds each.
  std::vector<std::pair<std::string, std::string>> needs;
};

// The interfaces of a link, in the order of its nodes: interfaces are eth0, eth1, ... in the order
// of the scenario's links.
std::vector<lab::Endpoint> EndpointsOf(const scenario::Scenario& scenario, const std::string& link);

// `index` makes the port; `load` is where viaduct-load is.
FlowCommands CommandsFor(const scenario::Scenario& scenario, size_t index, const std::string& load);

// A flow that has no result.
result::FlowResult FailedFlow(const scenario::Flow& flow, const std::string& error);
// From the programs' standard output (and, for errors, standard error) to the result. Never
// throws: output that makes no sense becomes FlowResult::error.
result::FlowResult ParseFlow(const scenario::Flow& flow, const std::string& receiver_output,
                             const std::string& sender_output, const std::string& sender_error);

}  // namespace viaduct::run
