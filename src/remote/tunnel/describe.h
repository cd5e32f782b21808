// Describes a hub's counters as results.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result/hub.h"
#include "remote/tunnel/client_hub.h"

namespace viaduct::tunnel {

// Returns the sums of the hub's counters, without the time.
result::HubProgress Summarize(const ClientHub& hub);
// Describes the socket, and `count` clients from `first` on; the other members of `result` stay
// unchanged. A call for hundreds of clients takes milliseconds.
void Describe(const ClientHub& hub, result::HubResult* result, size_t first = 0,
              size_t count = SIZE_MAX);
// Returns the number of frames that the hub itself lost, without losses of a client or the network.
uint64_t OwnLosses(const ClientHub& hub);
// Adds `count` losses to their cause in `drops`; a cause without losses is not listed.
void AddCause(std::map<std::string, uint64_t>& drops, const char* cause, uint64_t count);

}  // namespace viaduct::tunnel
