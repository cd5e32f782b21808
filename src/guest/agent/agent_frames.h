// The transport of the messages between simulator and agent on a guest's control interface:
// Ethernet frames of type kEtherType, each of which carries a FragmentHeader and a piece of a
// message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace viaduct::guest::agent {

// The EtherType of the control interface's frames: the first of the two EtherTypes for local
// experiments (IEEE 802, clause 9.2.4).
inline constexpr uint16_t kEtherType = 0x88b5;
inline constexpr size_t kEthernetHeader = 14;
// The length in bytes to which shorter frames are padded: Ethernet's minimum length without the
// FCS.
inline constexpr size_t kMinFrame = 60;

// The header of a piece of a message, after the Ethernet header. All members are in host byte
// order, because the frames never leave the machine.
struct FragmentHeader {
  uint32_t message;  // the number of the message: 0 for the first one of a direction
  uint32_t total;    // the length of the complete message, in bytes
  uint32_t offset;   // the position of the piece in the message, in bytes
  uint32_t length;   // the length of the piece, in bytes
};
static_assert(sizeof(FragmentHeader) == 16);

// Splits messages into broadcast frames with at most `mtu` bytes after the Ethernet header.
class FrameSplitter {
 public:
  explicit FrameSplitter(size_t mtu);
  // Splits the message and calls `send` with each frame; the frame's bytes are valid during the
  // call.
  void Split(std::span<const std::byte> message,
             const std::function<void(std::span<const std::byte>)>& send);

 private:
  size_t mtu_;
  uint32_t next_ = 0;
  std::vector<std::byte> frame_;
};

// Reassembles the messages of one direction from their frames.
class FrameAssembler {
 public:
  // Adds a frame. Returns the complete message if the frame is the last one of a message; the
  // message is valid until the next call. Ignores frames of other EtherTypes (returns nullopt).
  // Throws ProtocolError if the frame is truncated, out of order, or part of a message that is too
  // long.
  std::optional<std::span<const std::byte>> Add(std::span<const std::byte> frame);

 private:
  std::vector<std::byte> message_;
  size_t received_ = 0;
  uint32_t next_ = 0;
};

}  // namespace viaduct::guest::agent
