#include "port/control/control_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/wire/bytes.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/transport.h"

namespace viaduct::io {
namespace {

constexpr size_t kIpv4Id = 4;  // offset of the identification in an IPv4 header (RFC 791)

template <class T>
void Set(int fd, int level, int option, const T& value, std::string_view name) {
  SystemCall(fmt::format("setsockopt {} on a control socket", name),
             setsockopt(fd, level, option, &value, sizeof(value)));
}

union SocketAddress {
  sockaddr any;
  sockaddr_in ipv4;
  sockaddr_in6 ipv6;
};

SocketAddress ToSocketAddress(const wire::IpAddress& address, uint16_t port, int ifindex,
                              socklen_t& size) {
  SocketAddress result{};
  if (address.family == wire::Family::kIpv4) {
    result.ipv4.sin_family = AF_INET;
    result.ipv4.sin_port = htons(port);
    std::memcpy(&result.ipv4.sin_addr, address.bytes.data(), 4);
    size = sizeof(result.ipv4);
  } else {
    result.ipv6.sin6_family = AF_INET6;
    result.ipv6.sin6_port = htons(port);
    result.ipv6.sin6_scope_id = static_cast<uint32_t>(ifindex);
    std::memcpy(&result.ipv6.sin6_addr, address.bytes.data(), 16);
    size = sizeof(result.ipv6);
  }
  return result;
}

wire::IpAddress ToAddress(wire::Family family, const void* bytes) {
  return wire::LoadAddress(family, static_cast<const std::byte*>(bytes));
}

int ReadInt(const cmsghdr* header) {
  int value = 0;
  // The value of IP_TOS is one byte, the values of all other control messages are an int.
  std::memcpy(&value, CMSG_DATA(header), std::min(sizeof(value), header->cmsg_len - CMSG_LEN(0)));
  return value;
}

// The control messages of one sendmsg() call.
class ControlData {
 public:
  template <class T>
  void Add(int level, int type, const T& value) {
    auto* const header = reinterpret_cast<cmsghdr*>(bytes_ + used_);
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(sizeof(value));
    std::memcpy(CMSG_DATA(header), &value, sizeof(value));
    used_ += CMSG_SPACE(sizeof(value));
  }
  void Attach(msghdr& message) {
    message.msg_control = bytes_;
    message.msg_controllen = used_;
  }

