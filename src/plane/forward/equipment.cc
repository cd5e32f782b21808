#include "plane/forward/equipment.h"

#include <linux/icmpv6.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/socket_option.h"
#include "plane/forward/neighbour_monitor.h"
#include "plane/forward/upcall_sender.h"
#include "sys/descriptors.h"
#include "sys/network/filter.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/packet_marks.h"

namespace viaduct::forward {
namespace {

// Opens a raw socket; returns no descriptor if the kernel lacks this address family.
UniqueFd RawSocket(int family, int protocol) {
  UniqueFd opened(socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!opened && errno != EAFNOSUPPORT) throw SystemError("open a raw socket", errno);
  return opened;
}

// The size of the send buffer of a raw socket. Packets for a neighbour that is not resolved count
// in the socket's buffer until they are sent, so the buffer has space for all packets that the
// kernel may hold for a neighbour (lab/upcalls.cc).
constexpr int kSendBuffer = 16 << 20;

// Opens a raw socket that only sends. The socket would receive packets of protocol 255, which the
// kernel should refuse; it is bound to an address that no packet for the node has, so it receives
// none. The kernel uses no broadcast or multicast address as a source (raw_bind(), rawv6_bind()).
UniqueFd SendingSocket(const wire::IpAddress& bound_to) {
  const bool is_ipv4 = bound_to.family == wire::Family::kIpv4;
  UniqueFd opened = RawSocket(is_ipv4 ? AF_INET : AF_INET6, IPPROTO_RAW);
  if (!opened) return opened;
  // SO_BROADCAST is set because ICMP errors are sent to the source of a packet, which may be a
  // broadcast address.
  SetSocketOption(opened.get(), SOL_SOCKET, SO_BROADCAST, 1, "SO_BROADCAST");
  SetSocketBuffer(opened.get(), SO_SNDBUFFORCE, SO_SNDBUF, kSendBuffer);
  // The mark shows that the packets of this socket do not count as the use of a route by a program
  // of the node.
  SetSocketOption(opened.get(), SOL_SOCKET, SO_MARK, sys::kForwardedMark, "SO_MARK");
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  std::memcpy(&ipv4.sin_addr, bound_to.bytes.data(), sizeof ipv4.sin_addr);
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  std::memcpy(&ipv6.sin6_addr, bound_to.bytes.data(), sizeof ipv6.sin6_addr);
  SystemCall("bind a raw socket",
             is_ipv4 ? bind(opened.get(), reinterpret_cast<sockaddr*>(&ipv4), sizeof ipv4)
                     : bind(opened.get(), reinterpret_cast<sockaddr*>(&ipv6), sizeof ipv6));
  return opened;
}

UniqueFd Icmpv6Socket() {
  UniqueFd opened = RawSocket(AF_INET6, IPPROTO_ICMPV6);
  if (!opened) return opened;
  icmp6_filter nothing{};
  for (auto& word : nothing.data) word = 0xFFFFFFFF;  // a set bit: the type is not received
  SetSocketOption(opened.get(), IPPROTO_ICMPV6, ICMPV6_FILTER, nothing, "ICMPV6_FILTER");
  return opened;
}

// The maximum number of own addresses in a socket's filter: more would make the filter too long for
// the kernel. The forwarding program's table has all addresses.
constexpr size_t kMaxFiltered = 64;

std::string OwnDestinations(const std::vector<sys::InterfaceAddress>& own) {
  std::string text = "dst host 0.0.0.0";
  for (size_t i = 0; i < std::min(own.size(), kMaxFiltered); ++i) {
    text += " or dst host " + own[i].address.address.ToString();
  }
  return text;
}

}  // namespace

std::map<std::string, std::map<std::string, uint64_t>> DescribeCounters(
    const SharedWith& shared, std::span<const Word> counters) {
  std::map<std::string, std::map<std::string, uint64_t>> all;
  for (size_t port = 0; port < shared.interfaces.size(); ++port) {
    const Counters::OfPort of_port = Counters::Read(counters, port);
    auto& named = all[shared.interfaces[port]];
    const std::vector<std::string>& outcomes = shared.program.outcomes;
    for (size_t i = 0; i < outcomes.size(); ++i) named[outcomes[i]] = of_port.frames[i];
    named["ring-full"] = of_port.frames[Counters::kRingFull];
    named["not-sent"] = of_port.frames[Counters::kNotSent];
    named["forwarded-bytes"] = of_port.bytes;
  }
  return all;
}

std::vector<int> Equipment::Descriptors() const {
  std::vector<int> all;
  for (const UniqueFd* each :
       {&table, &counters, &events, &doorbell, &neighbours, &raw_ipv4, &raw_ipv6, &icmpv6}) {
    if (*each) all.push_back(each->get());
  }
  for (const UniqueFd& each : upcalls) all.push_back(each.get());
  for (const auto* of_ports : {&sockets, &senders}) {
    for (const sys::PacketSocket& socket : *of_ports) all.push_back(socket.fd.get());
  }
  return all;
}

void SetFilter(const ProgramDescription& program, const wire::MacAddress& mac,
               const std::vector<sys::InterfaceAddress>& own, int socket) {
  sys::PacketFilter::Compile(program.FilterOf(mac, OwnDestinations(own))).Attach(socket);
}

Equipment Equip(const std::string& name, int namespace_fd, const SharedWith& shared) {
  Equipment equipment;
  equipment.name = name;
  equipment.program = shared.program;
  equipment.table = sys::Duplicate(shared.table);
  equipment.counters = sys::Duplicate(shared.counters);
  if (shared.events >= 0) {
    equipment.events = sys::Duplicate(shared.events);
    equipment.doorbell = sys::Duplicate(shared.doorbell);
  }
  const sys::NamespaceScope scope(namespace_fd);
  sys::Netlink netlink;
  equipment.own = netlink.Addresses();
  for (const std::string& interface : shared.interfaces) {
    const sys::LinkInfo link = netlink.GetLink(interface);
    equipment.ports.push_back(
        {interface, static_cast<uint32_t>(link.ifindex), link.mac, static_cast<size_t>(link.mtu)});
    equipment.sockets.push_back(sys::OpenPacketSocket(interface, shared.program.is_promiscuous));
    equipment.senders.push_back(sys::OpenPacketSocket(interface, false));
    equipment.upcalls.push_back(UpcallSender::OpenSocket(link.ifindex));
    SetFilter(shared.program, link.mac, equipment.own, equipment.sockets.back().fd.get());
  }
  equipment.neighbours = NeighbourMonitor::Open();
  equipment.raw_ipv4 = SendingSocket(wire::IpAddress::FromIpv4(0xFFFFFFFF));
  equipment.raw_ipv6 = SendingSocket(wire::IpAddress::Parse("ff0e::ffff"));
  equipment.icmpv6 = Icmpv6Socket();
  return equipment;
}

}  // namespace viaduct::forward
