// Packet filters in tcpdump's syntax, compiled to classic BPF for SO_ATTACH_FILTER.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace viaduct::sys {

// Owns the instructions of a filter; the result of Program() points to the instructions and is
// valid as long as this object exists.
class PacketFilter {
 public:
  // Compiles a filter for Ethernet frames. The empty string passes all frames (no instructions).
  // Throws UsageError with libpcap's text. An expression that users may choose must not be compiled
  // in root's half: for some thousand addresses libpcap takes minutes, and a gigabyte of memory.
  static PacketFilter Compile(const std::string& expression);
  PacketFilter() = default;
  // Takes over instructions that another process has compiled. The kernel checks the instructions
  // themselves, and Attach() checks how many there are.
  explicit PacketFilter(std::vector<sock_filter> instructions)
      : instructions_(std::move(instructions)) {}

  bool PassesEverything() const { return instructions_.empty(); }
  // Returns the program for setsockopt(SO_ATTACH_FILTER). Must not be called for an empty filter.
  sock_fprog Program() const;
  // Sets the filter on a packet socket; does nothing for an empty filter. The kernel removes the
  // outermost VLAN tag from a frame before it runs the filter (skb_vlan_untag() of
  // net/core/skbuff.c); the filter nevertheless sees the frame as it is on the wire (ForSocket()).
  // Throws SystemError, or UsageError for a filter that is too long.
  void Attach(int socket_fd) const;
  // Returns the instructions that Attach() sets: a test whether the frame had a VLAN tag, and two
  // copies of the filter's instructions. The copy for tagged frames reads the bytes behind the tag
  // at their offset in the frame without the tag, and the tag itself from the kernel's data
  // (SKF_AD_* of linux/filter.h). A read that covers a part of the tag and other bytes, such as
  // ether[12:4], sees the frame without the tag.
  std::vector<sock_filter> ForSocket() const;
  // Runs the filter on a frame in this process, without a socket.
  bool Matches(std::span<const std::byte> frame) const;
  const std::vector<sock_filter>& instructions() const { return instructions_; }

 private:
  std::vector<sock_filter> instructions_;
};

}  // namespace viaduct::sys