 private:
  alignas(cmsghdr) std::byte bytes_[128] = {};
  size_t used_ = 0;
};

}  // namespace

struct ControlSocket::Metadata {
  Delivery delivery;
  uint16_t source_port = 0;
  bool own = false;
  uint32_t overflows = 0;
};

ControlSocket::ControlSocket(const ControlClaim& claim, UniqueFd socket,
                             const ControlOptions& options)
    : claim_(claim), socket_(std::move(socket)), options_(options) {
  Set(fd(), SOL_SOCKET, SO_RXQ_OVFL, 1, "SO_RXQ_OVFL");
  if (claim_.kind == ControlClaim::Kind::kEtherType) {
    Set(fd(), SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
    return;
  }
  Restrict(options_.ifindex);
  if (claim_.family == wire::Family::kIpv4) {
    PrepareIpv4();
  } else {
    PrepareIpv6();
  }
}

void ControlSocket::Restrict(int ifindex) {
  int bound = 0;
  socklen_t size = sizeof(bound);
  SystemCall("getsockopt SO_BINDTOIFINDEX",
             getsockopt(fd(), SOL_SOCKET, SO_BINDTOIFINDEX, &bound, &size));
  if (bound == 0) {
    Set(fd(), SOL_SOCKET, SO_BINDTOIFINDEX, ifindex, "SO_BINDTOIFINDEX");
  } else if (bound != ifindex) {
    throw Error(fmt::format("the control socket is bound to interface {}, not {}", bound, ifindex));
  }
}

void ControlSocket::PrepareIpv4() {
  Set(fd(), IPPROTO_IP, IP_PKTINFO, 1, "IP_PKTINFO");
  Set(fd(), IPPROTO_IP, IP_RECVTTL, 1, "IP_RECVTTL");
  Set(fd(), IPPROTO_IP, IP_RECVTOS, 1, "IP_RECVTOS");
  Set(fd(), SOL_SOCKET, SO_BROADCAST, 1, "SO_BROADCAST");
  Set(fd(), IPPROTO_IP, IP_MULTICAST_LOOP, 0, "IP_MULTICAST_LOOP");
  ip_mreqn interface {};
  interface.imr_ifindex = options_.ifindex;
  Set(fd(), IPPROTO_IP, IP_MULTICAST_IF, interface, "IP_MULTICAST_IF");
  if (claim_.kind == ControlClaim::Kind::kRawIp) {
    Set(fd(), IPPROTO_IP, IP_HDRINCL, 1, "IP_HDRINCL");
  }
}

void ControlSocket::PrepareIpv6() {
  Set(fd(), IPPROTO_IPV6, IPV6_RECVPKTINFO, 1, "IPV6_RECVPKTINFO");
  Set(fd(), IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1, "IPV6_RECVHOPLIMIT");
  Set(fd(), IPPROTO_IPV6, IPV6_RECVTCLASS, 1, "IPV6_RECVTCLASS");
  Set(fd(), IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0, "IPV6_MULTICAST_LOOP");
  Set(fd(), IPPROTO_IPV6, IPV6_MULTICAST_IF, options_.ifindex, "IPV6_MULTICAST_IF");
  if (claim_.kind == ControlClaim::Kind::kRawIp && claim_.number == IPPROTO_ICMPV6) {
    icmp6_filter filter;
    ICMP6_FILTER_SETPASSALL(&filter);
    // Blocks neighbour solicitations: the kernel answers them, and the protocol's device would send
    // a second answer.
    ICMP6_FILTER_SETBLOCK(ND_NEIGHBOR_SOLICIT, &filter);
    Set(fd(), IPPROTO_ICMPV6, ICMP6_FILTER, filter, "ICMP6_FILTER");
  }
}

int ControlSocket::Join(const wire::IpAddress& group) {
  if (claim_.kind == ControlClaim::Kind::kEtherType || group.family != claim_.family) return 0;
  if (std::find(joined_.begin(), joined_.end(), group) != joined_.end()) return 0;
  int result = 0;
  if (group.family == wire::Family::kIpv4) {
    ip_mreqn request{};
    std::memcpy(&request.imr_multiaddr, group.bytes.data(), 4);
    request.imr_ifindex = options_.ifindex;
    result = setsockopt(fd(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request));
  } else {
    ipv6_mreq request{};
    std::memcpy(&request.ipv6mr_multiaddr, group.bytes.data(), 16);
    request.ipv6mr_interface = static_cast<uint32_t>(options_.ifindex);
    result = setsockopt(fd(), IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof(request));
  }
  if (result != 0 && errno != EADDRINUSE) return errno;
  joined_.push_back(group);
  return 0;
}

ControlSocket::Metadata ControlSocket::ReadMetadata(const msghdr& message) const {
  Metadata metadata;
  Delivery& delivery = metadata.delivery;
  metadata.overflows = overflows_;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(const_cast<msghdr*>(&message), header)) {
    const int type = header->cmsg_type;
    if (header->cmsg_level == SOL_SOCKET && type == SO_RXQ_OVFL) {
      metadata.overflows = static_cast<uint32_t>(ReadInt(header));
    } else if (header->cmsg_level == IPPROTO_IP && type == IP_PKTINFO) {
      in_pktinfo info;
      std::memcpy(&info, CMSG_DATA(header), sizeof(info));
      delivery.destination = ToAddress(wire::Family::kIpv4, &info.ipi_addr);
      // The kernel reports in ipi_spec_dst the local address from which it would answer. For a
      // broadcast this address differs from the destination; for an echo of this host's own
      // broadcast it is the source.
      const auto local = ToAddress(wire::Family::kIpv4, &info.ipi_spec_dst);
      delivery.broadcast = local != delivery.destination && !delivery.destination.IsMulticast();
      const auto* const name = static_cast<const sockaddr_in*>(message.msg_name);
      const auto source = ToAddress(wire::Family::kIpv4, &name->sin_addr);
      metadata.own = local != delivery.destination && source == local;
    } else if (header->cmsg_level == IPPROTO_IPV6 && type == IPV6_PKTINFO) {
      in6_pktinfo info;
      std::memcpy(&info, CMSG_DATA(header), sizeof(info));
      delivery.destination = ToAddress(wire::Family::kIpv6, &info.ipi6_addr);
    } else if ((header->cmsg_level == IPPROTO_IP && type == IP_TTL) ||
               (header->cmsg_level == IPPROTO_IPV6 && type == IPV6_HOPLIMIT)) {
      delivery.ttl = static_cast<uint8_t>(ReadInt(header));
    } else if ((header->cmsg_level == IPPROTO_IP && type == IP_TOS) ||
               (header->cmsg_level == IPPROTO_IPV6 && type == IPV6_TCLASS)) {
      delivery.traffic_class = static_cast<uint8_t>(ReadInt(header));
    }
  }
  if (claim_.family == wire::Family::kIpv4) {
    const auto* const name = static_cast<const sockaddr_in*>(message.msg_name);
    delivery.source = ToAddress(wire::Family::kIpv4, &name->sin_addr);
    metadata.source_port = ntohs(name->sin_port);
  } else {
    const auto* const name = static_cast<const sockaddr_in6*>(message.msg_name);
    delivery.source = ToAddress(wire::Family::kIpv6, &name->sin6_addr);
    metadata.source_port = ntohs(name->sin6_port);
  }
  return metadata;
}

wire::Bytes ControlSocket::FrameOf(const msghdr& message, size_t size, wire::Bytes memory,
                                   uint64_t& overflows) {
  const Metadata metadata = ReadMetadata(message);
  overflows += metadata.overflows - overflows_;
  overflows_ = metadata.overflows;
  const FrameMemory payload{memory, kHeaderRoom, size};
  if (claim_.kind == ControlClaim::Kind::kEtherType) return memory.subspan(kHeaderRoom, size);
  if (metadata.own) return {};
  if (claim_.kind == ControlClaim::Kind::kUdp) {
    return BuildUdpFrame(payload, metadata.delivery, options_.mac, metadata.source_port,
                         claim_.number, next_id_++);
  }
  if (claim_.family == wire::Family::kIpv4) {
    return BuildIpv4Frame(payload, metadata.delivery, options_.mac);
  }
  return BuildIpv6Frame(payload, metadata.delivery, options_.mac,
                        static_cast<uint8_t>(claim_.number));
}

int ControlSocket::Send(FrameToSend frame, const wire::IpLayers& layers) {
  if (claim_.kind == ControlClaim::Kind::kEtherType) return SendLink(frame);
  const wire::IpAddress destination = layers.Destination(frame);
  // Joins the group, because a protocol that sends to a group usually also receives from the group.
  // If the join fails (too many groups), the packet is still sent.
  if (destination.IsMulticast()) Join(destination);
  return claim_.kind == ControlClaim::Kind::kUdp ? SendUdp(frame, layers) : SendRaw(frame, layers);
}

int ControlSocket::SendUdp(FrameToSend frame, const wire::IpLayers& layers) {
  const wire::ConstBytes segment = frame.subspan(layers.transport, layers.end - layers.transport);
  const auto udp = wire::UdpHeader::Parse(segment);
  if (!udp || udp->length < wire::UdpHeader::kSize || udp->length > segment.size()) return EINVAL;
  const wire::ConstBytes datagram = segment.first(udp->length);
  return SendWithInfo(datagram.subspan(wire::UdpHeader::kSize), frame, layers,
                      udp->destination_port);
}

int ControlSocket::SendRaw(FrameToSend frame, const wire::IpLayers& layers) {
  if (layers.family == wire::Family::kIpv6 && claim_.number != kWholePackets) {
    return SendWithInfo(frame.subspan(layers.transport, layers.end - layers.transport), frame,
                        layers, 0);
  }
  // Sends the packet with its header unchanged (IP_HDRINCL), which keeps IP options such as Router
  // Alert.
  const wire::ConstBytes packet = frame.subspan(layers.network, layers.end - layers.network);
  if (layers.family == wire::Family::kIpv6 || !layers.fragment ||
      wire::Load16(packet.data() + kIpv4Id) != 0) {
    return SendPacket(packet, layers.Destination(frame));
  }
  // Sets an identification: the kernel would replace 0 by a different identification in each
  // fragment.
  std::vector<std::byte> identified(packet.begin(), packet.end());
  wire::Store16(identified.data() + kIpv4Id, 0xffff);
  return SendPacket(identified, layers.Destination(frame));
}

int ControlSocket::SendPacket(wire::ConstBytes packet, const wire::IpAddress& destination) {
  socklen_t size = 0;
  const SocketAddress to = ToSocketAddress(destination, 0, options_.ifindex, size);
  const ssize_t sent =
      sendto(fd(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL, &to.any, size);
  return sent < 0 ? errno : 0;
}

int ControlSocket::SendLink(FrameToSend frame) {
  const auto ethernet = wire::EthernetHeader::Parse(frame);
  if (!ethernet) return EINVAL;
  const wire::MacAddress& group = ethernet->destination;
  if (group.IsMulticast() && group != wire::kBroadcastMac &&
      std::find(joined_macs_.begin(), joined_macs_.end(), group) == joined_macs_.end()) {
    packet_mreq request{};
    request.mr_ifindex = options_.ifindex;
    request.mr_type = PACKET_MR_MULTICAST;
    request.mr_alen = 6;
    std::memcpy(request.mr_address, group.bytes.data(), 6);
    setsockopt(fd(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request));
    joined_macs_.push_back(group);
  }
  const ssize_t sent = send(fd(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent < 0 ? errno : 0;
}

int ControlSocket::SendWithInfo(wire::ConstBytes payload, FrameToSend frame,
                                const wire::IpLayers& layers, uint16_t port) {
  const wire::IpAddress source = layers.Source(frame);
  const wire::ConstBytes header = frame.subspan(layers.network);
  ControlData control;
  if (layers.family == wire::Family::kIpv4) {
    const auto ip = wire::Ipv4Header::Parse(header);
    in_pktinfo info{};
    info.ipi_ifindex = options_.ifindex;
    std::memcpy(&info.ipi_spec_dst, source.bytes.data(), 4);
    control.Add(IPPROTO_IP, IP_PKTINFO, info);
    control.Add(IPPROTO_IP, IP_TTL, int{ip->ttl});
    control.Add(IPPROTO_IP, IP_TOS, int{ip->tos});
  } else {
    const auto ip = wire::Ipv6Header::Parse(header);
    in6_pktinfo info{};
    info.ipi6_ifindex = static_cast<uint32_t>(options_.ifindex);
    std::memcpy(&info.ipi6_addr, source.bytes.data(), 16);
    control.Add(IPPROTO_IPV6, IPV6_PKTINFO, info);
    control.Add(IPPROTO_IPV6, IPV6_HOPLIMIT, int{ip->hop_limit});
    control.Add(IPPROTO_IPV6, IPV6_TCLASS, int{ip->traffic_class});
  }
  socklen_t size = 0;
  SocketAddress to = ToSocketAddress(layers.Destination(frame), port, options_.ifindex, size);
  iovec part = {const_cast<std::byte*>(payload.data()), payload.size()};
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = size;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  control.Attach(message);
  return sendmsg(fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

}  // namespace viaduct::io
