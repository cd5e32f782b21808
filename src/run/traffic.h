// A flow of real packets: which programs carry it, and what their output says.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// What was measured. A message's key is absent where the kind of flow has no such thing.
struct FlowResult {
  std::string name, kind, from, to;
  std::string error;                       // why there is no result; the rest is empty then
  std::optional<uint64_t> sent, received;  // packets
  std::optional<double> loss;              // 0..1
  std::optional<double> rate;              // bit/s of payload, as received
  std::optional<double> packet_rate;       // packets/s received, UDP
  struct Times {
    double min = 0, mean = 0, max = 0, p50 = 0, p99 = 0;  // ms
  };
  std::optional<Times> rtt;             // ping
  std::optional<Times> delay;           // UDP, one way
  std::optional<uint64_t> retransmits;  // TCP
  // Over time: seconds since the flow started; bit/s in the interval that ends then (UDP, TCP), or
  // ms (ping).
  std::vector<std::pair<double, double>> samples;
};

// The address of `node` that traffic goes to: its first, IPv4 before IPv6.
std::string AddressOf(const scenario::Scenario& scenario, const std::string& node);

// The interfaces of a link, in the order of its nodes: interfaces are eth0, eth1, ... in the order
// of the scenario's links.
std::vector<lab::Endpoint> EndpointsOf(const scenario::Scenario& scenario, const std::string& link);

// `index` makes the port; `load` is where viaduct-load is.
FlowCommands CommandsFor(const scenario::Scenario& scenario, size_t index, const std::string& load);

// A flow that has no result.
FlowResult FailedFlow(const scenario::Flow& flow, const std::string& error);
// From the programs' standard output (and, for errors, standard error) to the result. Never
// throws: output that makes no sense becomes FlowResult::error.
FlowResult ParseFlow(const scenario::Flow& flow, const std::string& receiver_output,
                     const std::string& sender_output, const std::string& sender_error);

void to_json(nlohmann::json& json, const FlowResult& result);
// Of the form to_json makes, and of a simulator's "flow" event.
void from_json(const nlohmann::json& json, FlowResult& result);

}  // namespace viaduct::run
