// Spares a node's kernel its copies of the frames that a forwarder in userspace takes (copy.bpf.c).
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "sys/bpf/object.h"

namespace viaduct::bpf {

// Why this build or machine cannot do it; empty: it can. Tries it: needs root.
std::string WhyNoCopyFilter();

// A node's program at the ingress of its interfaces, behind their packet sockets. It ends with this
// object or this process, and nothing is pinned; so the kernel must have tcx (Linux 6.6), as a
// program at clsact would stay behind with networks that nobody keeps. For use by one thread.
class CopyFilter {
 public:
  static constexpr size_t kMaxNetworks = 16384;  // of a family; only what is set takes memory

  enum class Taker { kKernel, kForwarder };

  // Discards nothing yet. Throws EnvironmentError if the build or the kernel cannot do it.
  // `most_networks`: of a family.
  explicit CopyFilter(size_t most_networks = kMaxNetworks);
  ~CopyFilter();
  CopyFilter(const CopyFilter&) = delete;
  CopyFilter& operator=(const CopyFilter&) = delete;

  // Whose the packets to this network are; the longest prefix counts. What is in none is the
  // forwarder's in IPv4 and the kernel's in IPv6. Returns false if there is no room.
  [[nodiscard]] bool Set(const wire::IpPrefix& network, Taker taker);
  void Remove(const wire::IpPrefix& network);  // absent: no error

  // From now on copies of these families are discarded, and no others. Throws SystemError.
  void Discard(const std::set<wire::Family>& families);

  // Is at these interfaces of the namespace from now on, and at no others. One that is gone, or
  // takes no program, is left out.
  void AttachTo(int namespace_fd, const std::set<int>& ifindexes);

  // What the program does with a frame that comes in on an interface of the calling thread's
  // namespace (BPF_PROG_TEST_RUN). For tests.
  Verdict Try(int ifindex, wire::ConstBytes frame) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::bpf
