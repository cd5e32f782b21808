#include "run/load/frames.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/wire/checksum.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/transport.h"
#include "run/load/pace.h"
#include "sys/network/link.h"
#include "sys/network/packet_socket.h"
#include "sys/network/route_lookup.h"

namespace viaduct::load {
namespace {

constexpr Duration kTimeout = Duration::Seconds(5);
constexpr Duration kInterval = Duration::Milliseconds(10);
constexpr uint16_t kDiscardPort = 9;  // the discard port, RFC 863

wire::IpAddress AddressOf(const Endpoint& endpoint) {
  if (endpoint.family() == AF_INET6) {
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(endpoint.address);
    return wire::LoadAddress(wire::Family::kIpv6,
                             reinterpret_cast<const std::byte*>(&in6.sin6_addr));
  }
  const auto& in = reinterpret_cast<const sockaddr_in&>(endpoint.address);
  return wire::LoadAddress(wire::Family::kIpv4, reinterpret_cast<const std::byte*>(&in.sin_addr));
}

// Returns the port of an endpoint, which is at the same offset in both families.
uint16_t& PortOf(Endpoint& endpoint) {
  return reinterpret_cast<sockaddr_in&>(endpoint.address).sin_port;
}

Endpoint OwnEndpoint(int fd) {
  Endpoint own;
  own.length = sizeof own.address;
  SystemCall("getsockname",
             getsockname(fd, reinterpret_cast<sockaddr*>(&own.address), &own.length));
  return own;
}

EnvironmentError NoWay(const wire::IpAddress& to, const std::string& why) {
  return EnvironmentError(
      fmt::format("cannot send frames to {}: {}; omit --frames to let the kernel send packets",
                  to.ToString(), why));
}

sys::LinkInfo EthernetInterface(sys::Netlink& kernel, int ifindex, const wire::IpAddress& to) {
  const auto found = kernel.FindLink(ifindex);
  if (!found || found->mac == wire::MacAddress()) {
    throw NoWay(to, "the route does not use an Ethernet interface");
  }
  return *found;
}

// Waits until the kernel knows the next hop's MAC address; sends packets to `to`, so that the
// kernel resolves it.
wire::MacAddress AwaitNeighbour(sys::Netlink& kernel, const sys::SimpleRoute& route, int fd,
                                Endpoint to) {
  PortOf(to) = htons(kDiscardPort);
  const Instant end = MonotonicClock::Now() + kTimeout;
  for (;;) {
    if (const auto mac = sys::FindNeighbour(kernel, route.ifindex, route.next_hop)) return *mac;
    if (MonotonicClock::Now() > end) {
      throw NoWay(AddressOf(to),
                  fmt::format("the next hop {} does not answer", route.next_hop.ToString()));
    }
    sendto(fd, nullptr, 0, 0, reinterpret_cast<const sockaddr*>(&to.address), to.length);
    SleepFor(kInterval);
  }
}

}  // namespace

FrameWay::FrameWay(const Endpoint& to, const std::string& bind, int payload_bytes)
    : port_(OpenSender(to, bind, "")), destination_(AddressOf(to)) {
  sys::Netlink kernel;
  const auto route = sys::FindSimpleRoute(kernel, destination_, 0);
  if (!route) throw NoWay(destination_, "there is no route with a single next hop");
  const sys::LinkInfo link = EthernetInterface(kernel, route->ifindex, destination_);
  const wire::MacAddress mac = AwaitNeighbour(kernel, *route, port_.get(), to);
  if (const int error = TryConnect(port_.get(), to); error != 0) {
    throw SystemError("connect", error);
  }
  Endpoint own = OwnEndpoint(port_.get());
  source_ = AddressOf(own);

  sys::PacketSocket opened = sys::OpenPacketSocket(link.name, false);
  sys::BindPacketSocket(opened.fd.get(), opened.ifindex, 0);
  sys::BypassQdisc(opened.fd.get());
  SystemCall("make a packet socket blocking", fcntl(opened.fd.get(), F_SETFL, 0));
  socket_ = std::move(opened.fd);

  const bool is_ipv4 = destination_.family == wire::Family::kIpv4;
  const size_t ip_bytes = is_ipv4 ? wire::Ipv4Header::kSize : wire::Ipv6Header::kSize;
  const auto udp_bytes = static_cast<uint16_t>(wire::UdpHeader::kSize + payload_bytes);
  head_.resize(wire::EthernetHeader::kSize + ip_bytes + wire::UdpHeader::kSize);
  const wire::Bytes ethernet(head_);
  const wire::Bytes ip = ethernet.subspan(wire::EthernetHeader::kSize);
  wire::EthernetHeader{.destination = mac,
                       .source = link.mac,
                       .type = is_ipv4 ? wire::ether_type::kIpv4 : wire::ether_type::kIpv6}
      .Write(ethernet);
  if (is_ipv4) {
    wire::Ipv4Header{.total_length = static_cast<uint16_t>(ip_bytes + udp_bytes),
                     .dont_fragment = true,
                     .protocol = wire::ip_protocol::kUdp,
                     .source = source_,
                     .destination = destination_}
        .Write(ip);
  } else {
    wire::Ipv6Header{.payload_length = udp_bytes,
                     .next_header = wire::ip_protocol::kUdp,
                     .source = source_,
                     .destination = destination_}
        .Write(ip);
  }
  Endpoint far = to;
  wire::UdpHeader{.source_port = ntohs(PortOf(own)),
                  .destination_port = ntohs(PortOf(far)),
                  .length = udp_bytes}
      .Write(ip.subspan(ip_bytes));
}

void FrameWay::Complete(wire::Bytes frame) const {
  if (destination_.family == wire::Family::kIpv4) return;
  const wire::Bytes segment = frame.subspan(head_.size() - wire::UdpHeader::kSize);
  std::byte* const checksum = &segment[wire::UdpHeader::kChecksumOffset];
  wire::Store16(checksum, 0);
  wire::Store16(checksum,
                wire::TransportChecksum(source_, destination_, wire::ip_protocol::kUdp, segment));
}

}  // namespace viaduct::load
