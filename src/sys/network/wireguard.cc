#include "sys/network/wireguard.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/wireguard.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "sys/network/link.h"

namespace viaduct::sys {
namespace {

constexpr int kListItem = 0;  // the attribute type of every list item: list items have no names

[[noreturn]] void ThrowNoWireguard() {
  utsname system{};
  uname(&system);
  throw EnvironmentError(std::string("WireGuard: the kernel of this machine (") + system.release +
                         ") does not support WireGuard; use a kernel with CONFIG_WIREGUARD, or "
                         "install the module wireguard");
}

NetlinkMessage GenericRequest(uint16_t family, int flags, uint8_t command, uint8_t version) {
  NetlinkMessage message(family, flags);
  message.AppendHeader(genlmsghdr{command, version, 0});
  return message;
}

nlattr* FindAttribute(const nlmsghdr* answer, int attribute) {
  return nlmsg_find_attr(const_cast<nlmsghdr*>(answer), sizeof(genlmsghdr), attribute);
}

uint16_t FindWireguardFamily(NetlinkSocket& socket) {
  NetlinkMessage message = GenericRequest(GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, 1);
  message.Put(CTRL_ATTR_FAMILY_NAME, WG_GENL_NAME);
  uint16_t number = 0;
  try {
    socket.Query(message, "look up WireGuard's netlink family", [&](const nlmsghdr* answer) {
      if (const nlattr* found = FindAttribute(answer, CTRL_ATTR_FAMILY_ID)) {
        number = nla_get_u16(found);
      }
    });
  } catch (const SystemError& error) {
    if (error.error_number() != ENOENT) throw;
  }
  if (number == 0) ThrowNoWireguard();
  return number;
}

void PutEndpoint(NetlinkMessage& message, const WireguardPeer::Endpoint& endpoint) {
  if (endpoint.address.family == wire::Family::kIpv4) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(endpoint.port);
    std::memcpy(&ipv4.sin_addr, endpoint.address.bytes.data(), sizeof ipv4.sin_addr);
    message.Put(WGPEER_A_ENDPOINT, &ipv4, sizeof ipv4);
    return;
  }
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(endpoint.port);
  std::memcpy(&ipv6.sin6_addr, endpoint.address.bytes.data(), sizeof ipv6.sin6_addr);
  message.Put(WGPEER_A_ENDPOINT, &ipv6, sizeof ipv6);
}

void PutAllowed(NetlinkMessage& message, const wire::IpPrefix& allowed) {
  message.Nest(kListItem, [&] {
    message.PutU16(WGALLOWEDIP_A_FAMILY, FamilyOf(allowed.address));
    message.Put(WGALLOWEDIP_A_IPADDR, allowed.address);
    message.PutU8(WGALLOWEDIP_A_CIDR_MASK, static_cast<uint8_t>(allowed.length));
  });
}

}  // namespace

void CreateWireguard(const WireguardLink& link) {
  NetlinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.AppendHeader(ifinfomsg{});
  message.Put(IFLA_IFNAME, link.name);
  message.PutU32(IFLA_MTU, static_cast<uint32_t>(link.mtu));
  // Moves only the interface: the UDP socket stays in the session's namespace (wg_newlink() of
  // drivers/net/wireguard/device.c).
  if (link.namespace_fd >= 0) {
    message.PutU32(IFLA_NET_NS_FD, static_cast<uint32_t>(link.namespace_fd));
  }
  message.Nest(IFLA_LINKINFO, [&] { message.Put(IFLA_INFO_KIND, "wireguard"); });
  NetlinkSocket session;
  const int error = session.TryRequest(message);
  if (error == EOPNOTSUPP) ThrowNoWireguard();
  if (error != 0) throw SystemError("create WireGuard interface " + link.name, error);
}

Wireguard::Wireguard(int namespace_fd, std::string interface)
    : socket_(namespace_fd, NETLINK_GENERIC),
      interface_(std::move(interface)),
      family_(FindWireguardFamily(socket_)) {}

NetlinkMessage Wireguard::Change() const {
  NetlinkMessage message = GenericRequest(family_, 0, WG_CMD_SET_DEVICE, WG_GENL_VERSION);
  message.Put(WGDEVICE_A_IFNAME, interface_);
  return message;
}

void Wireguard::Apply(NetlinkMessage& message) {
  socket_.Request(message, "configure WireGuard interface " + interface_);
}

void Wireguard::Start(const WireguardKey& private_key, uint16_t port) {
  NetlinkMessage message = Change();
  message.Put(WGDEVICE_A_PRIVATE_KEY, private_key.data(), private_key.size());
  message.PutU16(WGDEVICE_A_LISTEN_PORT, port);
  Apply(message);
}

void Wireguard::SetPeer(const WireguardPeer& peer) {
  RemovePeer(peer.key);
  NetlinkMessage message = Change();
  message.Nest(WGDEVICE_A_PEERS, [&] {
    message.Nest(kListItem, [&] {
      message.Put(WGPEER_A_PUBLIC_KEY, peer.key.data(), peer.key.size());
      if (peer.endpoint) PutEndpoint(message, *peer.endpoint);
      message.PutU16(WGPEER_A_PERSISTENT_KEEPALIVE_INTERVAL, peer.keepalive);
      message.Nest(WGPEER_A_ALLOWEDIPS, [&] {
        for (const wire::IpPrefix& allowed : peer.allowed) PutAllowed(message, allowed);
      });
    });
  });
  Apply(message);
}

void Wireguard::RemovePeers() {
  NetlinkMessage message = Change();
  message.PutU32(WGDEVICE_A_FLAGS, WGDEVICE_F_REPLACE_PEERS);
  Apply(message);
}

void Wireguard::RemovePeer(const WireguardKey& key) {
  NetlinkMessage message = Change();
  message.Nest(WGDEVICE_A_PEERS, [&] {
    message.Nest(kListItem, [&] {
      message.Put(WGPEER_A_PUBLIC_KEY, key.data(), key.size());
      message.PutU32(WGPEER_A_FLAGS, WGPEER_F_REMOVE_ME);
    });
  });
  Apply(message);
}

uint16_t Wireguard::Port() {
  NetlinkMessage message = GenericRequest(family_, NLM_F_DUMP, WG_CMD_GET_DEVICE, WG_GENL_VERSION);
  message.Put(WGDEVICE_A_IFNAME, interface_);
  uint16_t port = 0;
  socket_.Query(message, "query WireGuard interface " + interface_, [&](const nlmsghdr* answer) {
    if (const nlattr* found = FindAttribute(answer, WGDEVICE_A_LISTEN_PORT)) {
      port = nla_get_u16(found);
    }
  });
  return port;
}

}  // namespace viaduct::sys
