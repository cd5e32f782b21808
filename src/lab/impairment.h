// How a link's SPEC becomes kernel queueing disciplines on the sending interface
// (Emulator::kKernel).
#pragma once

#include <string>

#include "lab/topology.h"
#include "path/spec/spec.h"
#include "sys/network/link.h"
#include "sys/network/qdisc.h"

namespace viaduct::lab {

// The qdiscs of one direction: netem at the root (delay line, loss...), below it TBF (rate), below
// it the queue. Packets meet loss and delay first, then the bottleneck.
struct Impairment {
  std::optional<sys::Netem> netem;
  std::optional<sys::TokenBucket> token_bucket;
  std::optional<uint32_t> queue_packets;  // pfifo below TBF
  std::optional<std::string> aqm;         // this qdisc below TBF instead

  // Throws UsageError where the SPEC has no meaning (queue without rate), EnvironmentError where no
  // qdisc can do it exactly (ber). `where` begins the message: "link n0-n1".
  static Impairment FromSpec(const path::Spec& spec, int mtu, const std::string& where);
  // Installs it on an interface without a qdisc of its own.
  void Install(sys::Netlink& session, int ifindex) const;
};

// Looks before anything is built whether this kernel has the qdiscs that the SPECs of the links
// with Emulator::kKernel need. EnvironmentError: "link n0-n1: delay=10ms needs the netem qdisc,
// which this kernel lacks; ...".
void CheckImpairments(const Topology& topology);

// Whether any link is made by qdiscs.
bool HasKernelImpairments(const Topology& topology);
// Whether this endpoint's transmissions pass one.
bool HasQdisc(const Topology& topology, const Endpoint& endpoint);

}  // namespace viaduct::lab
