#include "plane/fib/kernel_copies.h"

#include "base/error.h"
#include "sys/network/qdisc.h"
#include "sys/network/route_lookup.h"

namespace viaduct::fib {
namespace {

// Returns the receiver of packets to a destination with an entry of this kind; empty: the default
// of CopyFilter for packets without an entry. In IPv4 the forwarder answers packets that it does
// not forward; in IPv6 the kernel does. Packets to the simulator are passed up by the forwarder.
std::optional<bpf::CopyFilter::Taker> TakerOf(wire::Family family, forward::Kind kind) {
  using Taker = bpf::CopyFilter::Taker;
  if (kind == forward::Kind::kNone) return std::nullopt;
  const bool is_kernels = kind == forward::Kind::kLocal || kind == forward::Kind::kBroadcast;
  if (family == wire::Family::kIpv4)
    return is_kernels ? std::optional(Taker::kKernel) : std::nullopt;
  const bool is_passed_on = kind == forward::Kind::kForward || kind == forward::Kind::kUp;
  return is_passed_on ? Taker::kForwarder : Taker::kKernel;
}

}  // namespace

KernelCopies::KernelCopies(int namespace_fd) : namespace_fd_(namespace_fd) {
  try {
    filter_.emplace();
    packet_rules_ = sys::ChangeMonitor::OfPacketRules(namespace_fd);
  } catch (
      const Error&) {  // the kernel itself drops its copies; CopyFilterUnavailable() returns why
    filter_.reset();
  }
}

void KernelCopies::Suspend() {
  if (filter_) filter_->Discard({});
}

void KernelCopies::Write(const wire::IpPrefix& destination, forward::Kind kind) {
  if (filter_) Put(destination, TakerOf(destination.address.family, kind));
}

void KernelCopies::Put(const wire::IpPrefix& destination, std::optional<Taker> taker) {
  const auto known = known_.find(destination);
  if (!taker) {
    if (known == known_.end()) return;
    filter_->Remove(destination);
    known_.erase(known);
  } else if (known == known_.end() || known->second != *taker) {
    // After the filter has been full for a family, it lacks entries that are not written again, so
    // copies of the family's packets are not discarded any more.
    if (full_.contains(destination.address.family)) return;
    if (!filter_->Set(destination, *taker)) {
      full_.insert(destination.address.family);
      Suspend();
      return;
    }
    known_[destination] = *taker;
  }
}

// Returns the families whose copies may be discarded. A family that cannot be queried, such as IPv6
// in a kernel without IPv6, is not among them.
std::set<wire::Family> KernelCopies::Discarded(sys::Netlink& session,
                                               const std::set<int>& ifindexes) const {
  std::set<wire::Family> families;
  try {
    if (sys::HasPacketRules(namespace_fd_)) return {};
    for (const int ifindex : ifindexes) {
      if (sys::HasIngressQdisc(session, ifindex)) return {};
    }
    for (const wire::Family family : {wire::Family::kIpv4, wire::Family::kIpv6}) {
      if (!full_.contains(family) && sys::HasDefaultRules(session, family)) families.insert(family);
    }
  } catch (const SystemError&) {
    return families;
  }
  return families;
}

void KernelCopies::Resume(sys::Netlink& session, const std::set<int>& ifindexes) {
  if (!filter_) return;
  filter_->AttachTo(namespace_fd_, ifindexes);
  filter_->Discard(Discarded(session, ifindexes));
}

}  // namespace viaduct::fib
