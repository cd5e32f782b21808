// Discards the copies that a node's kernel receives of the frames of a forwarder in userspace
// (copy.bpf.c).
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "sys/bpf/object.h"

namespace viaduct::bpf {

// Returns why this build or machine cannot discard the copies; empty: it can. Tries it: needs root.
std::string CopyFilterUnavailable();

// A node's program at the ingress of its interfaces, behind their packet sockets. It is removed
// when this object is destroyed or this process exits, and nothing is pinned; so the kernel must
// have tcx (Linux 6.6), as a program at clsact would remain, with networks that no process updates.
// For use by one thread.
class CopyFilter {
 public:
  static constexpr size_t kMaxNetworks = 16384;  // per family; only what is set takes memory

  enum class Taker { kKernel, kForwarder };

  // Discards nothing yet. Throws EnvironmentError if the build or the kernel cannot do it.
  // `max_networks`: the maximum per family.
  explicit CopyFilter(size_t max_networks = kMaxNetworks);
  ~CopyFilter();
  CopyFilter(const CopyFilter&) = delete;
  CopyFilter& operator=(const CopyFilter&) = delete;

  // Sets the receiver of the packets to this network; the longest prefix counts. Packets to no
  // network are the forwarder's in IPv4 and the kernel's in IPv6. Returns false if there is no
  // space.
  [[nodiscard]] bool Set(const wire::IpPrefix& network, Taker taker);
  void Remove(const wire::IpPrefix& network);  // absent: no error

  // Discards copies of these families, and no others, from this call on. Throws SystemError.
  void Discard(const std::set<wire::Family>& families);

  // Attaches the program to these interfaces of the namespace, and detaches it from all others. An
  // interface that no longer exists, or takes no program, is left out.
  void AttachTo(int namespace_fd, const std::set<int>& ifindexes);

  // Returns what the program does with a frame that arrives on an interface of the calling thread's
  // namespace (BPF_PROG_TEST_RUN). For tests.
  Verdict Try(int ifindex, wire::ConstBytes frame) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::bpf
