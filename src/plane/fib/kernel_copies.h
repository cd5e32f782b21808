// Control of the copies that a node's kernel receives of the frames that a forwarder in userspace
// receives. The kernel gets a copy of each frame, but does not forward.
//
// The kernel receives every copy while it is not known which copies are for it, and as long as its
// configuration may affect packets in other ways than by the node's routes: where there are
// nftables, IPsec policies, rules of other tables, or classifiers (tc) at an interface.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plane/bpf/copy_filter.h"
#include "plane/forward/entry.h"
#include "sys/network/change_monitor.h"
#include "sys/network/link.h"

namespace viaduct::fib {

// For use by one thread.
class KernelCopies {
 public:
  // The namespace must outlive this. Where there is no eBPF, the kernel always receives every copy.
  explicit KernelCopies(int namespace_fd);

  // Passes every copy to the kernel until Resume().
  void Suspend();
  // Writes an entry of the forwarder's table, before it is written there; kNone: removes it.
  void Write(const wire::IpPrefix& destination, forward::Kind kind);
  // Discards copies again, as all entries are equal to the kernel's routes: from this call on, the
  // kernel receives only the copies that it may need of frames that arrive on these interfaces, and
  // all copies of frames that arrive on others.
  void Resume(sys::Netlink& session, const std::set<int>& ifindexes);

  // Returns a descriptor that is readable when TakeEvents() must be called; -1: never.
  int EventFd() const { return packet_rules_ ? packet_rules_->fd() : -1; }
  // Returns whether Resume() may now decide otherwise.
  bool TakeEvents() { return packet_rules_ && packet_rules_->Read().any(); }

 private:
  using Taker = bpf::CopyFilter::Taker;
  std::set<wire::Family> Discarded(sys::Netlink& session, const std::set<int>& ifindexes) const;
  void Put(const wire::IpPrefix& destination, std::optional<Taker> taker);

  int namespace_fd_;
  std::optional<bpf::CopyFilter> filter_;
  std::optional<sys::ChangeMonitor> packet_rules_;
  std::map<wire::IpPrefix, Taker> known_;  // the entries of the filter
  std::set<wire::Family> full_;            // families whose entries did not all fit
};

}  // namespace viaduct::fib
