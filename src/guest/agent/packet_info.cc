#include "guest/agent/packet_info.h"

#include <netinet/in.h>

#include <cstring>

namespace viaduct::guest::agent {

namespace {

template <class T>
T Value(const cmsghdr* message) {
  T value;
  std::memcpy(&value, CMSG_DATA(message), sizeof value);
  return value;
}

bool ReadIpv4(const cmsghdr* message, PacketInfo* info) {
  switch (message->cmsg_type) {
    case IP_PKTINFO: {
      const auto value = Value<in_pktinfo>(message);
      info->ifindex = value.ipi_ifindex;
      info->destination.family = AF_INET;
      std::memcpy(info->destination.address, &value.ipi_addr, sizeof value.ipi_addr);
      return true;
    }
    case IP_TTL:
      info->ttl = static_cast<int16_t>(Value<int>(message));
      return true;
    case IP_TOS:
      info->tos = Value<uint8_t>(message);
      return true;
    default:
      return false;
  }
}

bool ReadIpv6(const cmsghdr* message, PacketInfo* info) {
  switch (message->cmsg_type) {
    case IPV6_PKTINFO: {
      const auto value = Value<in6_pktinfo>(message);
      info->ifindex = static_cast<int32_t>(value.ipi6_ifindex);
      info->destination.family = AF_INET6;
      std::memcpy(info->destination.address, &value.ipi6_addr, sizeof value.ipi6_addr);
      return true;
    }
    case IPV6_HOPLIMIT:
      info->ttl = static_cast<int16_t>(Value<int>(message));
      return true;
    case IPV6_TCLASS:
      info->tos = static_cast<int16_t>(Value<int>(message));
      return true;
    default:
      return false;
  }
}

}  // namespace

bool ReadPacketInfo(const msghdr& header, PacketInfo* info) {
  *info = {};
  info->ttl = -1;
  info->tos = -1;
  bool any = false;
  for (const cmsghdr* message = CMSG_FIRSTHDR(&header); message != nullptr;
       message = CMSG_NXTHDR(const_cast<msghdr*>(&header), const_cast<cmsghdr*>(message))) {
    if (message->cmsg_level == IPPROTO_IP) any |= ReadIpv4(message, info);
    if (message->cmsg_level == IPPROTO_IPV6) any |= ReadIpv6(message, info);
  }
  return any;
}

}  // namespace viaduct::guest::agent
