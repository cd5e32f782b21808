#include "guest/virtio/net_backend.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace viaduct::guest {
namespace {

constexpr uint64_t Bit(int number) { return uint64_t{1} << number; }

// The offered features: VIRTIO_NET_F_MAC, VIRTIO_NET_F_MRG_RXBUF, VHOST_USER_F_PROTOCOL_FEATURES
// and VIRTIO_F_VERSION_1.
constexpr uint64_t kFeatures = Bit(5) | Bit(15) | Bit(30) | Bit(32);
constexpr uint64_t kStatusFeature = Bit(16);  // the feature VIRTIO_NET_F_STATUS
// The offered protocol features: VHOST_USER_PROTOCOL_F_REPLY_ACK, _SLAVE_REQ, _CONFIG and
// _INBAND_NOTIFICATIONS.
constexpr uint64_t kProtocolFeatures = Bit(3) | Bit(5) | Bit(9) | Bit(14);
constexpr size_t kStatusOffset = 6;
constexpr uint16_t kLinkUp = 1;  // the value of VIRTIO_NET_S_LINK_UP

// The header that precedes every frame: struct virtio_net_hdr_v1.
struct NetHeader {
  uint8_t flags;
  uint8_t gso_type;
  uint16_t header_length;
  uint16_t gso_size;
  uint16_t checksum_start;
  uint16_t checksum_offset;
  uint16_t buffers;  // on receive: the number of chains that the frame fills
};
static_assert(sizeof(NetHeader) == 12);

std::vector<std::byte> Answer(const VhostMessage& request, std::span<const std::byte> payload) {
  return EncodeVhost(request.header.request, kVhostVersion | kVhostReply, payload);
}

std::vector<std::byte> Answer(const VhostMessage& request, uint64_t value) {
  return Answer(request, std::as_bytes(std::span(&value, 1)));
}

size_t TotalSize(const std::vector<std::span<std::byte>>& buffers) {
  size_t total = 0;
  for (const auto& buffer : buffers) total += buffer.size();
  return total;
}

// Copies `bytes` into `buffers`, beginning `offset` bytes after the start of the first buffer.
void Scatter(std::span<const std::byte> bytes, const std::vector<std::span<std::byte>>& buffers,
             size_t offset) {
  for (const auto& buffer : buffers) {
    const size_t skip = std::min(offset, buffer.size());
    offset -= skip;
    const size_t count = std::min(bytes.size(), buffer.size() - skip);
    if (count == 0) continue;
    std::memcpy(buffer.data() + skip, bytes.data(), count);
    bytes = bytes.subspan(count);
  }
}

}  // namespace

NetBackend::NetBackend(const wire::MacAddress& mac, bool carrier)
    : features_(kFeatures | (carrier ? kStatusFeature : 0)),
      queues_{Virtqueue(memory_), Virtqueue(memory_)} {
  std::memcpy(config_.data(), mac.bytes.data(), mac.bytes.size());
  SetLink(true);
}

void NetBackend::SetLink(bool up) {
  const uint16_t status = up ? kLinkUp : 0;
  std::memcpy(config_.data() + kStatusOffset, &status, sizeof status);
}

Virtqueue& NetBackend::Queue(uint32_t index) {
  if (index >= queues_.size())
    throw Error(fmt::format("uses queue {} of a network device, which does not exist", index));
  return queues_[index];
}

std::optional<std::vector<std::byte>> NetBackend::Handle(VhostMessage& message) {
  switch (static_cast<VhostRequest>(message.header.request)) {
    case VhostRequest::kGetFeatures:
      return Answer(message, features_);
    case VhostRequest::kGetProtocolFeatures:
      return Answer(message, kProtocolFeatures);
    case VhostRequest::kGetConfig:
      return Config(message);
    case VhostRequest::kSetOwner:
      break;
    case VhostRequest::kSetFeatures:
      if ((message.As<uint64_t>() & ~features_) != 0)
        throw Error("accepted a feature that was not offered");
      break;
    case VhostRequest::kSetProtocolFeatures:
      if (message.As<uint64_t>() != kProtocolFeatures) {
        throw Error("does not support in-band notifications: the kernel's virtio_uml is too old");
      }
      break;
    case VhostRequest::kSetSlaveRequestFd:
      if (message.descriptors.size() != 1)
        throw Error("sent SET_SLAVE_REQ_FD without a descriptor");
      slave_channel_ = std::move(message.descriptors.front());
      break;
    case VhostRequest::kSetMemTable:
      SetMemory(message);
      break;
    case VhostRequest::kSetVringNum: {
      const auto state = message.As<VringState>();
      Queue(state.index).SetSize(state.value);
      break;
    }
    case VhostRequest::kSetVringBase: {
      const auto state = message.As<VringState>();
      Queue(state.index).SetBase(static_cast<uint16_t>(state.value));
      break;
    }
    case VhostRequest::kSetVringAddr: {
      const auto addresses = message.As<VringAddresses>();
      Queue(addresses.index)
          .SetAddresses(addresses.descriptors, addresses.available, addresses.used);
      break;
    }
    case VhostRequest::kSetVringEnable: {
      const auto state = message.As<VringState>();
      Queue(state.index).SetEnabled(state.value != 0);
      // Disables the driver's notifications of new receive buffers, because the device reads new
      // buffers from the ring only when a frame needs one.
      if (state.index == kRxQueue && Queue(kRxQueue).ready()) Queue(kRxQueue).RefuseKicks();
      break;
    }
    case VhostRequest::kVringKick:
      Queue(message.As<VringState>().index);
      break;
    default:
      throw Error(fmt::format("sent the unsupported request {} ({})", message.header.request,
                              Name(static_cast<VhostRequest>(message.header.request))));
  }
  if ((message.header.flags & kVhostNeedReply) == 0) return std::nullopt;
  return Answer(message, uint64_t{0});
}

