// The eBPF program that forwards a node's packets at the ingress of its interfaces
// (forward.bpf.c), loaded once for each node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "plane/bpf/port.h"
#include "sys/bpf/object.h"

namespace viaduct::bpf {

struct Interface {
  int ifindex = 0;
  // The MAC address of the interface at the other end, if frames may be passed directly to that
  // end. The two interfaces must be a veth pair whose other end is in another namespace. Both ends
  // must have no queueing discipline, and all offloads on, because frames may rely on offloads.
  std::optional<wire::MacAddress> far_mac = std::nullopt;

  viaduct_port ToValue() const;  // the value of this interface in a program's map
};

// Returns the reason why this build or machine cannot forward by eBPF; empty if it can. Loads a
// program as a test, so it needs root.
std::string Unavailable();

// The forwarding eBPF program of a node, active from construction to destruction or to the exit of
// this process. Nothing is pinned: the program and its tables are removed with the descriptors of
// this object or, on kernels before 6.6 (clsact instead of tcx), with the interfaces. In both cases
// the kernel's own forwarding continues. For use by one thread.
class ForwardProgram {
 public:
  // Attaches the program to the ports, which are in this namespace. Packets that would leave
  // through a port that is not a wire are left to the kernel. Throws EnvironmentError if the build
  // or the kernel cannot run the program.
  ForwardProgram(int namespace_fd, const std::vector<Interface>& ports);
  ~ForwardProgram();
  ForwardProgram(const ForwardProgram&) = delete;
  ForwardProgram& operator=(const ForwardProgram&) = delete;

  // Replaces the set of the node's own IPv4 addresses: packets with such a source address are left
  // to the kernel, which does not forward them. IPv6 addresses are ignored, because the kernel
  // forwards packets with an own IPv6 source.
  void SetOwnAddresses(const std::vector<wire::IpAddress>& addresses);

  // Returns the counters of the packets that have arrived on a port. Throws SystemError.
  viaduct_port_counters CountersOf(int ifindex) const;

  // Returns what the program does with a frame that arrives on an interface of the calling thread's
  // namespace, without sending it (BPF_PROG_TEST_RUN). For tests.
  Verdict Try(int ifindex, wire::ConstBytes frame) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the name of a packet's outcome in descriptions: "forwarded", "ttl-expires"...
const char* OutcomeName(viaduct_outcome outcome);

}  // namespace viaduct::bpf
