#include "sys/network/link.h"

#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/wire/address_scope.h"
#include "sys/network/netns.h"
#include "sys/network/route_request.h"

namespace viaduct::sys {
namespace {

constexpr int kCreate = NLM_F_CREATE | NLM_F_EXCL;

std::string Describe(int ifindex) { return "interface " + std::to_string(ifindex); }

ifinfomsg LinkHeader(int ifindex) {
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = ifindex;
  return header;
}

NetlinkMessage ChangeLink(int ifindex) {
  NetlinkMessage message(RTM_NEWLINK, 0);
  message.AppendHeader(LinkHeader(ifindex));
  return message;
}

NetlinkMessage ChangeFlags(int ifindex, unsigned which, unsigned flags) {
  ifinfomsg header = LinkHeader(ifindex);
  header.ifi_change = which;
  header.ifi_flags = flags;
  NetlinkMessage message(RTM_NEWLINK, 0);
  message.AppendHeader(header);
  return message;
}

void PutVethEnd(NetlinkMessage& message, const VethEnd& end) {
  message.Put(IFLA_IFNAME, end.name);
  message.PutU32(IFLA_MTU, static_cast<uint32_t>(end.mtu));
  if (end.mac) message.Put(IFLA_ADDRESS, end.mac->bytes.data(), end.mac->bytes.size());
  if (end.namespace_fd >= 0) {
    message.PutU32(IFLA_NET_NS_FD, static_cast<uint32_t>(end.namespace_fd));
  }
}

using LinkAttributes = std::array<nlattr*, IFLA_MAX + 1>;

LinkAttributes ParseLinkAttributes(const nlmsghdr* message) {
  LinkAttributes attributes{};
  if (nlmsg_parse(const_cast<nlmsghdr*>(message), sizeof(ifinfomsg), attributes.data(), IFLA_MAX,
                  nullptr) < 0) {
    throw Error("malformed link message from the kernel");
  }
  return attributes;
}

std::string KindOf(nlattr* link_info) {
  if (link_info == nullptr) return "";
  const nlattr* kind =
      nla_find(static_cast<nlattr*>(nla_data(link_info)), nla_len(link_info), IFLA_INFO_KIND);
  return kind == nullptr ? "" : std::string(nla_get_string(kind));
}

LinkCounters CountersOf(const nlattr* attribute) {
  rtnl_link_stats64 statistics{};
  if (attribute == nullptr) return {};
  std::memcpy(&statistics, nla_data(attribute),
              std::min<size_t>(sizeof statistics, static_cast<size_t>(nla_len(attribute))));
  return {statistics.rx_packets, statistics.rx_bytes, statistics.rx_dropped,
          statistics.tx_packets, statistics.tx_bytes, statistics.tx_dropped};
}

LinkInfo ParseLink(const nlmsghdr* message) {
  const auto* header = static_cast<const ifinfomsg*>(nlmsg_data(message));
  const LinkAttributes attributes = ParseLinkAttributes(message);
  LinkInfo link;
  link.ifindex = header->ifi_index;
  link.up = (header->ifi_flags & IFF_UP) != 0;
  link.running = (header->ifi_flags & IFF_RUNNING) != 0;
  link.carrier = attributes[IFLA_CARRIER] != nullptr && nla_get_u8(attributes[IFLA_CARRIER]) != 0;
  if (attributes[IFLA_IFNAME] != nullptr) link.name = nla_get_string(attributes[IFLA_IFNAME]);
  if (attributes[IFLA_MTU] != nullptr) {
    link.mtu = static_cast<int>(nla_get_u32(attributes[IFLA_MTU]));
  }
  if (attributes[IFLA_MASTER] != nullptr) {
    link.master = static_cast<int>(nla_get_u32(attributes[IFLA_MASTER]));
  }
  if (const nlattr* mac = attributes[IFLA_ADDRESS]; mac != nullptr && nla_len(mac) == 6) {
    std::memcpy(link.mac.bytes.data(), nla_data(mac), 6);
  }
  link.kind = KindOf(attributes[IFLA_LINKINFO]);
  link.ethernet = header->ifi_type == ARPHRD_ETHER || header->ifi_type == ARPHRD_LOOPBACK;
  link.counters = CountersOf(attributes[IFLA_STATS64]);
  return link;
}

std::optional<LinkInfo> QueryLink(NetlinkSocket& socket, NetlinkMessage& message,
                                  const std::string& what) {
  std::optional<LinkInfo> link;
  try {
    socket.Query(message, "look up " + what,
                 [&](const nlmsghdr* answer) { link = ParseLink(answer); });
  } catch (const SystemError& error) {
    if (error.error_number() != ENODEV) throw;
  }
  return link;
}

// Makes a request about an address. The kernel does not check IPv6 addresses for duplicates.
NetlinkMessage AddressRequest(int type, int flags, int ifindex, const wire::IpPrefix& address) {
  ifaddrmsg header{};
  header.ifa_family = FamilyOf(address.address);
  header.ifa_prefixlen = static_cast<uint8_t>(address.length);
  header.ifa_flags = address.address.family == wire::Family::kIpv4 ? 0 : IFA_F_NODAD;
  header.ifa_index = static_cast<uint32_t>(ifindex);
  NetlinkMessage message(type, flags);
  message.AppendHeader(header);
  message.Put(IFA_LOCAL, address.address);
  message.Put(IFA_ADDRESS, address.address);
  return message;
}

}  // namespace

void Netlink::CreateVethPair(const VethEnd& a, const VethEnd& b) {
  NetlinkMessage message(RTM_NEWLINK, kCreate);
  message.AppendHeader(LinkHeader(a.ifindex));
  PutVethEnd(message, a);
  message.Nest(IFLA_LINKINFO, [&] {
    message.Put(IFLA_INFO_KIND, "veth");
    message.Nest(IFLA_INFO_DATA, [&] {
      message.Nest(VETH_INFO_PEER, [&] {
        message.AppendHeader(LinkHeader(b.ifindex));
        PutVethEnd(message, b);
      });
    });
  });
  socket_.Request(message, "create veth pair " + a.name + " - " + b.name);
}

void Netlink::CreateBridge(const std::string& name, int mtu) {
  NetlinkMessage message(RTM_NEWLINK, kCreate);
  message.AppendHeader(LinkHeader(0));
  message.Put(IFLA_IFNAME, name);
  message.PutU32(IFLA_MTU, static_cast<uint32_t>(mtu));
  message.Nest(IFLA_LINKINFO, [&] {
    message.Put(IFLA_INFO_KIND, "bridge");
    message.Nest(IFLA_INFO_DATA, [&] {
      message.PutU32(IFLA_BR_STP_STATE, 0);
      message.PutU32(IFLA_BR_FORWARD_DELAY, 0);
      message.PutU8(IFLA_BR_MCAST_SNOOPING, 0);
    });
  });
  socket_.Request(message, "create bridge " + name);
}

void Netlink::DeleteLink(int ifindex) {
  NetlinkMessage message(RTM_DELLINK, 0);
  message.AppendHeader(LinkHeader(ifindex));
  const std::string attempted = "delete " + Describe(ifindex);
  try {
    socket_.Request(message, attempted);
  } catch (const SystemError& error) {
    if (error.error_number() != ENODEV) throw;
  }
}

std::optional<LinkInfo> Netlink::FindLink(const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ) return std::nullopt;
  NetlinkMessage message(RTM_GETLINK, 0);
  message.AppendHeader(LinkHeader(0));
  message.Put(IFLA_IFNAME, name);
  return QueryLink(socket_, message, "interface " + name);
}

