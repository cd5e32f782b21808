// The eBPF program that forwards the frames of an RBridge (WMRP) at the ingress of its ports
// (rbridge.bpf.c), loaded once for each RBridge.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "plane/bpf/forwarder.h"
#include "plane/bpf/rbridge.h"

namespace viaduct::bpf {

// Why this build or machine cannot forward an RBridge's frames by eBPF; empty: it can. Tries it:
// needs root.
std::string WhyNoRBridge();

// At work from construction to destruction or to the end of this process. Nothing is pinned. For
// use by one thread.
class RBridgeProgram {
 public:
  // The ports in their order, which are in this namespace; their wires' offloads are off. Throws
  // EnvironmentError if the build or the kernel cannot do it.
  RBridgeProgram(int namespace_fd, const std::vector<Port>& ports);
  ~RBridgeProgram();
  RBridgeProgram(const RBridgeProgram&) = delete;
  RBridgeProgram& operator=(const RBridgeProgram&) = delete;

  // A viaduct_rbridge_shared, which whoever has the descriptor can map. Owned by this.
  int TablesFd() const;
  // Readable when there are events.
  int EventsFd() const;
  std::vector<viaduct_rbridge_event> TakeEvents();
  // What came in on a port so far. Throws SystemError.
  viaduct_rbridge_interface CountersOf(int ifindex) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::bpf
