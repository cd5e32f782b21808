#include "port/control/control_port.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/error.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/layers.h"
#include "base/wire/transport.h"
#include "port/control/control_socket.h"

namespace viaduct::io {
namespace {

constexpr size_t kBurst = 32;
// The bytes of a slot: free space for headers, and a maximum IP packet.
constexpr size_t kSlotBytes = kHeaderRoom + 65536;
constexpr size_t kControlBytes = 160;

// The claim whose socket must send a frame, and the layers of the frame.
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
  if (!layers) return std::nullopt;
  if (layers->fragment || layers->extension_headers) {
    return Demand{{ControlClaim::Kind::kRawIp, layers->family, kWholePackets}, *layers};
  }
  if (layers->protocol != wire::ip_protocol::kUdp) {
    return Demand{{ControlClaim::Kind::kRawIp, layers->family, layers->protocol}, *layers};
  }
  const auto udp =
      wire::UdpHeader::Parse(frame.subspan(layers->transport, layers->end - layers->transport));
  if (!udp) return std::nullopt;
  return Demand{{ControlClaim::Kind::kUdp, layers->family, udp->source_port}, *layers};
}

// Normalizes the address family in the claim of an EtherType, to which the family does not apply.
ControlClaim Canonical(ControlClaim claim) {
  if (claim.kind == ControlClaim::Kind::kEtherType) claim.family = wire::Family::kIpv4;
  return claim;
}

void JoinOrThrow(ControlSocket& socket, const wire::IpAddress& group) {
  if (const int error = socket.Join(group); error != 0) {
    throw SystemError(fmt::format("join multicast group {}", group.ToString()), error);
  }
}

}  // namespace

// The buffers for a burst of received messages.
struct ControlPort::Messages {
  struct ControlBuffer {
    alignas(cmsghdr) std::byte bytes[kControlBytes];
  };
  struct Slot {
    std::byte bytes[kSlotBytes];
  };

  std::unique_ptr<Slot[]> slots = std::make_unique_for_overwrite<Slot[]>(kBurst);
  std::array<iovec, kBurst> parts{};
  std::array<mmsghdr, kBurst> headers{};
  std::array<sockaddr_storage, kBurst> names{};
  std::array<ControlBuffer, kBurst> controls{};

  // Prepares the slots [first, first + count) for recvmmsg().
  std::span<mmsghdr> Prepare(size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) {
      parts[i] = {slots[i].bytes + kHeaderRoom, kSlotBytes - kHeaderRoom};
      headers[i].msg_hdr = {.msg_name = &names[i],
                            .msg_namelen = sizeof(names[i]),
                            .msg_iov = &parts[i],
                            .msg_iovlen = 1,
                            .msg_control = controls[i].bytes,
                            .msg_controllen = kControlBytes,
                            .msg_flags = 0};
    }
    return std::span(headers).subspan(first, count);
  }
};

ControlPort::ControlPort(const ControlOptions& options, Opener opener)
    : options_(options), opener_(std::move(opener)), messages_(std::make_unique<Messages>()) {}

ControlPort::~ControlPort() = default;

bool ControlPort::HasSocket(const ControlClaim& claim) const {
  return sockets_.contains(Canonical(claim));
}

void ControlPort::AddSocket(const ControlClaim& wanted, UniqueFd descriptor) {
  const ControlClaim claim = Canonical(wanted);
  auto socket = std::make_unique<ControlSocket>(claim, std::move(descriptor), options_);
  for (const wire::IpAddress& group : groups_) JoinOrThrow(*socket, group);
  Remove(claim);
  poller_.Add(socket->fd(), reinterpret_cast<uintptr_t>(socket.get()));
  sockets_[claim] = std::move(socket);
  refused_.erase(claim);
}

void ControlPort::JoinMulticast(const wire::IpAddress& group) {
  for (const auto& [claim, socket] : sockets_) JoinOrThrow(*socket, group);
  groups_.push_back(group);
}

size_t ControlPort::Receive(std::span<ReceivedFrame> frames) {
  size_t count = 0;
  size_t slots_used = 0;
  for (const epoll_event& ready : poller_.Wait(Duration())) {
    if (count == frames.size()) break;
    count += ReceiveFrom(*reinterpret_cast<ControlSocket*>(ready.data.u64), frames.subspan(count),
                         slots_used);
  }
  counters_.rx_frames += count;
  return count;
}

size_t ControlPort::Transmit(std::span<const FrameToSend> frames) {
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

void ControlPort::Remove(const ControlClaim& claim) {
  const auto found = sockets_.find(claim);
  if (found == sockets_.end()) return;
  // The descriptor must be removed from the poller explicitly, because the creator of the socket
  // may still have a duplicate of the descriptor open.
  poller_.Remove(found->second->fd());
  sockets_.erase(found);
}

ControlSocket* ControlPort::FindOrOpen(const ControlClaim& claim) {
  if (const auto found = sockets_.find(claim); found != sockets_.end()) {
    return found->second.get();
  }
  if (opener_ == nullptr || refused_.contains(claim)) return nullptr;
  UniqueFd descriptor = opener_(claim);
  if (!descriptor) {
    // The function `opener_` may have called AddSocket(), so that the port has the socket now.
    const auto found = sockets_.find(claim);
    if (found != sockets_.end()) return found->second.get();
    refused_.insert(claim);
    return nullptr;
  }
  AddSocket(claim, std::move(descriptor));
  return sockets_.at(claim).get();
}

// Receives the messages of one socket into the memory slots, beginning with slot `slots_used`.
size_t ControlPort::ReceiveFrom(ControlSocket& socket, std::span<ReceivedFrame> frames,
                                size_t& slots_used) {
  const size_t burst = std::min(frames.size(), kBurst - slots_used);
  if (burst == 0) return 0;
  const auto messages = messages_->Prepare(slots_used, burst);
  const int received =
      recvmmsg(socket.fd(), messages.data(), static_cast<unsigned>(burst), MSG_DONTWAIT, nullptr);
  size_t count = 0;
  for (int i = 0; i < received; ++i) {
    const mmsghdr& message = messages[static_cast<size_t>(i)];
    auto& slot = messages_->slots[slots_used++];
    if ((message.msg_hdr.msg_flags & MSG_TRUNC) != 0) {
      ++counters_.rx_dropped_truncated;
      continue;
    }
    const std::span<std::byte> frame = socket.FrameOf(message.msg_hdr, message.msg_len, slot.bytes,
                                                      counters_.rx_dropped_ring_full);
    if (frame.empty()) continue;
    frames[count] = {};
    frames[count].bytes = frame;
    counters_.rx_bytes += frame.size();
    ++count;
  }
  return count;
}

}  // namespace viaduct::io
