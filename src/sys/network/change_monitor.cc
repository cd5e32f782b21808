#include "sys/network/change_monitor.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "base/error.h"
#include "base/socket_option.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

constexpr std::array<int, 11> kAllGroups = {
    RTNLGRP_LINK,       RTNLGRP_NEIGH,     RTNLGRP_NEXTHOP,      RTNLGRP_IPV4_IFADDR,
    RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_IFADDR,
    RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE, RTNLGRP_IPV6_NETCONF,
};
constexpr std::array<int, 9> kRouteGroups = {
    RTNLGRP_LINK,       RTNLGRP_NEXTHOP,   RTNLGRP_IPV4_IFADDR,
    RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_IFADDR,
    RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE, RTNLGRP_TC,
};
constexpr std::array<int, 1> kPacketRuleGroups = {NFNLGRP_NFTABLES};

// Returns a number as the socket filter reads it: two bytes in network order.
uint32_t InNetworkOrder(uint16_t number) { return htons(number); }

// Makes the socket ignore messages about routes of this protocol.
void LeaveOutRoutes(uint8_t protocol, int fd) {
  constexpr uint32_t kType = offsetof(nlmsghdr, nlmsg_type);
  constexpr uint32_t kProtocol = NLMSG_HDRLEN + offsetof(rtmsg, rtm_protocol);
  std::array<sock_filter, 7> code = {{
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kType),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, InNetworkOrder(RTM_NEWROUTE), 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, InNetworkOrder(RTM_DELROUTE), 0, 2),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kProtocol),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, protocol, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
      BPF_STMT(BPF_RET | BPF_K, 0),
  }};
  const sock_fprog program{static_cast<uint16_t>(code.size()), code.data()};
  SetSocketOption(fd, SOL_SOCKET, SO_ATTACH_FILTER, program, "SO_ATTACH_FILTER");
}

// Opens a netlink socket; returns an empty descriptor if the kernel does not support this netlink
// family.
UniqueFd OpenSocket(int netlink_family, int namespace_fd) {
  const NamespaceScope scope(namespace_fd);
  UniqueFd opened(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, netlink_family));
  if (!opened && errno != EPROTONOSUPPORT)
    throw SystemError("open a netlink monitor for changes", errno);
  return opened;
}

bool IsForwarding(uint16_t type) {
  switch (type) {
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH:
    case RTM_NEWNEXTHOP:
    case RTM_DELNEXTHOP:
      return true;
    default:
      return false;
  }
}

}  // namespace

ChangeMonitor::ChangeMonitor(int namespace_fd) : ChangeMonitor(kAllGroups, namespace_fd) {}

ChangeMonitor ChangeMonitor::OfRoutesBut(uint8_t protocol, int namespace_fd) {
  ChangeMonitor monitor(kRouteGroups, namespace_fd);
  LeaveOutRoutes(protocol, monitor.fd());
  return monitor;
}

std::optional<ChangeMonitor> ChangeMonitor::OfPacketRules(int namespace_fd) {
  ChangeMonitor monitor(OpenSocket(NETLINK_NETFILTER, namespace_fd));
  if (!monitor.socket_) return std::nullopt;
  monitor.Subscribe(kPacketRuleGroups);
  return monitor;
}

ChangeMonitor::ChangeMonitor(std::span<const int> groups, int namespace_fd)
    : socket_(OpenSocket(NETLINK_ROUTE, namespace_fd)) {
  Subscribe(groups);
}

void ChangeMonitor::Subscribe(std::span<const int> groups) {
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  SystemCall("bind a netlink monitor for changes",
             bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  for (const int group : groups) {
    SystemCall(
        "subscribe to netlink changes",
        setsockopt(socket_.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group));
  }
}

bool ChangeMonitor::HasNews() const {
  pollfd wait{socket_.get(), POLLIN, 0};
  return poll(&wait, 1, 0) > 0;
}

NetworkChanges ChangeMonitor::Read() {
  NetworkChanges changes;
  alignas(nlmsghdr) std::array<char, 32768> buffer;
  while (true) {
    const ssize_t received = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno == EAGAIN) return changes;
    if (received < 0 && errno == ENOBUFS) {  // too many changes: the kernel has dropped some
      changes = {true, true};
      continue;
    }
    int left = static_cast<int>(SystemCall("read changes", received));
    for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data()); nlmsg_ok(message, left);
         message = nlmsg_next(message, &left)) {
      (IsForwarding(message->nlmsg_type) ? changes.forwarding : changes.configuration) = true;
    }
  }
}

}  // namespace viaduct::sys
