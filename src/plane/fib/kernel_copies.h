// Controls which copies a node's kernel receives of the frames that a forwarder in userspace
// receives. The kernel can get a copy of each frame, but does not forward packets.
//
// The kernel receives every copy while it is not known which copies are for the kernel. The kernel
// also receives every copy as long as its configuration may affect packets by more than the node's
// routes: by nftables, IPsec policies, rules of other tables, or classifiers (tc) at an interface.
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

// Controls which copies the kernel receives: writes the forwarder's table into the filter program
// (bpf::CopyFilter), and suspends and resumes the discarding of copies. For use by one thread.
class KernelCopies {
 public:
  // The namespace must outlive this object. If eBPF is not available, the kernel always receives
  // every copy.
  explicit KernelCopies(int namespace_fd);

  // Passes every copy to the kernel until Resume().
  void Suspend();
  // Writes an entry of the forwarder's table into the filter; removes the entry if its kind is
  // kNone. Must be called before the entry is written to the forwarder's table.
  void Write(const wire::IpPrefix& destination, forward::Kind kind);
  // Discards copies again. Must be called only when all entries are equal to the kernel's routes.
  // After this call the kernel receives all copies of frames that arrive on other interfaces, but
  // of frames that arrive on these interfaces only the copies that it may need.
  void Resume(sys::Netlink& session, const std::set<int>& ifindexes);

  // Returns a descriptor that is readable when TakeEvents() must be called; -1: never.
  int EventFd() const { return packet_rules_ ? packet_rules_->fd() : -1; }
  // Reads the events of EventFd(). Returns whether the kernel's configuration has changed, so that
  // Resume() may have another effect than before.
  bool TakeEvents() { return packet_rules_ && packet_rules_->Read().any(); }

 private:
  using Taker = bpf::CopyFilter::Taker;
  std::set<wire::Family> Discarded(sys::Netlink& session, const std::set<int>& ifindexes) const;
  void Put(const wire::IpPrefix& destination, std::optional<Taker> taker);

  int namespace_fd_;
  std::optional<bpf::CopyFilter> filter_;
  std::optional<sys::ChangeMonitor> packet_rules_;
  std::map<wire::IpPrefix, Taker> known_;  // the entries of the filter
  std::set<wire::Family> full_;            // families for which the filter has been full
};

}  // namespace viaduct::fib
