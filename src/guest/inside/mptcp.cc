#include "guest/inside/mptcp.h"

#include <linux/genetlink.h>
#include <linux/mptcp.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "sys/network/netlink.h"

namespace viaduct::guest::inside {
namespace {

// A generic netlink socket. sys::NetlinkSocket is not used because libnl reads the clock when it
// creates a socket, and reading the clock takes virtual time.
class GenericSocket {
 public:
  GenericSocket()
      : fd_(SystemCall("open a generic netlink socket",
                       socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC))) {}

  // Sends a message and returns the first answer, which is stored in this object's buffer. Throws
  // SystemError if the answer is an error.
  const nlmsghdr* Ask(const sys::NetlinkMessage& message, const std::string& attempted) {
    nlmsghdr* header = nlmsg_hdr(message.get());
    header->nlmsg_flags |= NLM_F_REQUEST;
    SystemCall(attempted, send(fd_.get(), header, header->nlmsg_len, 0));
    SystemCall(attempted, recv(fd_.get(), buffer_.data(), buffer_.size(), 0));
    const auto* answer = reinterpret_cast<const nlmsghdr*>(buffer_.data());
    if (answer->nlmsg_type == NLMSG_ERROR) {
      const auto* error = static_cast<const nlmsgerr*>(nlmsg_data(answer));
      if (error->error != 0) throw SystemError(attempted, -error->error);
    }
    return answer;
  }

 private:
  UniqueFd fd_;
  alignas(nlmsghdr) std::array<char, 8192> buffer_;
};

sys::NetlinkMessage Command(int family, uint8_t command, uint8_t version, int flags) {
  sys::NetlinkMessage message(family, flags);
  genlmsghdr header{};
  header.cmd = command;
  header.version = version;
  message.AppendHeader(header);
  return message;
}

int FindFamily(GenericSocket& netlink) {
  auto message = Command(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);
  message.Put(CTRL_ATTR_FAMILY_NAME, MPTCP_PM_NAME);
  const nlmsghdr* answer = netlink.Ask(message, "look for MPTCP in this kernel");
  const nlattr* id =
      nlmsg_find_attr(const_cast<nlmsghdr*>(answer), sizeof(genlmsghdr), CTRL_ATTR_FAMILY_ID);
  if (id == nullptr) throw SystemError("look for MPTCP in this kernel", EOPNOTSUPP);
  return nla_get_u16(id);
}

}  // namespace

void SetMptcpLimits(const agent::MptcpLimits& limits) {
  GenericSocket netlink;
  const int family = FindFamily(netlink);
  auto message = Command(family, MPTCP_PM_CMD_SET_LIMITS, MPTCP_PM_VER, NLM_F_ACK);
  message.PutU32(MPTCP_PM_ATTR_RCV_ADD_ADDRS, limits.addresses);
  message.PutU32(MPTCP_PM_ATTR_SUBFLOWS, limits.subflows);
  netlink.Ask(message, "set the limits of MPTCP to " + std::to_string(limits.subflows) +
                           " subflows and " + std::to_string(limits.addresses) + " addresses");
}

void AddMptcpEndpoint(const agent::MptcpEndpoint& endpoint) {
  GenericSocket netlink;
  const int family = FindFamily(netlink);
  const wire::IpAddress address = agent::FromEndpoint(endpoint.address);
  const bool ipv4 = address.family == wire::Family::kIpv4;
  auto add = Command(family, MPTCP_PM_CMD_ADD_ADDR, MPTCP_PM_VER, NLM_F_ACK);
  add.Nest(MPTCP_PM_ATTR_ADDR | NLA_F_NESTED, [&] {
    add.PutU16(MPTCP_PM_ADDR_ATTR_FAMILY, ipv4 ? AF_INET : AF_INET6);
    add.PutU32(MPTCP_PM_ADDR_ATTR_FLAGS, endpoint.flags);
    if (endpoint.ifindex != 0) {
      add.PutU32(MPTCP_PM_ADDR_ATTR_IF_IDX, static_cast<uint32_t>(endpoint.ifindex));
    }
    add.Put(ipv4 ? MPTCP_PM_ADDR_ATTR_ADDR4 : MPTCP_PM_ADDR_ATTR_ADDR6, address.bytes.data(),
            static_cast<size_t>(address.Length()));
  });
  netlink.Ask(add, "add the MPTCP endpoint " + address.ToString());
}

}  // namespace viaduct::guest::inside
