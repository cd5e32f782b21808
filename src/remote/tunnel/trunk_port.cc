#include "remote/tunnel/trunk_port.h"

#include <algorithm>
#include <cstring>

#include "base/realtime.h"
#include "base/wire/bytes.h"
#include "base/wire/ethernet.h"

namespace viaduct::tunnel {
namespace {

// The number of bursts that are read before frames are taken: an overloaded hub must see the frames
// of all its clients.
constexpr int kReads = 4;
constexpr size_t kAddresses = 12;  // bytes of a frame before its tag
constexpr size_t kTag = wire::VlanTag::kSize;

size_t LongestFrameOf(SharedHub& shared) {
  const size_t least = wire::EthernetHeader::kSize + kTag;
  return shared.With(
      [&](const ClientHub& hub) { return std::max(least, LongestFrame(hub.nodes())); });
}

}  // namespace

TrunkPort::TrunkPort(std::shared_ptr<SharedHub> hub)
    : hub_(std::move(hub)), mtu_(0), room_(LongestFrameOf(*hub_) + kTag) {
  // The MTU excludes a VLAN tag of the client's frame, which is not part of the payload.
  mtu_ = static_cast<uint32_t>(room_ - kTag - wire::EthernetHeader::kSize - kTag);
  memory_ = std::make_unique_for_overwrite<std::byte[]>(kBurst * room_);
  refused_.reserve(kBurst);
}

size_t TrunkPort::Receive(std::span<io::ReceivedFrame> frames) {
  const size_t most = std::min(frames.size(), kBurst);
  return hub_->With([&](ClientHub& hub) {
    for (int i = 0; i < kReads && hub.Read(); ++i) {
    }
    if (!hub.HasWaiting()) return size_t{0};
    const Instant now = RealtimeNow();
    size_t count = 0;
    while (count < most) {
      const auto arrival = hub.Take(now);
      if (!arrival) break;
      std::byte* const to = memory_.get() + count * room_;
      std::memcpy(to, arrival->frame.data(), kAddresses);
      wire::Store16(to + kAddresses, wire::ether_type::kVlan);
      wire::Store16(to + kAddresses + 2, ChannelOf(arrival->node));
      const auto rest = arrival->frame.subspan(kAddresses);
      std::memcpy(to + kAddresses + kTag, rest.data(), rest.size());
      frames[count] = {};
      frames[count].bytes = {to, arrival->frame.size() + kTag};
      frames[count].received = arrival->received;
      ++count;
    }
    return count;
  });
}

bool TrunkPort::Send(ClientHub& hub, io::FrameToSend frame) const {
  if (frame.size() < kAddresses + kTag) return false;
  const size_t channel = wire::Load16(frame.data() + kAddresses + 2) & 0xfff;
  if (channel == 0 || channel > hub.nodes().size()) return false;
  const auto room = hub.Reserve(channel - 1, frame.size() - kTag);
  if (room.empty()) return false;
  std::memcpy(room.data(), frame.data(), kAddresses);
  const auto rest = frame.subspan(kAddresses + kTag);
  std::memcpy(room.data() + kAddresses, rest.data(), rest.size());
  return true;
}

size_t TrunkPort::Transmit(std::span<const io::FrameToSend> frames) {
  refused_.clear();
  hub_->With([&](ClientHub& hub) {
    for (size_t i = 0; i < frames.size(); ++i) {
      if (!Send(hub, frames[i])) refused_.push_back(static_cast<uint32_t>(i));
    }
    hub.Flush();
  });
  return frames.size();
}

io::PortCounters TrunkPort::Counters() {
  return hub_->With([](const ClientHub& hub) {
    io::PortCounters sum;
    for (size_t i = 0; i < hub.nodes().size(); ++i) {
      const ClientCounters& client = hub.CountersOf(i);
      sum.rx_frames += client.rx_frames;
      sum.rx_bytes += client.rx_bytes;
      sum.tx_frames += client.tx_frames;
      sum.tx_bytes += client.tx_bytes;
      sum.rx_dropped_ring_full += client.rx_dropped_socket_full + client.rx_dropped_overload;
      sum.rx_dropped_truncated += client.rx_dropped_too_long;
      sum.tx_dropped_error += client.tx_dropped_refused;
    }
    sum.rx_dropped_ring_full += hub.counters().dropped_socket_full;
    return sum;
  });
}

}  // namespace viaduct::tunnel
