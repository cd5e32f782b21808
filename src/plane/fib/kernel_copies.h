// What a node's kernel is spared of the frames that a forwarder in userspace takes: it gets a copy
// of each, and does not forward.
//
// It gets every copy while it is not known which are its own, and as long as somebody may do more
// to packets there than the node's routes say: where there are nftables, IPsec policies, rules of
// other tables, or classifiers (tc) at an interface.
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
  // The namespace must outlive this. Where there is no eBPF, the kernel gets every copy always.
  explicit KernelCopies(int namespace_fd);

  // From now on the kernel gets every copy.
  void Suspend();
  // An entry of the forwarder's table, before it is written there; kNone: it is removed.
  void Write(const wire::IpPrefix& destination, forward::Kind kind);
  // All entries are as the kernel's routes: from now on it gets only what it may need of what comes
  // in on these interfaces, and all of what comes in on others.
  void Resume(sys::Netlink& session, const std::set<int>& ifindexes);

  // Readable when TakeEvents() shall be called; -1: never.
  int EventFd() const { return packet_rules_ ? packet_rules_->fd() : -1; }
  // Whether Resume() may now decide otherwise.
  bool TakeEvents() { return packet_rules_ && packet_rules_->Read().any(); }

 private:
  using Taker = bpf::CopyFilter::Taker;
  std::set<wire::Family> Discarded(sys::Netlink& session, const std::set<int>& ifindexes) const;
  void Put(const wire::IpPrefix& destination, std::optional<Taker> taker);

  int namespace_fd_;
  std::optional<bpf::CopyFilter> filter_;
  std::optional<sys::ChangeMonitor> packet_rules_;
  std::map<wire::IpPrefix, Taker> known_;  // as in the filter
  std::set<wire::Family> full_;            // of which the filter does not have all
};

}  // namespace viaduct::fib
