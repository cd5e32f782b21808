// Translates a link's SPEC to kernel queueing disciplines on the sending interface
// (Emulator::kKernel).
#pragma once

#include <string>

#include "lab/topology.h"
#include "path/spec/spec.h"
#include "sys/network/link.h"
#include "sys/network/qdisc.h"

namespace viaduct::lab {

// The qdiscs of one direction: netem at the root (delay line, loss...), below netem TBF (rate),
// below TBF the queue. Packets pass loss and delay first, then the bottleneck.
struct Impairment {
  std::optional<sys::Netem> netem;
  std::optional<sys::TokenBucket> token_bucket;
  std::optional<uint32_t> queue_packets;  // the limit of a pfifo below TBF
  std::optional<std::string> aqm;         // the AQM qdisc below TBF, instead of a pfifo

  // Throws UsageError if the SPEC is meaningless (queue without rate), EnvironmentError if no qdisc
  // implements it exactly (ber). `where` begins the message: "link n0-n1".
  static Impairment FromSpec(const path::Spec& spec, int mtu, const std::string& where);
  // Installs the qdiscs on an interface that has no qdisc yet.
  void Install(sys::Netlink& session, int ifindex) const;
};

// Checks, before anything is built, that this kernel has the qdiscs that the SPECs of the links
// with Emulator::kKernel need. Throws EnvironmentError: "link n0-n1: delay=10ms needs the netem
// qdisc, which this kernel lacks; ...".
void CheckImpairments(const Topology& topology);

// Whether any link is emulated by qdiscs.
bool HasKernelImpairments(const Topology& topology);
// Whether this endpoint's transmissions pass a qdisc: on a link emulated by qdiscs, and on a
// physical interface, which has a qdisc anyway, and whose captures see no frame that bypasses it.
bool HasQdisc(const Topology& topology, const Endpoint& endpoint);

}  // namespace viaduct::lab
