#include "sys/network/change_monitor.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "base/error.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

constexpr std::array kGroups = {
    RTNLGRP_LINK,       RTNLGRP_NEIGH,     RTNLGRP_NEXTHOP,      RTNLGRP_IPV4_IFADDR,
    RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_RULE, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_IFADDR,
    RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE, RTNLGRP_IPV6_NETCONF,
};

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

ChangeMonitor::ChangeMonitor(int namespace_fd) {
  const NamespaceScope scope(namespace_fd);
  socket_ = UniqueFd(
      SystemCall("open a monitor of changes",
                 socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  SystemCall("bind a monitor of changes",
             bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  for (const int group : kGroups) {
    SystemCall("subscribe to changes", setsockopt(socket_.get(), SOL_NETLINK,
                                                  NETLINK_ADD_MEMBERSHIP, &group, sizeof group));
  }
}

NetworkChanges ChangeMonitor::Read() {
  NetworkChanges changes;
  alignas(nlmsghdr) std::array<char, 32768> buffer;
  while (true) {
    const ssize_t received = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno == EAGAIN) return changes;
    if (received < 0 && errno == ENOBUFS) {  // there were too many to be told
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
