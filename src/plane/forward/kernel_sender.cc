#include "plane/forward/kernel_sender.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/wire/address_scope.h"
#include "base/wire/ip.h"

namespace viaduct::forward {
namespace {

template <class Address, class PacketInfo>
bool SendWith(int fd, Address& address, int level, int type, const PacketInfo& info, bool has_info,
              wire::ConstBytes bytes) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(PacketInfo))> control{};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = sizeof address;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (has_info) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(sizeof info);
    std::memcpy(CMSG_DATA(header), &info, sizeof info);
  }
  return sendmsg(fd, &message, MSG_DONTWAIT) >= 0;
}

sockaddr_in6 Ipv6Address(const wire::IpAddress& address, uint32_t ifindex) {
  sockaddr_in6 result{};
  result.sin6_family = AF_INET6;
  std::memcpy(&result.sin6_addr, address.bytes.data(), sizeof result.sin6_addr);
  if (wire::IsLinkLocal(address)) result.sin6_scope_id = ifindex;
  return result;
}

// Returns the length of the common prefix of two addresses, in bits.
int CommonBits(const wire::IpAddress& one, const wire::IpAddress& other) {
  for (size_t i = 0; i < one.bytes.size(); ++i) {
    const auto differing = static_cast<uint8_t>(one.bytes[i] ^ other.bytes[i]);
    if (differing != 0) return static_cast<int>(i) * 8 + std::countl_zero(differing);
  }
  return 128;
}

}  // namespace

// Returns the address of the interface whose common prefix with the destination is longest (RFC
// 6724, rule 8), as the source of an ICMPv6 error.
std::optional<wire::IpAddress> KernelSender::SourceFor(const wire::IpAddress& destination,
                                                       uint32_t ifindex) const {
  std::optional<wire::IpAddress> best;
  int longest = -1;
  if (wire::IsLinkLocal(destination)) return best;
  for (const sys::InterfaceAddress& own : own_) {
    const wire::IpPrefix& prefix = own.address;
    if (own.ifindex != static_cast<int>(ifindex) || prefix.address.family != wire::Family::kIpv6 ||
        wire::IsLinkLocal(prefix.address)) {
      continue;
    }
    const int common = std::min<int>(CommonBits(prefix.address, destination), prefix.length);
    if (common > longest) {
      longest = common;
      best = prefix.address;
    }
  }
  return best;
}

bool KernelSender::SendIpv4(wire::ConstBytes packet, uint32_t ifindex) {
  if (!ipv4_ || packet.size() < wire::Ipv4Header::kSize) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::memcpy(&address.sin_addr, &packet[16], sizeof address.sin_addr);
  in_pktinfo info{};
  info.ipi_ifindex = static_cast<int>(ifindex);
  return SendWith(ipv4_.get(), address, IPPROTO_IP, IP_PKTINFO, info, ifindex != 0, packet);
}

bool KernelSender::SendIpv6(wire::ConstBytes packet, uint32_t ifindex) {
  if (!ipv6_ || packet.size() < wire::Ipv6Header::kSize) return false;
  const wire::IpAddress destination = wire::LoadAddress(wire::Family::kIpv6, &packet[24]);
  sockaddr_in6 address = Ipv6Address(destination, ifindex);
  in6_pktinfo info{};
  info.ipi6_ifindex = ifindex;
  return SendWith(ipv6_.get(), address, IPPROTO_IPV6, IPV6_PKTINFO, info, ifindex != 0, packet);
}

bool KernelSender::SendIcmpv6(const wire::IpAddress& destination, wire::ConstBytes message,
                              uint32_t ifindex) {
  if (!icmpv6_) return false;
  sockaddr_in6 address = Ipv6Address(destination, ifindex);
  in6_pktinfo info{};
  if (const auto source = SourceFor(destination, ifindex)) {
    std::memcpy(&info.ipi6_addr, source->bytes.data(), sizeof info.ipi6_addr);
    // If sending fails, the source address may have been removed: the kernel then chooses the
    // source.
    if (SendWith(icmpv6_.get(), address, IPPROTO_IPV6, IPV6_PKTINFO, info, true, message)) {
      return true;
    }
  }
  return SendWith(icmpv6_.get(), address, 0, 0, info, false, message);
}

}  // namespace viaduct::forward