std::optional<LinkInfo> Netlink::FindLink(int ifindex) {
  NetlinkMessage message(RTM_GETLINK, 0);
  message.AppendHeader(LinkHeader(ifindex));
  return QueryLink(socket_, message, Describe(ifindex));
}

LinkInfo Netlink::GetLink(const std::string& name) {
  std::optional<LinkInfo> link = FindLink(name);
  if (!link) throw SystemError("look up interface " + name, ENODEV);
  return *link;
}

std::vector<LinkInfo> Netlink::Links() {
  NetlinkMessage message(RTM_GETLINK, NLM_F_DUMP);
  message.AppendHeader(LinkHeader(0));
  std::vector<LinkInfo> links;
  socket_.Query(message, "list interfaces",
                [&](const nlmsghdr* answer) { links.push_back(ParseLink(answer)); });
  return links;
}

void Netlink::SetUp(int ifindex, bool up) {
  NetlinkMessage message = ChangeFlags(ifindex, IFF_UP, up ? IFF_UP : 0);
  socket_.Request(message, "set " + Describe(ifindex) + (up ? " up" : " down"));
}

void Netlink::SetUpAndArp(int ifindex, bool up, bool arp) {
  NetlinkMessage message =
      ChangeFlags(ifindex, IFF_UP | IFF_NOARP, (up ? IFF_UP : 0) | (arp ? 0 : IFF_NOARP));
  socket_.Request(message, "set " + Describe(ifindex) + (up ? " up" : " down"));
}

