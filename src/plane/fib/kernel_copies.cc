#include "plane/fib/kernel_copies.h"

#include "base/error.h"
#include "sys/network/qdisc.h"
#include "sys/network/route_lookup.h"

namespace viaduct::fib {
namespace {

// Returns the receiver of packets to a destination whose entry in the forwarder's table is of this
// kind. Returns nothing if the default of CopyFilter, which is for packets without an entry, is
// right. Packets that are not forwarded are answered by the forwarder in IPv4, and by the kernel in
// IPv6. The forwarder passes up the packets for the simulator.
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
    // If the filter has been full for a family, it lacks entries that are not written again, so
    // copies of that family's packets are no longer discarded.
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
