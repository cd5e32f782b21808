// Failures in a lab outside its simulator, for all commands that wait for a lab.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace viaduct::run {

// Returns a message if the forwarder has failed since the lab was built; empty: it has not. `lab`:
// the result of broker::Client::Describe(). No counter has the packets that a failed forwarder
// lost.
std::string ForwarderFailure(const nlohmann::json& lab);

}  // namespace viaduct::run
