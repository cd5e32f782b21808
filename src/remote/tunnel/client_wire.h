// The Ethernet wire between a node and the client that runs the node's programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "base/time.h"
#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "base/wire/ethernet.h"

namespace viaduct::tunnel {

// The client has the node's own addresses, and the node's IP layer is at this end: it routes all
// packets that the client sends. So this end answers the client's ARP requests for every other
// address (as a proxy does, RFC 1027), even for an address that no node has: only the node's
// routing protocol can determine whether a node has the address. This end sends IP packets to the
// client. Packets that are longer than the wire's MTU, such as packets that the node's IP layer has
// reassembled, are sent in fragments.
//
// The caller passes the time, of any clock. Frames for the client are valid during the call of
// Send.
class ClientWire {
 public:
  using Send = std::function<void(wire::ConstBytes frame)>;

  // The MAC address of the node's end of the wire.
  static constexpr wire::MacAddress kMac{{0x06, 0x76, 0x64, 0, 0, 1}};
  // The maximum number of packets that wait until the client's MAC address is known, and their
  // timeout.
  static constexpr size_t kMaxHeld = 64;
  static constexpr Duration kTimeout = Duration::Seconds(3);

  // `own`: the node's addresses, which are also the client's. `mtu`: the maximum bytes of an IP
  // packet to the client.
  ClientWire(std::vector<wire::IpAddress> own, size_t mtu);

  // Handles a frame from the client. Returns the IP packet in the frame, or an empty span if the
  // frame contains no IP packet. Returns nothing if this function has handled the frame completely
  // (ARP).
  std::optional<wire::ConstBytes> Take(wire::ConstBytes frame, Instant now, const Send& send);
  // Sends an IP packet to the client, or keeps it until the client's MAC address is known.
  void Give(wire::ConstBytes packet, Instant now, const Send& send);
  // The number of packets that were dropped, because the client's MAC address was not known in
  // time.
  uint64_t unresolved() const { return unresolved_; }

 private:
  struct Held {
    std::vector<std::byte> packet;
    Instant since;
  };

  void Learn(const wire::MacAddress& source, Instant now, const Send& send);
  void Answer(wire::ConstBytes frame, const Send& send) const;
  // Asks for the client's MAC address, at most once a second.
  void Ask(Instant now, const Send& send);
  void Hold(wire::ConstBytes packet, Instant now);
  void ForgetOld(Instant now);
  void SendTo(const wire::MacAddress& destination, wire::ConstBytes packet, const Send& send) const;

  const std::vector<wire::IpAddress> own_;
  const size_t mtu_;
  std::optional<wire::MacAddress> client_;
  Instant heard_;                 // time of the last frame from the client
  std::optional<Instant> asked_;  // time of the last ARP request
  std::deque<Held> held_;
  uint64_t unresolved_ = 0;
};

}  // namespace viaduct::tunnel
