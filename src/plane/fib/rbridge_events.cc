#include "plane/fib/rbridge_events.h"

#include <sys/socket.h>

#include <tuple>

#include "base/error.h"
#include "plane/forward/event_ring.h"
#include "plane/forward/rbridge.h"
#include "sys/descriptors.h"

namespace viaduct::fib {

EventMemory::EventMemory()
    : ring(forward::MakeSharedMemory("viaduct-events", forward::event_ring::kWords,
                                     forward::Writers::kAll)) {
  std::tie(doorbell, bell) = sys::MakeSocketPair(SOCK_STREAM);
}

std::map<std::string, uint64_t> FrameDrops(
    const std::map<std::string, std::map<std::string, uint64_t>>& counters,
    const std::vector<std::string>& losses) {
  std::map<std::string, uint64_t> drops;
  for (const auto& [port, frames] : counters) {
    const auto add = [&, &counts = frames](const std::string& counted, const std::string& cause) {
      const auto found = counts.find(counted);
      if (found != counts.end() && found->second > 0) drops[cause] += found->second;
    };
    for (const std::string& loss : losses) add(loss, loss);
    add("ring-full", "ring_full");
    add("not-sent", "not_sent");
  }
  return drops;
}

std::map<std::string, uint64_t> RBridgeDrops(
    const std::map<std::string, std::map<std::string, uint64_t>>& counters) {
  return FrameDrops(counters, {forward::RBridge::kLosses.begin(), forward::RBridge::kLosses.end()});
}

void RefuseRoutes(const RouteChanges& changes) {
  if (!changes.empty())
    throw UsageError("a node that forwards Ethernet frames does not support routes");
}

}  // namespace viaduct::fib
