// The data plane of an RBridge (WMRP) that forwards in the kernel, by an eBPF program whose tables
// the simulator maps.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plane/bpf/rbridge_program.h"
#include "plane/fib/data_plane.h"
#include "plane/fib/rbridge_events.h"
#include "plane/forward/equipment.h"
#include "plane/forward/event_ring.h"

namespace viaduct::fib {

class EbpfRBridge final : public RouteSink {
 public:
  // Attaches the program to the node's interfaces. Throws EnvironmentError if the build or the
  // kernel cannot run the program.
  explicit EbpfRBridge(const NodePlace& place);

  std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const override;
  std::map<std::string, uint64_t> Drops() const override { return RBridgeDrops(PacketCounters()); }
  std::optional<forward::ControlMemory> Control() const override;
  int EventFd() const override { return program_.EventsFd(); }
  void TakeEvents() override;

 private:
  void DoApply(const RouteChanges& changes) override;

  std::vector<std::string> interfaces_;
  std::vector<bpf::Interface> ports_;  // the program's ports, one per element of interfaces_
  bpf::RBridgeProgram program_;
  EventMemory events_;
  forward::EventWriter writer_;
};

}  // namespace viaduct::fib
