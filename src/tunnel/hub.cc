#include "tunnel/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "tunnel/inner_frame.h"
#include "wire/ethernet.h"

namespace viaduct::tunnel {
namespace {

using wire::VxlanHeader;

size_t LongestFrame(const std::vector<RemoteNode>& nodes) {
  size_t longest = wire::EthernetHeader::kSize;
  for (const RemoteNode& node : nodes) longest = std::max(longest, node.max_frame);
  return longest;
}

}  // namespace

Hub::Hub(std::vector<RemoteNode> nodes, const Options& options)
    : nodes_(std::move(nodes)),
      clients_(nodes_.size()),
      underlay_({.address = options.address,
                 .port = options.port,
                 .max_datagram = LongestFrame(nodes_) + VxlanHeader::kSize}),
      queue_({.clients = nodes_.size(),
              .frames = options.waiting_frames,
              .max_frame = LongestFrame(nodes_)}) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const uint32_t vni = nodes_[i].vni;
    if (vni == 0 || vni > VxlanHeader::kMostVni) {
      throw UsageError(fmt::format("node {}: VNI {} is not one of 1 to {}", nodes_[i].name, vni,
                                   VxlanHeader::kMostVni));
    }
    if (by_vni_.size() <= vni) by_vni_.resize(vni + 1);
    if (by_vni_[vni] != 0) {
      throw UsageError(fmt::format("nodes {} and {} have one VNI, {}",
                                   nodes_[by_vni_[vni] - 1].name, nodes_[i].name, vni));
    }
    by_vni_[vni] = static_cast<uint32_t>(i + 1);
    if (nodes_[i].address) Claim(i, *nodes_[i].address);
  }
}

bool Hub::Read() {
  return underlay_.Receive([this](const Underlay::Message& message) { Accept(message); });
}

void Hub::Accept(const Underlay::Message& message) {
  std::span<std::byte> rest = message.bytes;
  do {
    const auto header = VxlanHeader::Parse(rest);
    const auto frame = rest.subspan(std::min(rest.size(), VxlanHeader::kSize));
    const bool is_super = message.segment > 0 && header && IsSuperFrame(frame, message.segment);
    const size_t size =
        message.segment == 0 || is_super ? rest.size() : std::min(rest.size(), message.segment);
    ++counters_.datagrams;
    const uint32_t number = header && header->vni < by_vni_.size() ? by_vni_[header->vni] : 0;
    if (!header) {
      ++counters_.dropped_malformed;
    } else if (number == 0) {
      ++counters_.dropped_unknown_vni;
    } else {
      const size_t node = number - 1;
      Client& client = clients_[node];
      if (!client.peer && nodes_[node].anyone) {
        client.peer = message.source.WithPort(underlay_.port());
      }
      if (client.peer && client.peer->SameHost(message.source)) {
        AcceptFrame(node, frame.first(size - VxlanHeader::kSize), is_super ? message.segment : 0,
                    message.received);
      } else {
        ++client.counters.rx_dropped_spoofed;
      }
    }
    rest = rest.subspan(size);
  } while (!rest.empty());
}

void Hub::AcceptFrame(size_t node, std::span<std::byte> frame, size_t segment, Instant received) {
  ClientCounters& counters = clients_[node].counters;
  if (frame.size() < wire::EthernetHeader::kSize) {
    ++counters.rx_dropped_malformed;
    return;
  }
  if (segment == 0 && frame.size() > nodes_[node].max_frame) {
    segment = SegmentOfTcp(frame, nodes_[node].max_frame - nodes_[node].tag_room);
  }
  const auto push = [&](std::span<const std::byte> each) {
    if (each.size() > nodes_[node].max_frame) {
      ++counters.rx_dropped_too_long;
    } else if (const auto loser = queue_.Push(node, each, received)) {
      ++clients_[*loser].counters.rx_dropped_overload;
    }
  };
  if (!splitter_.Split(DescribeInnerFrame(frame, segment, received), push)) {
    ++counters.rx_dropped_malformed;
  }
}

std::optional<Hub::Arrival> Hub::Take(Instant now) {
  const auto frame = queue_.Pop();
  if (!frame) return std::nullopt;
  ClientCounters& counters = clients_[frame->client].counters;
  ++counters.rx_frames;
  counters.rx_bytes += frame->bytes.size();
  const Duration waited = std::max(Duration(), now - frame->received);
  counters.waited += waited;
  counters.longest_wait = std::max(counters.longest_wait, waited);
  return Arrival{frame->client, frame->bytes, frame->received};
}

std::span<std::byte> Hub::Reserve(size_t node, size_t length) {
  Client& client = clients_[node];
  if (!client.peer) {
    ++client.counters.tx_dropped_unclaimed;
    return {};
  }
  if (length > nodes_[node].max_frame) {
    ++client.counters.tx_dropped_too_long;
    return {};
  }
  const std::span<std::byte> room =
      underlay_.Queue(*client.peer, VxlanHeader::kSize + length, static_cast<uint32_t>(node));
  VxlanHeader{nodes_[node].vni}.Write(room);
  ++client.counters.tx_frames;
  client.counters.tx_bytes += length;
  return room.subspan(VxlanHeader::kSize);
}

void Hub::Send(size_t node, std::span<const std::byte> frame) {
  const std::span<std::byte> room = Reserve(node, frame.size());
  if (!room.empty()) std::memcpy(room.data(), frame.data(), frame.size());
}

void Hub::Flush() {
  underlay_.Flush([this](uint32_t node, size_t bytes) {
    ClientCounters& counters = clients_[node].counters;
    --counters.tx_frames;
    counters.tx_bytes -= bytes - VxlanHeader::kSize;
    ++counters.tx_dropped_refused;
  });
}

void Hub::Claim(size_t node, const wire::IpAddress& client, uint16_t port) {
  clients_[node].peer = Peer(client, port != 0 ? port : underlay_.port());
}

void Hub::Release(size_t node) { clients_[node].peer.reset(); }

std::optional<Peer> Hub::ClientOf(size_t node) const { return clients_[node].peer; }

HubCounters Hub::counters() const {
  HubCounters all = counters_;
  all.dropped_socket_full = underlay_.ReceiveDrops();
  return all;
}

}  // namespace viaduct::tunnel
