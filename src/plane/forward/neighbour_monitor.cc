#include "plane/forward/neighbour_monitor.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "sys/network/netlink.h"

namespace viaduct::forward {
namespace {

constexpr int kReceiveBuffer = 1 << 20;
constexpr uint16_t kUsable =
    NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE;

template <size_t kSize>
bool Take(const nlattr* attribute, std::array<uint8_t, kSize>* bytes, size_t size) {
  if (attribute == nullptr || static_cast<size_t>(nla_len(attribute)) != size) return false;
  std::memcpy(bytes->data(), nla_data(attribute), size);
  return true;
}

void Apply(const nlmsghdr* message, NeighbourTable* table) {
  std::array<nlattr*, NDA_MAX + 1> attributes{};
  if (nlmsg_parse(const_cast<nlmsghdr*>(message), sizeof(ndmsg), attributes.data(), NDA_MAX,
                  nullptr) < 0) {
    return;
  }
  const auto* header = static_cast<const ndmsg*>(nlmsg_data(message));
  if (header->ndm_family != AF_INET && header->ndm_family != AF_INET6) return;
  wire::IpAddress address;
  if (header->ndm_family == AF_INET6) address.family = wire::Family::kIpv6;
  if (!Take(attributes[NDA_DST], &address.bytes, static_cast<size_t>(address.Length()))) return;
  const auto ifindex = static_cast<uint32_t>(header->ndm_ifindex);
  wire::MacAddress mac;
  const bool is_usable = message->nlmsg_type == RTM_NEWNEIGH &&
                         (header->ndm_state & kUsable) != 0 &&
                         Take(attributes[NDA_LLADDR], &mac.bytes, mac.bytes.size());
  if (is_usable) {
    table->Set(ifindex, address, mac, (header->ndm_state & NUD_STALE) != 0);
  } else {
    table->Remove(ifindex, address);
  }
}

}  // namespace

UniqueFd NeighbourMonitor::Open() {
  UniqueFd opened(
      SystemCall("open a netlink socket for neighbours",
                 socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)));
  // A buffer above the system's limit needs the privileges of the process that opens the socket. A
  // failure is ignored, as the buffer's size affects only speed.
  setsockopt(opened.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_NEIGH;
  SystemCall("subscribe to changes of neighbours",
             bind(opened.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  return opened;
}

NeighbourMonitor::NeighbourMonitor(UniqueFd socket) : socket_(std::move(socket)) { RequestAll(); }

void NeighbourMonitor::RequestAll() {
  sys::NetlinkMessage message(RTM_GETNEIGH, NLM_F_REQUEST | NLM_F_DUMP);
  message.AppendHeader(ndmsg{});
  nlmsghdr* header = nlmsg_hdr(message.get());
  header->nlmsg_pid = 0;
  SystemCall("query the neighbours", send(socket_.get(), header, header->nlmsg_len, 0));
}

void NeighbourMonitor::Read(NeighbourTable* table) {
  alignas(nlmsghdr) std::array<char, 32768> buffer;
  while (true) {
    const ssize_t received = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (received < 0 && errno == ENOBUFS) {
      table->Clear();
      RequestAll();
      continue;
    }
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno == EAGAIN) return;
    SystemCall("read neighbours", received);
    int left = static_cast<int>(received);
    for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data()); nlmsg_ok(message, left);
         message = nlmsg_next(message, &left)) {
      if (message->nlmsg_type == RTM_NEWNEIGH || message->nlmsg_type == RTM_DELNEIGH) {
        Apply(message, table);
      }
    }
  }
}

}  // namespace viaduct::forward
