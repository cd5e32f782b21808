// What goes wrong in a lab beside its simulator, for all commands that wait for one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace viaduct::run {

// That the forwarder died since the lab was built, in words; empty: it did not. `lab`: what
// broker::Client::Describe() returns. What a forwarder lost when it died is in no counter.
std::string ForwarderFailure(const nlohmann::json& lab);

}  // namespace viaduct::run
