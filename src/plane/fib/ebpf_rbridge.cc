#include "plane/fib/ebpf_rbridge.h"

#include <cstddef>

#include "plane/forward/rbridge_tables.h"
#include "plane/rbridge/forward.h"
#include "sys/network/link.h"

namespace viaduct::fib {
namespace {

// An RBridge's tables are described twice, in C++ (Tables) and for eBPF programs in C (BpfTables);
// this file checks that both descriptions agree.
using rbridge::Tables;
using BpfTables = viaduct_rbridge_tables;
static_assert(sizeof(Tables) == sizeof(BpfTables));
static_assert(offsetof(Tables, hop_count) == offsetof(BpfTables, hop_count));
static_assert(offsetof(Tables, own_tree) == offsetof(BpfTables, own_tree));
static_assert(offsetof(Tables, epoch) == offsetof(BpfTables, epoch));
static_assert(offsetof(Tables, ports) == offsetof(BpfTables, ports));
static_assert(offsetof(rbridge::Port, serves_terminals) ==
              offsetof(viaduct_rbridge_port, serves_terminals));
static_assert(offsetof(Tables, adjacencies) == offsetof(BpfTables, adjacencies));
static_assert(offsetof(rbridge::Adjacency, port) == offsetof(viaduct_rbridge_adjacency, port));
static_assert(offsetof(Tables, adjacency_slots) == offsetof(BpfTables, adjacency_slots));
static_assert(offsetof(Tables, rbridges) == offsetof(BpfTables, rbridges));
static_assert(sizeof(rbridge::RBridgeEntry) == sizeof(viaduct_rbridge_entry));
static_assert(offsetof(rbridge::RBridgeEntry, tree_neighbour) ==
              offsetof(viaduct_rbridge_entry, tree_neighbour));
static_assert(offsetof(Tables, by_nickname) == offsetof(BpfTables, by_nickname));
static_assert(offsetof(Tables, trees) == offsetof(BpfTables, trees));
static_assert(sizeof(rbridge::Tree) == sizeof(viaduct_rbridge_tree));
static_assert(offsetof(rbridge::Tree, neighbours) == offsetof(viaduct_rbridge_tree, neighbours));
static_assert(offsetof(Tables, terminals) == offsetof(BpfTables, terminals));
static_assert(sizeof(rbridge::TerminalTable::Entry) == sizeof(viaduct_rbridge_terminal));
static_assert(offsetof(rbridge::TerminalTable::Entry, epoch) ==
              offsetof(viaduct_rbridge_terminal, epoch));
static_assert(sizeof(viaduct_rbridge_shared) ==
              forward::rbridge_tables::kWords * sizeof(forward::Word));
static_assert(offsetof(viaduct_rbridge_shared, begun) / 8 == forward::rbridge_tables::kBegun);
static_assert(offsetof(viaduct_rbridge_shared, current) / 8 == forward::rbridge_tables::kCurrent);
static_assert(offsetof(viaduct_rbridge_shared, copies) / 8 ==
              forward::rbridge_tables::kHeaderWords);
static_assert(VIADUCT_RBRIDGE_OUTCOMES == rbridge::kOutcomes);
static_assert(sizeof(viaduct_rbridge_event) == sizeof(forward::Event));

std::vector<bpf::Interface> PortsOf(const NodePlace& place) {
  sys::Netlink session(place.namespace_fd);
  std::vector<bpf::Interface> ports;
  ports.reserve(place.ports.size());
  for (const std::string& name : place.ports) {
    const auto wire = place.wires.find(name);
    ports.push_back({session.IfIndex(name),
                     wire == place.wires.end() ? std::nullopt : std::optional(wire->second)});
  }
  return ports;
}

}  // namespace

EbpfRBridge::EbpfRBridge(const NodePlace& place)
    : interfaces_(place.ports),
      ports_(PortsOf(place)),
      program_(place.namespace_fd, ports_),
      writer_(events_.ring.mapping.writable(), events_.doorbell.get()) {}

void EbpfRBridge::DoApply(const RouteChanges& changes) { RefuseRoutes(changes); }

std::optional<forward::ControlMemory> EbpfRBridge::Control() const {
  return forward::ControlMemory{.table = program_.TablesFd(),
                                .table_words = forward::rbridge_tables::kWords,
                                .events = events_.ring.fd.get(),
                                .doorbell = events_.bell.get()};
}

// Passes the eBPF program's events to the simulator's ring. Events for which the ring has no space
// are reported again when the tables change.
void EbpfRBridge::TakeEvents() {
  for (const viaduct_rbridge_event& event : program_.TakeEvents()) {
    writer_.Write({event.key, event.value});
  }
}

std::map<std::string, std::map<std::string, uint64_t>> EbpfRBridge::PacketCounters() const {
  std::map<std::string, std::map<std::string, uint64_t>> all;
  for (size_t port = 0; port < interfaces_.size(); ++port) {
    const viaduct_rbridge_interface counters = program_.CountersOf(ports_[port].ifindex);
    auto& named = all[interfaces_[port]];
    for (size_t i = 0; i < rbridge::kOutcomes; ++i) {
      named[std::string(rbridge::kOutcomeNames[i])] = counters.frames[i];
    }
    named["forwarded-bytes"] = counters.bytes;
    named["not-sent"] = counters.not_sent;
  }
  return all;
}

}  // namespace viaduct::fib
