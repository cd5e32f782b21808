// The transport of messages between simulator and agent on a guest's control interface: Ethernet
// frames of type kEtherType, each of which carries a FragmentHeader and a piece of a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace viaduct::guest::agent {

// The first of the two EtherTypes for local experiments (IEEE 802, clause 9.2.4).
inline constexpr uint16_t kEtherType = 0x88b5;
inline constexpr size_t kEthernetHeader = 14;
// Frames are padded to Ethernet's minimum length without the FCS.
inline constexpr size_t kMinFrame = 60;

// Follows the Ethernet header. Host byte order: it never leaves the machine.
struct FragmentHeader {
  uint32_t message;  // counts the messages of one direction from 0
  uint32_t total;    // bytes of the whole message
  uint32_t offset;   // the piece's, in the message
  uint32_t length;   // bytes of the piece
};
static_assert(sizeof(FragmentHeader) == 16);

// Splits messages into broadcast frames of at most `mtu` bytes after the Ethernet header.
class FrameSplitter {
 public:
  explicit FrameSplitter(size_t mtu);
  // Calls `send` with each frame; the bytes are valid during the call.
  void Split(std::span<const std::byte> message,
             const std::function<void(std::span<const std::byte>)>& send);

 private:
  size_t mtu_;
  uint32_t next_ = 0;
  std::vector<std::byte> frame_;
};

// Reassembles the messages of one direction.
class FrameAssembler {
 public:
  // Returns the message that this frame completes, if it does; valid until the next call. Frames of
  // other types are ignored (nullopt). Throws ProtocolError for a frame that is truncated, out of
  // order, or part of a message that is too long.
  std::optional<std::span<const std::byte>> Add(std::span<const std::byte> frame);

 private:
  std::vector<std::byte> message_;
  size_t received_ = 0;
  uint32_t next_ = 0;
};

}  // namespace viaduct::guest::agent
