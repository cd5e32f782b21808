#include "remote/tunnel/intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/wire/ethernet.h"
#include "base/wire/vxlan.h"
#include "remote/tunnel/inner_frame.h"
#include "remote/tunnel/socket_shares.h"

namespace viaduct::tunnel {

using wire::VxlanHeader;

size_t LongestFrame(const std::vector<RemoteNode>& nodes) {
  size_t longest = wire::EthernetHeader::kSize;
  for (const RemoteNode& node : nodes) longest = std::max(longest, node.max_frame);
  return longest;
}

Intake::Intake(std::vector<RemoteNode> nodes, size_t waiting_frames, uint16_t port)
    : nodes_(std::move(nodes)),
      port_(port),
      queue_size_(waiting_frames),
      clients_(nodes_.size()),
      queue_(
          {.clients = nodes_.size(), .frames = waiting_frames, .max_frame = LongestFrame(nodes_)}) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const uint32_t vni = nodes_[i].vni;
    if (vni == 0 || vni > VxlanHeader::kMaxVni) {
      throw UsageError(fmt::format("node {}: VNI {} is not in 1..{}", nodes_[i].name, vni,
                                   VxlanHeader::kMaxVni));
    }
    if (by_vni_.size() <= vni) by_vni_.resize(vni + 1);
    if (by_vni_[vni] != 0) {
      throw UsageError(fmt::format("nodes {} and {} have the same VNI {}",
                                   nodes_[by_vni_[vni] - 1].name, nodes_[i].name, vni));
    }
    by_vni_[vni] = static_cast<uint32_t>(i + 1);
  }
}

void Intake::SetShares(std::vector<SocketShares*> shares) {
  shares_ = std::move(shares);
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < nodes_.size(); ++i) SetClient(i, clients_[i].peer);
}

void Intake::SetClient(size_t node, std::optional<Peer> peer) {
  clients_[node].peer = peer;
  for (SocketShares* each : shares_) {
    if (peer) {
      each->SetClient(node, *peer);
    } else if (nodes_[node].anyone) {
      each->SetAnyone(node);
    } else {
      each->SetUnclaimed(node);
    }
  }
}

void Intake::SetLimit(size_t node, std::optional<size_t> frames) {
  for (SocketShares* each : shares_) each->SetLimit(node, frames);
}

// Sets the client's limits in the sockets if clients are served in turns. As long as frames are
// served in order of arrival, there are no limits, so that the socket's buffer can take a burst.
void Intake::TellRoom(size_t node) {
  if (shares_.empty()) return;
  if (queue_.is_fair()) {
    SetLimit(node, queue_.RoomOf(node));
    has_limits_ = true;
  } else if (has_limits_) {
    for (size_t each = 0; each < nodes_.size(); ++each) SetLimit(each, std::nullopt);
    has_limits_ = false;
  }
}

namespace {

// Whether the message has a VXLAN header at the offset `segment`, regardless of the length that the
// preceding frame states. The reserved bits of the header must be zero, as senders set them, so
// that payload is very rarely mistaken for a header.
bool IsNextDatagram(std::span<const std::byte> message, size_t segment) {
  if (message.size() < segment + VxlanHeader::kSize) return false;
  const auto next = message.subspan(segment, VxlanHeader::kSize);
  const auto header = VxlanHeader::Parse(next);
  std::array<std::byte, VxlanHeader::kSize> plain;
  if (header) header->Write(plain);
  return header && std::ranges::equal(next, plain);
}

}  // namespace

void Intake::Accept(const Underlay::Message& message, io::SuperFrameSplitter& splitter) {
  const MutexLock lock(mutex_);
  std::span<std::byte> rest = message.bytes;
  do {
    const auto frame = rest.subspan(std::min(rest.size(), VxlanHeader::kSize));
    const bool is_super = message.segment > 0 && VxlanHeader::Parse(rest) &&
                          !IsNextDatagram(rest, message.segment) &&
                          IsSuperFrame(frame, message.segment);
    const size_t size =
        message.segment == 0 || is_super ? rest.size() : std::min(rest.size(), message.segment);
    AcceptDatagram(rest.first(size), is_super ? message.segment : 0, message, splitter);
    rest = rest.subspan(size);
  } while (!rest.empty());
}

