// The eBPF program that forwards the frames of an RBridge (WMRP) at the ingress of its ports
// (rbridge.bpf.c), loaded once for each RBridge.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "plane/bpf/forward_program.h"
#include "plane/bpf/rbridge.h"

namespace viaduct::bpf {

// Returns why this build or machine cannot forward an RBridge's frames by eBPF; empty: it can.
// Tries it: needs root.
std::string RBridgeUnavailable();

// An RBridge's program, active from construction to destruction or to the exit of this process.
// Nothing is pinned. For use by one thread.
class RBridgeProgram {
 public:
  // The ports, in their order, are in this namespace; their wires' offloads are off. Throws
  // EnvironmentError if the build or the kernel cannot do it.
  RBridgeProgram(int namespace_fd, const std::vector<Interface>& ports);
  ~RBridgeProgram();
  RBridgeProgram(const RBridgeProgram&) = delete;
  RBridgeProgram& operator=(const RBridgeProgram&) = delete;

  // Returns the descriptor of a viaduct_rbridge_shared, by which any process can map it. Owned by
  // this object.
  int TablesFd() const;
  // Returns a descriptor that is readable when there are events.
  int EventsFd() const;
  std::vector<viaduct_rbridge_event> TakeEvents();
  // Returns the counters of the frames that have arrived on a port. Throws SystemError.
  viaduct_rbridge_interface CountersOf(int ifindex) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::bpf
