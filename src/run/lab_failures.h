// Failures in a lab outside its simulator, for all commands that wait in a lab.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace viaduct::run {

// Returns a message if the forwarder has failed since the lab was built, else "". `lab`: the result
// of broker::Client::Describe(). The packets that a failed forwarder lost are in no counter.
std::string ForwarderFailure(const nlohmann::json& lab);

}  // namespace viaduct::run
