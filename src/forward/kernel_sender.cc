#include "forward/kernel_sender.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "wire/address_scope.h"
#include "wire/ip.h"

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

}  // namespace

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
  return SendWith(icmpv6_.get(), address, 0, 0, in6_pktinfo{}, false, message);
}

}  // namespace viaduct::forward
