// A hub's counters as results.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result/hub.h"
#include "remote/tunnel/client_hub.h"

namespace viaduct::tunnel {

// Returns the sums; without the time.
result::HubProgress Summarize(const ClientHub& hub);
// Describes the socket and the clients; the other members stay unchanged. Takes milliseconds for
// hundreds of clients: describes `count` clients from `first` on.
void Describe(const ClientHub& hub, result::HubResult* result, size_t first = 0,
              size_t count = SIZE_MAX);
// Returns the number of frames that the hub itself lost, not a client or the network.
uint64_t OwnLosses(const ClientHub& hub);
// Adds to a cause of losses; a cause without losses is not listed.
void AddCause(std::map<std::string, uint64_t>& drops, const char* cause, uint64_t count);

}  // namespace viaduct::tunnel
