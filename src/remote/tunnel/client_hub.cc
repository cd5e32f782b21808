#include "remote/tunnel/client_hub.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "remote/tunnel/socket_shares.h"

namespace viaduct::tunnel {
namespace {

using wire::VxlanHeader;

std::vector<std::unique_ptr<Underlay>> OpenSockets(const std::vector<RemoteNode>& nodes,
                                                   const ClientHub::Options& options) {
  Underlay::Options settings;
  settings.address = options.address;
  settings.port = options.port;
  settings.max_datagram = LongestFrame(nodes) + VxlanHeader::kSize;
  settings.socket = options.inner_socket;
  std::vector<std::unique_ptr<Underlay>> sockets;
  sockets.reserve(std::max<size_t>(1, options.readers));
  sockets.push_back(std::make_unique<Underlay>(settings));
  while (options.inner_socket < 0 && sockets.size() < options.readers) {
    settings.beside = sockets.front().get();
    sockets.push_back(std::make_unique<Underlay>(settings));
  }
  if (sockets.size() > 1) SpreadByVni(*sockets.front(), sockets.size());
  return sockets;
}

std::vector<Underlay*> PointersTo(const std::vector<std::unique_ptr<Underlay>>& sockets) {
  std::vector<Underlay*> pointers(sockets.size());
  std::ranges::transform(sockets, pointers.begin(), [](const auto& each) { return each.get(); });
  return pointers;
}

}  // namespace

ClientHub::ClientHub(std::vector<RemoteNode> nodes, const Options& options)
    : sockets_(OpenSockets(nodes, options)),
      intake_(std::move(nodes), options.waiting_frames, underlay().port()),
      sent_(intake_.nodes().size()) {
  if (options.shares) ShareSockets();
  for (size_t i = 0; i < intake_.nodes().size(); ++i) {
    const auto& address = intake_.nodes()[i].address;
    if (address) Claim(i, *address);
  }
  if (options.inner_socket >= 0) {
    constexpr int kOutsideBuffer = 1 << 20;
    outside_.emplace(Underlay::Options{.address = options.address,
                                       .port = options.port,
                                       .max_datagram = VxlanHeader::kSize,
                                       .buffer = kOutsideBuffer});
  }
  if (options.readers > 0) readers_.emplace(PointersTo(sockets_), intake_);
}

void ClientHub::ShareSockets() {
  std::vector<uint32_t> vnis(nodes().size());
  std::ranges::transform(nodes(), vnis.begin(), [](const RemoteNode& node) { return node.vni; });
  try {
    for (const auto& socket : sockets_) shares_.push_back(&socket->Share(vnis));
    why_unshared_.clear();
  } catch (const Error& error) {  // any error, also SystemError: the hub works without shares
    shares_.clear();
    for (const auto& socket : sockets_) socket->Unshare();
    why_unshared_ = error.what();
  }
  intake_.SetShares(shares_);
}

std::vector<int> ClientHub::Descriptors() const {
  std::vector<int> all;
  all.reserve(sockets_.size() + 3);
  for (const auto& socket : sockets_) all.push_back(socket->fd());
  if (outside_) all.push_back(outside_->fd());
  if (readers_) all.insert(all.end(), {readers_->fd(), readers_->EndFd()});
  return all;
}

bool ClientHub::Read() {
  if (readers_) {
    readers_->Attend();
    return false;
  }
  return sockets_.front()->Receive(
      [this](const Underlay::Message& message) { intake_.Accept(message, splitter_); });
}

void ClientHub::CountOutside() {
  // The maximum number of bursts that one call reads. Further datagrams wait in the socket, or are
  // lost and counted.
  constexpr int kReads = 64;
  const auto reject = [this](const Underlay::Message& message) { intake_.Reject(message); };
  for (int i = 0; outside_ && i < kReads; ++i) {
    if (!outside_->Receive(reject)) return;
  }
}

std::span<std::byte> ClientHub::Reserve(size_t node, size_t length) {
  ClientCounters& counters = sent_[node];
  const auto peer = intake_.ClientOf(node);
  if (!peer) {
    ++counters.tx_dropped_unclaimed;
    return {};
  }
  if (length > nodes()[node].max_frame) {
    ++counters.tx_dropped_too_long;
    return {};
  }
  const std::span<std::byte> room =
      sockets_.front()->Queue(*peer, VxlanHeader::kSize + length, static_cast<uint32_t>(node));
  VxlanHeader{nodes()[node].vni}.Write(room);
  ++counters.tx_frames;
  counters.tx_bytes += length;
  return room.subspan(VxlanHeader::kSize);
}

void ClientHub::Send(size_t node, std::span<const std::byte> frame) {
  const std::span<std::byte> room = Reserve(node, frame.size());
  if (!room.empty()) std::memcpy(room.data(), frame.data(), frame.size());
}

void ClientHub::Flush() {
  sockets_.front()->Flush([this](uint32_t node, size_t bytes) {
    ClientCounters& counters = sent_[node];
    --counters.tx_frames;
    counters.tx_bytes -= bytes - VxlanHeader::kSize;
    ++counters.tx_dropped_refused;
  });
}

void ClientHub::Claim(size_t node, const wire::IpAddress& client, uint16_t port) {
  intake_.Claim(node, Peer(client, port != 0 ? port : underlay().port()));
}

ClientCounters ClientHub::CountersOf(size_t node) const {
  ClientCounters counters = sent_[node];
  static_cast<ArrivalCounters&>(counters) = intake_.CountersOf(node);
  for (const SocketShares* each : shares_) {
    const SocketShares::Refused refused = each->RefusedOf(node);
    counters.rx_dropped_socket_full += refused.lost;
    counters.rx_dropped_spoofed += refused.spoofed;
  }
  return counters;
}

HubCounters ClientHub::counters() const {
  HubCounters all;
  static_cast<DatagramCounters&>(all) = intake_.counters();
  for (const auto& socket : sockets_) all.dropped_socket_full += socket->ReceiveDrops();
  for (const SocketShares* each : shares_) {
    const SocketShares::Foreign refused = each->RefusedForeign();
    all.dropped_malformed += refused.malformed;
    all.dropped_unknown_vni += refused.unknown_vni;
  }
  if (outside_) all.dropped_spoofed = outside_->ReceiveDrops();
  return all;
}

}  // namespace viaduct::tunnel
