// Discards the copies that a node's kernel receives of the frames that a forwarder in userspace
// handles (copy.bpf.c).
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "sys/bpf/object.h"

namespace viaduct::bpf {

// Returns the reason why this build or machine cannot discard the copies; empty if it can. Attaches
// a program as a test, so it needs root.
std::string CopyFilterUnavailable();

// The eBPF program at the ingress of a node's interfaces; packet sockets of an interface receive a
// frame before the program does. The program is removed when this object is destroyed or this
// process exits, because nothing is pinned. The kernel must have tcx (Linux 6.6): a program at
// clsact would remain, with networks that no process updates. For use by one thread.
class CopyFilter {
 public:
  static constexpr size_t kMaxNetworks = 16384;  // per family; only networks in use take memory

  enum class Taker { kKernel, kForwarder };

  // Creates a filter that discards nothing until Discard() is called. Throws EnvironmentError if
  // the build or the kernel cannot run the program. `max_networks`: the maximum number of networks
  // per family.
  explicit CopyFilter(size_t max_networks = kMaxNetworks);
  ~CopyFilter();
  CopyFilter(const CopyFilter&) = delete;
  CopyFilter& operator=(const CopyFilter&) = delete;

  // Sets the receiver of the packets whose destination is in this network; the longest prefix
  // decides. A packet whose destination is in no network of the map is for the forwarder in IPv4
  // and for the kernel in IPv6. Returns false if the map of networks is full.
  [[nodiscard]] bool Set(const wire::IpPrefix& network, Taker taker);
  void Remove(const wire::IpPrefix& network);  // no error if the network is absent

  // Begins to discard copies of packets of these families, and passes copies of all other families
  // to the kernel. Throws SystemError.
  void Discard(const std::set<wire::Family>& families);

  // Attaches the program to these interfaces of the namespace, and detaches it from all others.
  // Skips an interface that no longer exists or takes no program.
  void AttachTo(int namespace_fd, const std::set<int>& ifindexes);

  // Returns what the program does with a frame that arrives on an interface of the calling thread's
  // namespace (BPF_PROG_TEST_RUN). For tests.
  Verdict Try(int ifindex, wire::ConstBytes frame) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::bpf
