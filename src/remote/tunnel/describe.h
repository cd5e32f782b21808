// A hub's counters as results.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result/hub.h"
#include "remote/tunnel/hub.h"

namespace viaduct::tunnel {

// The sums; without the time.
result::HubProgress Summarize(const Hub& hub);
// Everything of the socket and the clients; the other members stay as they are. Takes milliseconds
// for hundreds of clients: of `count` from `first` on.
void Describe(const Hub& hub, result::HubResult* result, size_t first = 0, size_t count = SIZE_MAX);
// Frames that were lost by the hub's doing, not by a client's or the network's.
uint64_t OwnLosses(const Hub& hub);
// Adds to a cause of losses, which is listed if there are any.
void AddCause(std::map<std::string, uint64_t>& drops, const char* cause, uint64_t count);

}  // namespace viaduct::tunnel
