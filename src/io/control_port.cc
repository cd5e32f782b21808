#include "io/control_port.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/poller.h"
#include "io/control_socket.h"
#include "wire/ethernet.h"
#include "wire/ip.h"
#include "wire/layers.h"
#include "wire/transport.h"

namespace viaduct::io {
namespace {

constexpr size_t kBurst = 32;
constexpr size_t kSlotBytes = kHeaderRoom + 65536;  // the longest IP packet
constexpr size_t kControlBytes = 160;

// What a frame needs to be sent. Nothing when no socket could express it.
struct Demand {
  ControlClaim claim;
  wire::IpLayers layers;
};

std::optional<Demand> DemandOf(FrameToSend frame) {
  const auto ethernet = wire::EthernetHeader::Parse(frame);
  if (!ethernet) return std::nullopt;
  if (ethernet->type != wire::ether_type::kIpv4 && ethernet->type != wire::ether_type::kIpv6) {
    return Demand{{ControlClaim::Kind::kEtherType, wire::Family::kIpv4, ethernet->type}, {}};
  }
  const auto layers = wire::FindIpLayers(frame);
  if (!layers || layers->fragment || layers->extension_headers) return std::nullopt;
  if (layers->protocol != wire::ip_protocol::kUdp) {
    return Demand{{ControlClaim::Kind::kRawIp, layers->family, layers->protocol}, *layers};
  }
  const auto udp =
      wire::UdpHeader::Parse(frame.subspan(layers->transport, layers->end - layers->transport));
  if (!udp) return std::nullopt;
  return Demand{{ControlClaim::Kind::kUdp, layers->family, udp->source_port}, *layers};
}

}  // namespace

class ControlPort::Impl {
 public:
  Impl(const ControlOptions& options, Opener opener)
      : options_(options),
        opener_(std::move(opener)),
        memory_(std::make_unique_for_overwrite<std::byte[]>(kBurst * kSlotBytes)) {
    for (size_t i = 0; i < kBurst; ++i) {
      parts_[i] = {memory_.get() + i * kSlotBytes + kHeaderRoom, kSlotBytes - kHeaderRoom};
    }
  }

  int Fd() const { return poller_.fd(); }
  PortCounters Counters() const { return counters_; }
  bool Has(const ControlClaim& claim) const { return sockets_.contains(Canonical(claim)); }

  void Add(const ControlClaim& wanted, UniqueFd descriptor) {
    const ControlClaim claim = Canonical(wanted);
    auto socket = std::make_unique<ControlSocket>(claim, std::move(descriptor), options_);
    for (const wire::IpAddress& group : groups_) JoinOrThrow(*socket, group);
    Remove(claim);
    poller_.Add(socket->fd(), reinterpret_cast<uintptr_t>(socket.get()));
    sockets_[claim] = std::move(socket);
    refused_.erase(claim);
  }

  void JoinMulticast(const wire::IpAddress& group) {
    for (const auto& [claim, socket] : sockets_) JoinOrThrow(*socket, group);
    groups_.push_back(group);
  }

  size_t Receive(std::span<ReceivedFrame> frames) {
    size_t count = 0;
    size_t slots_used = 0;
    for (const epoll_event& event : poller_.Wait(Duration())) {
      if (count == frames.size()) break;
      auto& socket = *reinterpret_cast<ControlSocket*>(event.data.u64);
      count += ReceiveFrom(socket, frames.subspan(count), slots_used);
    }
    counters_.rx_frames += count;
    return count;
  }

  size_t Transmit(std::span<const FrameToSend> frames) {
    size_t taken = 0;
    for (const FrameToSend frame : frames) {
      const auto demand = DemandOf(frame);
      ControlSocket* const socket = demand ? FindOrOpen(demand->claim) : nullptr;
      if (socket == nullptr) {
        ++counters_.tx_dropped_unclaimed;
        ++taken;
        continue;
      }
      int error = EINTR;
      while (error == EINTR) error = socket->Send(frame, demand->layers);
      if (error == EAGAIN) break;
      ++taken;
      if (error != 0) {
        ++counters_.tx_dropped_error;
        continue;
      }
      ++counters_.tx_frames;
      counters_.tx_bytes += frame.size();
    }
    return taken;
  }

 private:
  // EtherTypes have no family: all callers mean the same claim whatever they wrote there.
  static ControlClaim Canonical(ControlClaim claim) {
    if (claim.kind == ControlClaim::Kind::kEtherType) claim.family = wire::Family::kIpv4;
    return claim;
  }

