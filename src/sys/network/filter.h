// Packet filters: tcpdump's syntax compiled to classic BPF for SO_ATTACH_FILTER.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace viaduct::sys {

// Owns the instructions; Program() points into them and is valid as long as this lives.
class PacketFilter {
 public:
  // For Ethernet frames. The empty string passes everything (no instructions). UsageError with
  // libpcap's text. What others may choose is not compiled in root's half: libpcap takes minutes,
  // and a gigabyte, for some thousand addresses.
  static PacketFilter Compile(const std::string& expression);
  PacketFilter() = default;
  // Compiled by others. The kernel checks them, and Attach() how many they are.
  explicit PacketFilter(std::vector<sock_filter> instructions)
      : instructions_(std::move(instructions)) {}

  bool PassesEverything() const { return instructions_.empty(); }
  // For setsockopt(SO_ATTACH_FILTER). Not for an empty filter.
  sock_fprog Program() const;
  // Sets it on a packet socket; does nothing for an empty filter. The kernel takes the outermost
  // VLAN tag off a frame before it filters (skb_vlan_untag() of net/core/skbuff.c): the filter sees
  // the frame as on the wire all the same (ForSocket()). Throws SystemError, and UsageError for a
  // filter that is too long.
  void Attach(int socket_fd) const;
  // The instructions for that: these, and behind a test of the tag the same again, which read
  // behind the tag what the frame has there, and the tag itself from where the kernel keeps it
  // (SKF_AD_* of linux/filter.h). Reads that cover a part of the tag and something else, as
  // ether[12:4], see the frame without it.
  std::vector<sock_filter> ForSocket() const;
  // Runs it here, without a socket.
  bool Matches(std::span<const std::byte> frame) const;
  const std::vector<sock_filter>& instructions() const { return instructions_; }

 private:
  std::vector<sock_filter> instructions_;
};

}  // namespace viaduct::sys
