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

// Returns the reason why this build or machine cannot forward an RBridge's frames by eBPF; empty if
// it can. Loads a program as a test, so it needs root.
std::string RBridgeUnavailable();

// The eBPF program of an RBridge, active from construction to destruction or to the exit of this
// process. Nothing is pinned. For use by one thread.
class RBridgeProgram {
 public:
  // Attaches the program to the ports; their order is the order of the ports in the tables. The
  // ports are in this namespace, and the offloads of their wires are off. Throws EnvironmentError
  // if the build or the kernel cannot run the program.
  RBridgeProgram(int namespace_fd, const std::vector<Interface>& ports);
  ~RBridgeProgram();
  RBridgeProgram(const RBridgeProgram&) = delete;
  RBridgeProgram& operator=(const RBridgeProgram&) = delete;

  // Returns the descriptor of the map of the viaduct_rbridge_shared; any process can map its
  // memory. The descriptor is owned by this object.
  int TablesFd() const;
  // Returns a descriptor that is readable when TakeEvents() would return events.
  int EventsFd() const;
  std::vector<viaduct_rbridge_event> TakeEvents();
  // Returns the counters of the frames that have arrived on a port. Throws SystemError.
  viaduct_rbridge_interface CountersOf(int ifindex) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::bpf