  static void JoinOrThrow(ControlSocket& socket, const wire::IpAddress& group) {
    if (const int error = socket.Join(group); error != 0) {
      throw SystemError(fmt::format("join of multicast group {}", group.ToString()), error);
    }
  }

  void Remove(const ControlClaim& claim) {
    const auto found = sockets_.find(claim);
    if (found == sockets_.end()) return;
    // Closing is not enough: who made the socket may still hold it open.
    poller_.Remove(found->second->fd());
    sockets_.erase(found);
  }

  ControlSocket* FindOrOpen(const ControlClaim& claim) {
    if (const auto found = sockets_.find(claim); found != sockets_.end()) {
      return found->second.get();
    }
    if (opener_ == nullptr || refused_.contains(claim)) return nullptr;
    UniqueFd descriptor = opener_(claim);
    if (!descriptor) {
      // The opener may have called AddSocket itself.
      const auto found = sockets_.find(claim);
      if (found != sockets_.end()) return found->second.get();
      refused_.insert(claim);
      return nullptr;
    }
    Add(claim, std::move(descriptor));
    return sockets_.at(claim).get();
  }

  // Messages of one socket, into the memory slots from `slots_used` on.
  size_t ReceiveFrom(ControlSocket& socket, std::span<ReceivedFrame> frames, size_t& slots_used) {
    const size_t first = slots_used;
    const size_t burst = std::min(frames.size(), kBurst - first);
    if (burst == 0) return 0;
    for (size_t i = first; i < first + burst; ++i) {
      msghdr& message = messages_[i].msg_hdr;
      message = {};
      message.msg_name = &names_[i];
      message.msg_namelen = sizeof(names_[i]);
      message.msg_iov = &parts_[i];
      message.msg_iovlen = 1;
      message.msg_control = controls_[i].bytes;
      message.msg_controllen = kControlBytes;
    }
    const int received = recvmmsg(socket.fd(), &messages_[first], static_cast<unsigned>(burst),
                                  MSG_DONTWAIT, nullptr);
    size_t count = 0;
    for (int i = 0; i < received; ++i, ++slots_used) {
      const mmsghdr& message = messages_[slots_used];
      if ((message.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
        ++counters_.rx_dropped_truncated;
        continue;
      }
      const std::span<std::byte> frame = socket.FrameOf(
          message.msg_hdr, message.msg_len, {memory_.get() + slots_used * kSlotBytes, kSlotBytes},
          counters_.rx_dropped_ring_full);
      if (frame.empty()) continue;
      frames[count] = {};
      frames[count].bytes = frame;
      counters_.rx_bytes += frame.size();
      ++count;
    }
    return count;
  }

  struct ControlBuffer {
    alignas(cmsghdr) std::byte bytes[kControlBytes];
  };

  ControlOptions options_;
  Opener opener_;
  Poller poller_;
  std::map<ControlClaim, std::unique_ptr<ControlSocket>> sockets_;
  std::set<ControlClaim> refused_;
  std::vector<wire::IpAddress> groups_;
  std::unique_ptr<std::byte[]> memory_;
  std::array<iovec, kBurst> parts_{};
  std::array<mmsghdr, kBurst> messages_{};
  std::array<sockaddr_storage, kBurst> names_{};
  std::array<ControlBuffer, kBurst> controls_{};
  PortCounters counters_;
};

ControlPort::ControlPort(const ControlOptions& options, Opener opener)
    : impl_(std::make_unique<Impl>(options, std::move(opener))) {}
ControlPort::ControlPort(ControlPort&&) noexcept = default;
ControlPort& ControlPort::operator=(ControlPort&&) noexcept = default;
ControlPort::~ControlPort() = default;

void ControlPort::AddSocket(const ControlClaim& claim, UniqueFd socket) {
  impl_->Add(claim, std::move(socket));
}
bool ControlPort::HasSocket(const ControlClaim& claim) const { return impl_->Has(claim); }
void ControlPort::JoinMulticast(const wire::IpAddress& group) { impl_->JoinMulticast(group); }
size_t ControlPort::Receive(std::span<ReceivedFrame> frames) { return impl_->Receive(frames); }
size_t ControlPort::Transmit(std::span<const FrameToSend> frames) {
  return impl_->Transmit(frames);
}
int ControlPort::Fd() { return impl_->Fd(); }
PortCounters ControlPort::Counters() { return impl_->Counters(); }

}  // namespace viaduct::io