void NetBackend::SetMemory(VhostMessage& message) {
  // The payload has the number of entries and a padding.
  const auto count = message.As<VringState>().index;
  if (count == 0 || count > kMaxVhostDescriptors || message.descriptors.size() != count ||
      message.payload.size() < 8 + count * sizeof(MemoryRegion)) {
    throw Error(
        fmt::format("sent a malformed memory table of {} regions with {} descriptors in {} bytes",
                    count, message.descriptors.size(), message.payload.size()));
  }
  for (Virtqueue& queue : queues_) queue.Unmap();
  memory_.Clear();
  for (uint32_t i = 0; i < count; ++i) {
    MemoryRegion region;
    std::memcpy(&region, message.payload.data() + 8 + i * sizeof region, sizeof region);
    memory_.Add(message.descriptors[i], region.guest_address, region.size, region.file_offset);
  }
}

// Answers a request to read the configuration. The guest reads the configuration in pieces, and
// counts each piece from offset 0.
NetBackend::Reply NetBackend::Config(const VhostMessage& message) const {
  const auto header = message.As<ConfigHeader>();
  const size_t room = message.payload.size() - sizeof header;
  if (header.size > room)
    throw Error(
        fmt::format("requested {} bytes of configuration, which are too many", header.size));
  std::vector<std::byte> payload(message.payload.size());
  std::memcpy(payload.data(), &header, sizeof header);
  for (size_t i = 0; i < header.size && header.offset + i < config_.size(); ++i) {
    payload[sizeof header + i] = config_[header.offset + i];
  }
  return Answer(message, payload);
}

bool NetBackend::PutFrame(std::span<const std::byte> frame) {
  Virtqueue& queue = queues_[kRxQueue];
  NetHeader header{};
  const size_t total = sizeof header + frame.size();
  // Collects all chains first, because the frame's header contains the number of chains.
  struct Chain {
    uint16_t head;
    size_t room;
  };
  std::array<Chain, 64> chains;
  size_t room = 0;
  buffers_.clear();
  while (room < total) {
    const auto head = header.buffers < chains.size() ? queue.TakeNewest() : std::nullopt;
    if (!head) {
      while (header.buffers > 0) queue.PutBack(chains[--header.buffers].head);
      return false;
    }
    queue.Buffers(*head, true, buffers_);
    const size_t sum = TotalSize(buffers_);
    chains[header.buffers++] = {*head, sum - room};
    room = sum;
  }
  Scatter(std::as_bytes(std::span(&header, 1)), buffers_, 0);
  Scatter(frame, buffers_, sizeof header);
  size_t left = total;
  for (size_t i = 0; i < header.buffers; ++i) {
    const size_t filled = std::min(left, chains[i].room);
    queue.Stage(chains[i].head, static_cast<uint32_t>(filled));
    left -= filled;
  }
  queue.Publish();
  memory_.CheckThere();
  return true;
}

std::optional<uint16_t> NetBackend::TakeFrame(std::vector<std::byte>& frame) {
  Virtqueue& queue = queues_[kTxQueue];
  const auto head = queue.Take();
  if (!head) return std::nullopt;
  reading_.clear();
  queue.Buffers(*head, false, reading_);
  const size_t total = TotalSize(reading_);
  if (total > sizeof(NetHeader) + kMaxFrame) {
    throw Error(fmt::format("sent a frame of {} bytes, but at most {} bytes are allowed",
                            total - sizeof(NetHeader), kMaxFrame));
  }
  frame.clear();
  frame.reserve(total);
  size_t skip = sizeof(NetHeader);
  for (const auto& buffer : reading_) {
    const size_t skipped = std::min(skip, buffer.size());
    skip -= skipped;
    frame.insert(frame.end(), buffer.begin() + static_cast<ptrdiff_t>(skipped), buffer.end());
  }
  memory_.CheckThere();
  return head;
}

void NetBackend::ReturnFrame(uint16_t head) {
  Virtqueue& queue = queues_[kTxQueue];
  if (!queue.ready() || queue.Taken() == 0) return;  // the queue was reset after TakeFrame()
  queue.Stage(head, 0);
  queue.Publish();
}

bool NetBackend::WantsInterrupt(uint32_t queue) const {
  return queues_[queue].ready() && queues_[queue].WantsInterrupt();
}

}  // namespace viaduct::guest