void Intake::Reject(const Underlay::Message& message) {
  const MutexLock lock(mutex_);
  std::span<std::byte> rest = message.bytes;
  do {
    const size_t size = message.segment == 0 ? rest.size() : std::min(rest.size(), message.segment);
    if (const auto node = CountDatagram(rest.first(size))) {
      ++clients_[*node].counters.rx_dropped_spoofed;
    }
    rest = rest.subspan(size);
  } while (!rest.empty());
}

std::optional<size_t> Intake::CountDatagram(std::span<const std::byte> bytes) {
  ++counters_.datagrams;
  const auto header = VxlanHeader::Parse(bytes);
  if (!header) {
    ++counters_.dropped_malformed;
    return std::nullopt;
  }
  const uint32_t number = header->vni < by_vni_.size() ? by_vni_[header->vni] : 0;
  if (number == 0) {
    ++counters_.dropped_unknown_vni;
    return std::nullopt;
  }
  return number - 1;
}

void Intake::AcceptDatagram(std::span<std::byte> bytes, size_t segment,
                            const Underlay::Message& message, io::SuperFrameSplitter& splitter) {
  const auto node = CountDatagram(bytes);
  if (!node) return;
  Client& client = clients_[*node];
  if (!client.peer && nodes_[*node].anyone) SetClient(*node, message.source.WithPort(port_));
  if (client.peer && client.peer->SameHost(message.source)) {
    AcceptFrame(*node, bytes.subspan(VxlanHeader::kSize), segment, message.received, splitter);
  } else {
    ++client.counters.rx_dropped_spoofed;
  }
}

void Intake::AcceptFrame(size_t node, std::span<std::byte> frame, size_t segment, Instant received,
                         io::SuperFrameSplitter& splitter) {
  ArrivalCounters& counters = clients_[node].counters;
  if (frame.size() < wire::EthernetHeader::kSize) {
    ++counters.rx_dropped_malformed;
    return;
  }
  if (segment == 0 && frame.size() > nodes_[node].max_frame) {
    segment = SegmentOfTcp(frame, nodes_[node].max_frame - nodes_[node].tag_room);
  }
  size_t too_long = 0;
  // The lambda is not analyzed: clang does not see that Split() calls it while the mutex is held.
  const auto push = [&](std::span<const std::byte> each)
                        VIADUCT_THREAD_SAFETY(no_thread_safety_analysis) {
                          if (each.size() > nodes_[node].max_frame) {
                            ++too_long;
                          } else if (const auto loser = queue_.Push(node, each, received)) {
                            ++clients_[*loser].counters.rx_dropped_overload;
                            TellRoom(*loser);
                          }
                        };
  if (!splitter.Split(DescribeInnerFrame(frame, segment, received), push)) {
    ++counters.rx_dropped_malformed;
  }
  counters.rx_dropped_too_long += too_long;
  TellRoom(node);
}

std::optional<Intake::Arrival> Intake::Take(Instant now) {
  const MutexLock lock(mutex_);
  const auto frame = queue_.Pop();
  if (!frame) return std::nullopt;
  TellRoom(frame->client);
  ArrivalCounters& counters = clients_[frame->client].counters;
  ++counters.rx_frames;
  counters.rx_bytes += frame->bytes.size();
  const Duration waited = std::max(Duration(), now - frame->received);
  counters.waited += waited;
  counters.longest_wait = std::max(counters.longest_wait, waited);
  return Arrival{frame->client, frame->bytes, frame->received};
}

bool Intake::HasWaiting() const {
  const MutexLock lock(mutex_);
  return !queue_.empty();
}

bool Intake::IsOverloaded() const {
  const MutexLock lock(mutex_);
  return queue_.is_fair();
}

void Intake::Claim(size_t node, const Peer& client) {
  const MutexLock lock(mutex_);
  SetClient(node, client);
}

void Intake::Release(size_t node) {
  const MutexLock lock(mutex_);
  SetClient(node, std::nullopt);
}

std::optional<Peer> Intake::ClientOf(size_t node) const {
  const MutexLock lock(mutex_);
  return clients_[node].peer;
}

ArrivalCounters Intake::CountersOf(size_t node) const {
  const MutexLock lock(mutex_);
  return clients_[node].counters;
}

DatagramCounters Intake::counters() const {
  const MutexLock lock(mutex_);
  return counters_;
}

size_t Intake::WaitingOf(size_t node) const {
  const MutexLock lock(mutex_);
  return queue_.SizeOf(node);
}

}  // namespace viaduct::tunnel
