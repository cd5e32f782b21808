#include "fib/rbridge_events.h"

#include <sys/socket.h>

#include <tuple>

#include "base/error.h"
#include "forward/event_ring.h"
#include "sys/descriptors.h"

namespace viaduct::fib {

EventMemory::EventMemory()
    : ring(forward::MakeSharedMemory("viaduct-events", forward::event_ring::kWords,
                                     forward::Writers::kAll)) {
  std::tie(doorbell, bell) = sys::MakeSocketPair(SOCK_STREAM);
}

std::map<std::string, uint64_t> RBridgeDrops(
    const std::map<std::string, std::map<std::string, uint64_t>>& counters) {
  // As counted, and as the results call it.
  static constexpr std::pair<const char*, const char*> kCauses[] = {
      {"malformed", "malformed"}, {"no_adjacency", "no_adjacency"},
      {"no_route", "no_route"},   {"hop_count", "hop_count"},
      {"option", "option"},       {"ring-full", "ring_full"},
      {"not-sent", "not_sent"},
  };
  std::map<std::string, uint64_t> drops;
  for (const auto& [port, frames] : counters) {
    for (const auto& [counted, cause] : kCauses) {
      const auto found = frames.find(counted);
      if (found != frames.end() && found->second > 0) drops[cause] += found->second;
    }
  }
  return drops;
}

void RefuseRoutes(const RouteChanges& changes) {
  if (!changes.empty()) throw UsageError("an RBridge forwards frames and has no routes");
}

}  // namespace viaduct::fib
