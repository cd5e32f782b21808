// The forwarding program of IPv4 and IPv6 routers (RFC 1812, RFC 8200), which treats each packet as
// the kernel's ip_forward() and ip6_forward() would.
//
// The router forwards by the node's table (table_reader.h) to neighbours that the kernel has
// resolved. The kernel sends packets to an unresolved neighbour, and resolves the neighbour. It
// also sends one packet per second to a stale neighbour, to detect whether the neighbour is gone. A
// packet without a route is passed up if the simulator's protocol decides about such packets.
// Multicast is not forwarded.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/wire/ip.h"
#include "plane/forward/icmp_errors.h"
#include "plane/forward/program.h"
#include "plane/forward/table_reader.h"

namespace viaduct::forward {

class Router {
 public:
  enum Outcome : size_t {
    kForwarded,
    kForTheNode,     // the node's kernel receives the packet
    kNotUnicast,     // multicast, or a frame to another station
    kMalformed,      // a header that is malformed or contradicts the frame
    kUnforwardable,  // addresses that no router forwards, a source of this node, or options
    kTtlExpired,     // answered with an ICMP error
    kTooLong,        // longer than the outgoing interface's MTU: answered
    kNoRoute,        // answered; in IPv6 the kernel answers
    kRefused,        // refused by the route: answered, except blackholes
    kResolving,      // sent by the kernel, which resolves or confirms the neighbour
    kPassedUp,       // passed to the simulator, whose protocol has no route yet
  };
  static constexpr std::array<std::string_view, 11> kOutcomes = {
      "forwarded", "for-the-node", "not-unicast", "malformed", "unforwardable", "ttl-expired",
      "too-long",  "no-route",     "refused",     "resolving", "passed-up"};
  static constexpr std::string_view kFilter = "ether dst {mac} and (ip or ip6) and not ({own})";
  static constexpr bool kPromiscuous = false;

  // Throws UsageError if the node's table has another format.
  explicit Router(const Node& node);

  size_t Take(const Frame& frame, Outbox& outbox);
  void Tick(Instant, Outbox&) { errors_.SetLimits(table_.Limits()); }

 private:
  // The next hop of a packet. The packet's bytes may be changed.
  struct Way {
    Hop hop;
    wire::IpAddress neighbour;
    size_t mtu;
    std::optional<size_t> port;     // outgoing port; empty: the interface is no port
    std::optional<size_t> up_from;  // port of arrival, if the packet is passed up
  };

  size_t TakeTagged(const Frame& frame, Outbox& outbox);
  Outcome TakeIpv4(const Frame& frame, Outbox& outbox);
  Outcome TakeIpv6(const Frame& frame, Outbox& outbox);
  Outcome ForwardIpv4(const Frame& frame, const wire::Ipv4Header& header, wire::Bytes packet,
                      const Way& way, Outbox& outbox);
  Outcome ForwardIpv6(const Frame& frame, const wire::Ipv6Header& header, wire::Bytes packet,
                      const Way& way, Outbox& outbox);
  Outcome RefuseIpv4(const Frame& frame, const wire::Ipv4Header& header, wire::ConstBytes packet,
                     Kind kind, Outbox& outbox);
  Way WayOf(const Hop& hop, const wire::IpAddress& destination) const;
  // Returns the next hop for the result of a lookup: a neighbour, or the device to the simulator.
  Way WayOf(const Found& found, const wire::IpAddress& destination, size_t from) const;
  // Returns the neighbour entry for a next hop, or null if the neighbour is not resolved.
  Neighbour* FindNeighbour(const Way& way);
  // Sends a packet to its next hop. `frame` has space for the Ethernet header, and the packet
  // behind it.
  Outcome Emit(wire::Bytes frame, wire::Family family, const Way& way, Instant now, Outbox& outbox);
  uint32_t FlowHash(const wire::IpAddress& source, const wire::IpAddress& destination) const;

  const std::vector<PortInfo>& ports_;
  TableReader table_;
  NeighbourTable& neighbours_;
  std::function<void()> read_neighbours_;
  uint32_t version_ = 0;  // version of the table when the neighbours were read
  uint64_t seed_;
  std::unordered_map<uint32_t, size_t> port_of_;  // keyed by ifindex
  // The minimum MTU of the ports, which limits the length of packets that are passed up.
  size_t min_mtu_ = SIZE_MAX;
  IcmpErrors errors_;
};

}  // namespace viaduct::forward
