#include "guest/agent/agent_frames.h"

#include <algorithm>
#include <cstring>

#include "base/wire/bytes.h"
#include "guest/agent/agent_protocol.h"

namespace viaduct::guest::agent {

FrameSplitter::FrameSplitter(size_t mtu) : mtu_(mtu) {
  if (mtu_ <= sizeof(FragmentHeader)) throw UsageError("kernel agent: the MTU is too small");
}

void FrameSplitter::Split(std::span<const std::byte> message,
                          const std::function<void(std::span<const std::byte>)>& send) {
  const size_t room = mtu_ - sizeof(FragmentHeader);
  for (size_t offset = 0; offset < message.size(); offset += room) {
    const auto piece = message.subspan(offset, std::min(room, message.size() - offset));
    const FragmentHeader header{next_, static_cast<uint32_t>(message.size()),
                                static_cast<uint32_t>(offset), static_cast<uint32_t>(piece.size())};
    frame_.assign(std::max(kMinFrame, kEthernetHeader + sizeof header + piece.size()),
                  std::byte{0});
    std::fill_n(frame_.begin(), 6, std::byte{0xff});
    frame_[6] = std::byte{0x02};  // the source MAC address is locally administered
    wire::Store16(&frame_[12], kEtherType);
    std::memcpy(&frame_[kEthernetHeader], &header, sizeof header);
    std::memcpy(&frame_[kEthernetHeader + sizeof header], piece.data(), piece.size());
    send(frame_);
  }
  ++next_;
}

std::optional<std::span<const std::byte>> FrameAssembler::Add(std::span<const std::byte> frame) {
  if (frame.size() < kEthernetHeader || wire::Load16(&frame[12]) != kEtherType) {
    return std::nullopt;
  }
  FragmentHeader header;
  if (frame.size() < kEthernetHeader + sizeof header) throw ProtocolError("truncated frame");
  std::memcpy(&header, &frame[kEthernetHeader], sizeof header);
  const auto body = frame.subspan(kEthernetHeader + sizeof header);
  if (header.length > body.size() || header.length == 0) throw ProtocolError("truncated frame");
  if (header.total > kMaxMessage) throw ProtocolError("message too long");
  if (header.message != next_ || header.offset != received_ ||
      (received_ != 0 && header.total != message_.size()) ||
      header.length > header.total - header.offset) {
    throw ProtocolError("a frame was lost or is out of order");
  }
  if (received_ == 0) message_.resize(header.total);
  std::memcpy(&message_[header.offset], body.data(), header.length);
  received_ += header.length;
  if (received_ < header.total) return std::nullopt;
  received_ = 0;
  ++next_;
  return message_;
}

}  // namespace viaduct::guest::agent
