// Packet filters: tcpdump's syntax compiled to classic BPF for SO_ATTACH_FILTER.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace viaduct::sys {

// Owns the instructions; Program() points into them and is valid as long as this object exists.
class PacketFilter {
 public:
  // Compiles a filter for Ethernet frames. The empty string passes everything (no instructions).
  // Throws UsageError with libpcap's text. An expression that users may choose must not be compiled
  // in root's half: for some thousand addresses libpcap takes minutes, and a gigabyte.
  static PacketFilter Compile(const std::string& expression);
  PacketFilter() = default;
  // Takes instructions that another process has compiled. The kernel checks them, and Attach()
  // checks their number.
  explicit PacketFilter(std::vector<sock_filter> instructions)
      : instructions_(std::move(instructions)) {}

  bool PassesEverything() const { return instructions_.empty(); }
  // Returns the program for setsockopt(SO_ATTACH_FILTER). Must not be called for an empty filter.
  sock_fprog Program() const;
  // Sets the filter on a packet socket; does nothing for an empty filter. The kernel takes the
  // outermost VLAN tag off a frame before it filters (skb_vlan_untag() of net/core/skbuff.c): the
  // filter sees the frame as on the wire all the same (ForSocket()). Throws SystemError, and
  // UsageError for a filter that is too long.
  void Attach(int socket_fd) const;
  // Returns the instructions that Attach() sets: a test of the tag, and these instructions twice.
  // The copy for tagged frames reads bytes behind the tag at their place in the frame without it,
  // and the tag itself from the kernel's data (SKF_AD_* of linux/filter.h). Reads that cover a part
  // of the tag and something else, as ether[12:4], see the frame without it.
  std::vector<sock_filter> ForSocket() const;
  // Runs the filter here, without a socket.
  bool Matches(std::span<const std::byte> frame) const;
  const std::vector<sock_filter>& instructions() const { return instructions_; }

 private:
  std::vector<sock_filter> instructions_;
};

}  // namespace viaduct::sys
