#include "forward/equipment.h"

#include <fcntl.h>
#include <linux/icmpv6.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/socket_option.h"
#include "forward/neighbour_monitor.h"
#include "sys/network/filter.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::forward {
namespace {

UniqueFd Duplicate(int fd) {
  return UniqueFd(SystemCall("duplicate a descriptor", fcntl(fd, F_DUPFD_CLOEXEC, 0)));
}

// Empty if the kernel has none of this family.
UniqueFd RawSocket(int family, int protocol) {
  UniqueFd opened(socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!opened && errno != EAFNOSUPPORT) throw SystemError("open a raw socket", errno);
  return opened;
}

UniqueFd Icmpv6Socket() {
  UniqueFd opened = RawSocket(AF_INET6, IPPROTO_ICMPV6);
  if (!opened) return opened;
  icmp6_filter nothing{};
  for (auto& word : nothing.data) word = 0xFFFFFFFF;  // a bit that is set: not received
  SetSocketOption(opened.get(), IPPROTO_ICMPV6, ICMPV6_FILTER, nothing, "ICMPV6_FILTER");
  return opened;
}

// More would make the filter too long for the kernel; the program's table knows all.
constexpr size_t kMostFiltered = 64;

std::string OwnDestinations(const std::vector<sys::InterfaceAddress>& own) {
  std::string text = "dst host 0.0.0.0";
  for (size_t i = 0; i < std::min(own.size(), kMostFiltered); ++i) {
    text += " or dst host " + own[i].address.address.ToString();
  }
  return text;
}

std::string Replace(std::string text, std::string_view word, const std::string& by) {
  const size_t at = text.find(word);
  return at == std::string::npos ? text : text.replace(at, word.size(), by);
}

}  // namespace

std::vector<int> Equipment::Descriptors() const {
  std::vector<int> all;
  for (const UniqueFd* each : {&table, &counters, &neighbours, &raw_ipv4, &raw_ipv6, &icmpv6}) {
    if (*each) all.push_back(each->get());
  }
  for (const sys::PacketSocket& socket : sockets) all.push_back(socket.fd.get());
  return all;
}

void SetFilter(const ProgramKind& program, const wire::MacAddress& mac,
               const std::vector<sys::InterfaceAddress>& own, int socket) {
  const std::string text = Replace(std::string(program.filter), "{mac}", mac.ToString());
  sys::PacketFilter::Compile(Replace(text, "{own}", OwnDestinations(own))).Attach(socket);
}

Equipment Equip(const std::string& name, int namespace_fd, const SharedWith& shared) {
  Equipment equipment;
  equipment.name = name;
  equipment.program = shared.program;
  equipment.table = Duplicate(shared.table);
  equipment.counters = Duplicate(shared.counters);
  const sys::NamespaceScope scope(namespace_fd);
  sys::Netlink netlink;
  const std::vector<sys::InterfaceAddress> own = netlink.Addresses();
  for (const std::string& interface : shared.interfaces) {
    const sys::LinkInfo link = netlink.GetLink(interface);
    equipment.ports.push_back(
        {interface, static_cast<uint32_t>(link.ifindex), link.mac, static_cast<size_t>(link.mtu)});
    equipment.sockets.push_back(sys::OpenPacketSocket(interface, shared.program->is_promiscuous));
    SetFilter(*shared.program, link.mac, own, equipment.sockets.back().fd.get());
  }
  equipment.neighbours = NeighbourMonitor::Open();
  equipment.raw_ipv4 = RawSocket(AF_INET, IPPROTO_RAW);
  equipment.raw_ipv6 = RawSocket(AF_INET6, IPPROTO_RAW);
  equipment.icmpv6 = Icmpv6Socket();
  return equipment;
}

}  // namespace viaduct::forward
