// The outbox of forwarding programs, which holds the frames that they send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::forward {

// The interface of the objects that send the frames of an outbox.
class Carrier {
 public:
  virtual ~Carrier() = default;
  // Sends the frames through the port, in their order; the bytes are valid during the call. Frames
  // that cannot be sent are dropped and counted.
  virtual void Transmit(size_t port, std::span<const wire::ConstBytes> frames) = 0;
  // Makes the node's kernel send an IP packet as it sends its own packets: the kernel chooses the
  // route (through the interface `ifindex`, unless 0), resolves the neighbour, and fills in an IPv4
  // source that is 0.0.0.0.
  virtual void SendAsOwn(wire::Family family, wire::ConstBytes packet, uint32_t ifindex) = 0;
  // Sends an ICMPv6 message without checksum, whose source address the kernel chooses. `ifindex` is
  // the interface for link-local destinations.
  virtual void SendIcmpv6(const wire::IpAddress& destination, wire::ConstBytes message,
                          uint32_t ifindex) = 0;
  // Passes an IP packet that arrived on `port` to the simulator, through the TUN device `ifindex`.
  virtual void PassUp(size_t port, wire::ConstBytes packet, uint32_t ifindex) = 0;
};

// Collects the frames of one burst by outgoing port, so that each port sends its frames with one
// system call.
class Outbox {
 public:
  // `carrier` must outlive this object.
  Outbox(size_t ports, Carrier& carrier) : frames_(ports), carrier_(carrier) {}

  // Sends a frame through a port. `bytes` must stay valid until the end of the burst: bytes of the
  // frame that arrived, or from Make(). Throws std::out_of_range if there is no such port.
  void Send(size_t port, wire::ConstBytes bytes) { frames_.at(port).push_back(bytes); }
  // Sends a frame to all ports except `but`.
  void Flood(size_t but, wire::ConstBytes bytes) {
    for (size_t port = 0; port < frames_.size(); ++port) {
      if (port != but) Send(port, bytes);
    }
  }
  // Returns memory for a frame of `bytes` bytes, valid until the end of the burst; the next burst
  // reuses the memory.
  wire::Bytes Make(size_t bytes) {
    if (bytes > kBlock) {
      long_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
      return {long_.back().get(), bytes};
    }
    if (bytes > left_.size()) {
      if (used_ == blocks_.size()) {
        blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlock));
      }
      left_ = {blocks_[used_++].get(), kBlock};
    }
    const wire::Bytes made = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return made;
  }

  // Calls Carrier::SendAsOwn(), after all frames sent before.
  void SendAsOwn(wire::Family family, wire::ConstBytes packet, uint32_t ifindex = 0) {
    Flush();
    carrier_.SendAsOwn(family, packet, ifindex);
  }
  void SendIcmpv6(const wire::IpAddress& destination, wire::ConstBytes message, uint32_t ifindex) {
    Flush();
    carrier_.SendIcmpv6(destination, message, ifindex);
  }
  void PassUp(size_t port, wire::ConstBytes packet, uint32_t ifindex) {
    Flush();
    carrier_.PassUp(port, packet, ifindex);
  }

  void Flush() {
    for (size_t port = 0; port < frames_.size(); ++port) {
      if (frames_[port].empty()) continue;
      carrier_.Transmit(port, frames_[port]);
      frames_[port].clear();
    }
  }
  // Ends the burst: sends its frames; the memory from Make() is reused.
  void EndBurst() {
    Flush();
    long_.clear();
    left_ = {};
    used_ = 0;
  }

 private:
  std::vector<std::vector<wire::ConstBytes>> frames_;  // indexed by port
  static constexpr size_t kBlock = 16384;              // bytes; a few blocks hold a burst
  std::vector<std::unique_ptr<std::byte[]>> blocks_, long_;
  size_t used_ = 0;   // number of used blocks
  wire::Bytes left_;  // the free bytes of the last used block
  Carrier& carrier_;
};

}  // namespace viaduct::forward
