#include "fib/userspace_rbridge.h"

#include "forward/rbridge_tables.h"

namespace viaduct::fib {

// The tables can be read from the beginning: an RBridge without a nickname forwards nothing.
UserspaceRBridge::UserspaceRBridge(const NodePlace& place)
    : interfaces_(place.ports),
      tables_(forward::MakeSharedMemory("viaduct-rbridge", forward::rbridge_tables::kWords,
                                        forward::Writers::kAll)),
      counters_(forward::Counters::Make(interfaces_.size())) {
  forward::RBridgeTablesWriter(tables_.mapping.writable());
}

void UserspaceRBridge::DoApply(const RouteChanges& changes) { RefuseRoutes(changes); }

std::optional<forward::SharedWith> UserspaceRBridge::Shared() const {
  if (interfaces_.empty()) return std::nullopt;
  return forward::SharedWith{.program = forward::FindProgram("rbridge"),
                             .interfaces = interfaces_,
                             .table = tables_.fd.get(),
                             .counters = counters_.fd.get(),
                             .events = events_.ring.fd.get(),
                             .doorbell = events_.doorbell.get()};
}

std::optional<forward::ControlMemory> UserspaceRBridge::Control() const {
  return forward::ControlMemory{.table = tables_.fd.get(),
                                .table_words = forward::rbridge_tables::kWords,
                                .events = events_.ring.fd.get(),
                                .doorbell = events_.bell.get()};
}

std::map<std::string, std::map<std::string, uint64_t>> UserspaceRBridge::PacketCounters() const {
  const auto shared = Shared();
  if (!shared) return {};
  return forward::DescribeCounters(*shared, counters_.mapping.words());
}

}  // namespace viaduct::fib