namespace {

// Checks a condition every millisecond. Returns false if the condition is not met within the
// timeout.
template <class Condition>
bool AwaitCondition(Condition condition, Duration timeout) {
  const Instant deadline = MonotonicClock::Now() + timeout;
  while (!condition()) {
    if (MonotonicClock::Now() >= deadline) return false;
    const timespec pause{0, 1000000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

}  // namespace

bool Netlink::AwaitRunning(const std::string& name, Duration timeout) {
  // Queries the link, because the query makes newer kernels process the carrier at once
  // (linkwatch_sync_dev).
  return AwaitCondition([&] { return GetLink(name).running; }, timeout);
}

bool Netlink::AwaitAddresses(int ifindex, Duration timeout) {
  return AwaitCondition(
      [&] {
        return std::ranges::none_of(Addresses(), [&](const InterfaceAddress& each) {
          return each.ifindex == ifindex && each.is_tentative;
        });
      },
      timeout);
}

void Netlink::SetArp(int ifindex, bool on) {
  NetlinkMessage message = ChangeFlags(ifindex, IFF_NOARP, on ? 0 : IFF_NOARP);
  socket_.Request(message, "switch ARP on or off on " + Describe(ifindex));
}

void Netlink::Rename(int ifindex, const std::string& name) {
  NetlinkMessage message = ChangeLink(ifindex);
  message.Put(IFLA_IFNAME, name);
  socket_.Request(message, "rename " + Describe(ifindex) + " to " + name);
}

void Netlink::SetMtu(int ifindex, int mtu) {
  NetlinkMessage message = ChangeLink(ifindex);
  message.PutU32(IFLA_MTU, static_cast<uint32_t>(mtu));
  socket_.Request(message, "set MTU " + std::to_string(mtu) + " of " + Describe(ifindex));
}

void Netlink::SetQueueLength(int ifindex, uint32_t packets) {
  NetlinkMessage message = ChangeLink(ifindex);
  message.PutU32(IFLA_TXQLEN, packets);
  socket_.Request(message, "set the queue length of " + Describe(ifindex));
}

void Netlink::SetMac(int ifindex, const wire::MacAddress& mac) {
  NetlinkMessage message = ChangeLink(ifindex);
  message.Put(IFLA_ADDRESS, mac.bytes.data(), mac.bytes.size());
  socket_.Request(message, "set MAC address " + mac.ToString() + " of " + Describe(ifindex));
}

void Netlink::SetMaster(int ifindex, int master_ifindex) {
  NetlinkMessage message = ChangeLink(ifindex);
  message.PutU32(IFLA_MASTER, static_cast<uint32_t>(master_ifindex));
  socket_.Request(message, "put " + Describe(ifindex) + " under " + Describe(master_ifindex));
}

void Netlink::SetIpv6LinkLocal(int ifindex, bool on) {
  NetlinkMessage message = ChangeLink(ifindex);
  message.Nest(IFLA_AF_SPEC, [&] {
    message.Nest(AF_INET6, [&] {
      message.PutU8(IFLA_INET6_ADDR_GEN_MODE,
                    on ? IN6_ADDR_GEN_MODE_EUI64 : IN6_ADDR_GEN_MODE_NONE);
    });
  });
  socket_.Request(message, "set the IPv6 address generation of " + Describe(ifindex));
}

void Netlink::MoveLink(int ifindex, int namespace_fd, const std::string& new_name,
                       bool keeps_ifindex) {
  NetlinkMessage message = ChangeLink(ifindex);
  message.PutU32(IFLA_NET_NS_FD, static_cast<uint32_t>(namespace_fd));
  if (keeps_ifindex) message.PutU32(IFLA_NEW_IFINDEX, static_cast<uint32_t>(ifindex));
  message.Put(IFLA_IFNAME, new_name);
  socket_.Request(message, "move " + Describe(ifindex) + " to another namespace as " + new_name);
}

void Netlink::AddAddress(int ifindex, const wire::IpPrefix& address, bool is_connected) {
  const bool ipv4 = address.address.family == wire::Family::kIpv4;
  auto message = AddressRequest(RTM_NEWADDR, kCreate, ifindex, address);
  if (!is_connected) message.PutU32(IFA_FLAGS, (ipv4 ? 0 : IFA_F_NODAD) | IFA_F_NOPREFIXROUTE);
  if (ipv4 && address.length < 31) message.Put(IFA_BROADCAST, wire::BroadcastOf(address));
  socket_.Request(message, "add address " + address.ToString() + " to " + Describe(ifindex));
}

void Netlink::RemoveAddress(int ifindex, const wire::IpPrefix& address) {
  auto message = AddressRequest(RTM_DELADDR, 0, ifindex, address);
  socket_.Request(message, "remove address " + address.ToString() + " from " + Describe(ifindex));
}

std::vector<InterfaceAddress> Netlink::Addresses() {
  NetlinkMessage message(RTM_GETADDR, NLM_F_DUMP);
  message.AppendHeader(ifaddrmsg{});
  std::vector<InterfaceAddress> addresses;
  socket_.Query(message, "list addresses", [&](const nlmsghdr* answer) {
    const auto* header = static_cast<const ifaddrmsg*>(nlmsg_data(answer));
    if (header->ifa_family != AF_INET && header->ifa_family != AF_INET6) return;
    std::array<nlattr*, IFA_MAX + 1> attributes{};
    nlmsg_parse(const_cast<nlmsghdr*>(answer), sizeof *header, attributes.data(), IFA_MAX, nullptr);
    const nlattr* value =
        attributes[IFA_LOCAL] != nullptr ? attributes[IFA_LOCAL] : attributes[IFA_ADDRESS];
    if (value == nullptr) return;
    wire::IpPrefix prefix;
    prefix.address.family =
        header->ifa_family == AF_INET ? wire::Family::kIpv4 : wire::Family::kIpv6;
    prefix.length = header->ifa_prefixlen;
    const auto length = std::min(nla_len(value), prefix.address.Length());
    std::memcpy(prefix.address.bytes.data(), nla_data(value), static_cast<size_t>(length));
    addresses.push_back(
        {static_cast<int>(header->ifa_index), prefix, (header->ifa_flags & IFA_F_TENTATIVE) != 0});
  });
  return addresses;
}

std::vector<wire::IpPrefix> Netlink::Addresses(int ifindex) {
  std::vector<wire::IpPrefix> addresses;
  for (const InterfaceAddress& of : Addresses()) {
    if (of.ifindex == ifindex) addresses.push_back(of.address);
  }
  return addresses;
}

void Netlink::AddRoute(const wire::IpPrefix& destination,
                       const std::optional<wire::IpAddress>& gateway, int ifindex,
                       uint32_t metric) {
  const wire::IpPrefix network = destination.Network();
  auto message = RouteRequest(RouteAction::kCreate, {.destination = network,
                                                     .hops = {{gateway, ifindex}},
                                                     .metric = metric,
                                                     .is_on_link = false});
  socket_.Request(message, "add route " + network.ToString() +
                               (gateway ? " via " + gateway->ToString() : "") + " dev " +
                               Describe(ifindex));
}

void Netlink::AddPermanentNeighbour(int ifindex, const wire::IpAddress& address,
                                    const wire::MacAddress& mac) {
  SetNeighbour(ifindex, address, NUD_PERMANENT, &mac);
}

// The kernel neither asks for the address nor gives up, because it starts no timer for a neighbour
// that a request sets to NUD_INCOMPLETE (__neigh_update() and __neigh_event_send() of
// net/core/neighbour.c).
void Netlink::HoldNeighbour(int ifindex, const wire::IpAddress& address) {
  SetNeighbour(ifindex, address, NUD_INCOMPLETE, nullptr);
}

void Netlink::ReleaseNeighbour(int ifindex, const wire::IpAddress& address,
                               const wire::MacAddress& mac) {
  SetNeighbour(ifindex, address, NUD_REACHABLE, &mac);
}

void Netlink::SetNeighbour(int ifindex, const wire::IpAddress& address, uint16_t state,
                           const wire::MacAddress* mac) {
  ndmsg header{};
  header.ndm_family = FamilyOf(address);
  header.ndm_ifindex = ifindex;
  header.ndm_state = state;
  NetlinkMessage message(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
  message.AppendHeader(header);
  message.Put(NDA_DST, address);
  if (mac != nullptr) message.Put(NDA_LLADDR, mac->bytes.data(), mac->bytes.size());
  socket_.Request(message, "set neighbour " + address.ToString() + " on " + Describe(ifindex));
}

void Netlink::ForgetUnresolvedNeighbours(int ifindex) {
  // The family and the address of each unresolved neighbour.
  std::vector<std::pair<uint8_t, std::vector<std::byte>>> unresolved;
  NetlinkMessage dump(RTM_GETNEIGH, NLM_F_DUMP);
  dump.AppendHeader(ndmsg{});
  socket_.Query(dump, "list the neighbours on " + Describe(ifindex), [&](const nlmsghdr* answer) {
    const auto* header = static_cast<const ndmsg*>(NLMSG_DATA(answer));
    const bool is_unresolved = (header->ndm_state & (NUD_INCOMPLETE | NUD_FAILED)) != 0;
    if (header->ndm_ifindex != ifindex || !is_unresolved) return;
    const nlattr* address = nlmsg_find_attr(const_cast<nlmsghdr*>(answer), sizeof *header, NDA_DST);
    if (address == nullptr) return;
    const auto* bytes = static_cast<const std::byte*>(nla_data(address));
    unresolved.emplace_back(header->ndm_family,
                            std::vector<std::byte>(bytes, bytes + nla_len(address)));
  });
  for (const auto& [family, address] : unresolved) {
    ndmsg header{};
    header.ndm_family = family;
    header.ndm_ifindex = ifindex;
    NetlinkMessage message(RTM_DELNEIGH, 0);
    message.AppendHeader(header);
    message.Put(NDA_DST, address.data(), address.size());
    // Ignores an error: meanwhile the neighbour may have been removed, or its address may have
    // become known.
    socket_.TryRequest(message);
  }
}

LinkMonitor::LinkMonitor(int namespace_fd) {
  NamespaceScope scope(namespace_fd);
  socket_ = UniqueFd(
      SystemCall("open a link monitor",
                 socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  SystemCall("subscribe to link events",
             bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
}

void LinkMonitor::RequestAll() {
  NetlinkMessage message(RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP);
  message.AppendHeader(ifinfomsg{});
  nlmsghdr* header = nlmsg_hdr(message.get());
  header->nlmsg_pid = 0;
  SystemCall("query the state of all links", send(socket_.get(), header, header->nlmsg_len, 0));
}

std::vector<LinkEvent> LinkMonitor::Read(bool* lost) {
  std::vector<LinkEvent> events;
  if (lost != nullptr) *lost = false;
  alignas(nlmsghdr) std::array<char, 32768> buffer;
  while (true) {
    const ssize_t received = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (received < 0 && errno == ENOBUFS) {
      if (lost != nullptr) *lost = true;
      continue;
    }
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno == EAGAIN) return events;
    SystemCall("read link events", received);
    int left = static_cast<int>(received);
    for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data()); nlmsg_ok(message, left);
         message = nlmsg_next(message, &left)) {
      if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK) continue;
      const auto* header = static_cast<const ifinfomsg*>(nlmsg_data(message));
      // Skips a bridge's messages about its ports, which repeat the state of the link.
      if (header->ifi_family != AF_UNSPEC) continue;
      const LinkInfo link = ParseLink(message);
      events.push_back({link.ifindex, link.name, link.up, link.running, link.carrier,
                        message->nlmsg_type == RTM_DELLINK});
    }
  }
}

}  // namespace viaduct::sys
