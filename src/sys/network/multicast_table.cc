#include "sys/network/multicast_table.h"

#include <fmt/format.h>
#include <netinet/in.h>
// The headers linux/mroute*.h must follow netinet/in.h, whose types they use.
#include <linux/mroute.h>
#include <linux/mroute6.h>
#include <netinet/icmp6.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/socket_option.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

static_assert(kMaxMulticastInterfaces == MAXVIFS);
static_assert(kMaxMulticastInterfaces == MAXMIFS);
// Checks that these options have the same number in both families (linux/mroute.h,
// linux/mroute6.h).
static_assert(std::array{MRT_INIT, MRT_PIM, MRT_ASSERT, MRT_FLUSH, MRT_FLUSH_MFC,
                         MRT_FLUSH_MFC_STATIC} == std::array{MRT6_INIT, MRT6_PIM, MRT6_ASSERT,
                                                             MRT6_FLUSH, MRT6_FLUSH_MFC,
                                                             MRT6_FLUSH_MFC_STATIC});

constexpr uint8_t kMinTtl = 1;  // the kernel forwards packets with a greater TTL

in_addr Ipv4Of(const wire::IpAddress& address) {
  in_addr out{};
  std::memcpy(&out, address.bytes.data(), sizeof out);
  return out;
}

sockaddr_in6 Ipv6Of(const wire::IpAddress& address) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  std::memcpy(&out.sin6_addr, address.bytes.data(), sizeof out.sin6_addr);
  return out;
}

template <class Address>
wire::IpAddress AddressOf(wire::Family family, const Address& address) {
  wire::IpAddress out{family, {}};
  std::memcpy(out.bytes.data(), &address, sizeof address);
  return out;
}

template <class Value>
void Ask(int socket, wire::Family family, int option, const Value& value, const char* name) {
  SetSocketOption(socket, family == wire::Family::kIpv4 ? IPPROTO_IP : IPPROTO_IPV6, option, value,
                  name);
}

void AddInterface(int socket, wire::Family family, size_t place, int ifindex) {
  if (family == wire::Family::kIpv4) {
    vifctl interface {};
    interface.vifc_vifi = static_cast<vifi_t>(place);
    interface.vifc_flags = VIFF_USE_IFINDEX;
    interface.vifc_threshold = kMinTtl;
    interface.vifc_lcl_ifindex = ifindex;
    return Ask(socket, family, MRT_ADD_VIF, interface, "MRT_ADD_VIF");
  }
  mif6ctl interface {};
  interface.mif6c_mifi = static_cast<mifi_t>(place);
  interface.vifc_threshold = kMinTtl;
  interface.mif6c_pifi = static_cast<uint16_t>(ifindex);
  Ask(socket, family, MRT6_ADD_MIF, interface, "MRT6_ADD_MIF");
}

// Asks for reports of packets that arrive on another interface than the input of their entry.
// Without PIM in the kernel (CONFIG_IP_PIMSM_V2) there are reports only for interfaces to which the
// entry sends.
void ReportOtherInputs(int socket, wire::Family family) {
  try {
    Ask(socket, family, MRT_PIM, 1, "MRT_PIM");
  } catch (const SystemError& error) {
    if (error.error_number() != ENOPROTOOPT) throw;
    Ask(socket, family, MRT_ASSERT, 1, "MRT_ASSERT");
  }
}

UniqueFd OpenSocket(wire::Family family) {
  const bool is_ipv4 = family == wire::Family::kIpv4;
  UniqueFd fd(SystemCall(
      "socket", socket(is_ipv4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
                       is_ipv4 ? int{IPPROTO_IGMP} : int{IPPROTO_ICMPV6})));
  if (!is_ipv4) {  // the kernel's own reports bypass this filter
    icmp6_filter nothing;
    ICMP6_FILTER_SETBLOCKALL(&nothing);
    SetSocketOption(fd.get(), IPPROTO_ICMPV6, ICMP6_FILTER, nothing, "ICMP6_FILTER");
  }
  return fd;
}

mfcctl Ipv4Entry(const MulticastFlow& flow, const std::set<int>& outputs) {
  mfcctl entry{};
  entry.mfcc_origin = Ipv4Of(flow.source);
  entry.mfcc_mcastgrp = Ipv4Of(flow.group);
  entry.mfcc_parent = static_cast<vifi_t>(flow.input);
  for (const int output : outputs) entry.mfcc_ttls[output] = kMinTtl;
  return entry;
}

mf6cctl Ipv6Entry(const MulticastFlow& flow, const std::set<int>& outputs) {
  mf6cctl entry{};
  entry.mf6cc_origin = Ipv6Of(flow.source);
  entry.mf6cc_mcastgrp = Ipv6Of(flow.group);
  entry.mf6cc_parent = static_cast<mifi_t>(flow.input);
  for (const int output : outputs) IF_SET(static_cast<unsigned int>(output), &entry.mf6cc_ifset);
  return entry;
}

// Parses the kernel's report, which is in the place of an IGMP packet's IP header, but with
// protocol 0.
std::optional<MulticastFlow> Ipv4Report(const char* bytes, size_t length) {
  igmpmsg report{};
  if (length < sizeof report) return std::nullopt;
  std::memcpy(&report, bytes, sizeof report);
  const bool is_question =
      report.im_msgtype == IGMPMSG_NOCACHE || report.im_msgtype == IGMPMSG_WRONGVIF;
  if (report.im_mbz != 0 || !is_question) return std::nullopt;
  return MulticastFlow{AddressOf(wire::Family::kIpv4, report.im_src),
                       AddressOf(wire::Family::kIpv4, report.im_dst), report.im_vif};
}

// Parses the kernel's report, which is in the place of an ICMPv6 message, but with type 0.
std::optional<MulticastFlow> Ipv6Report(const char* bytes, size_t length) {
  mrt6msg report{};
  if (length < sizeof report) return std::nullopt;
  std::memcpy(&report, bytes, sizeof report);
  const bool is_question =
      report.im6_msgtype == MRT6MSG_NOCACHE || report.im6_msgtype == MRT6MSG_WRONGMIF;
  if (report.im6_mbz != 0 || !is_question) return std::nullopt;
  return MulticastFlow{AddressOf(wire::Family::kIpv6, report.im6_src),
                       AddressOf(wire::Family::kIpv6, report.im6_dst), report.im6_mif};
}

}  // namespace

UniqueFd OpenMulticastRouting(int namespace_fd, wire::Family family,
                              const std::vector<int>& ifindexes) {
  if (ifindexes.size() > kMaxMulticastInterfaces) {
    throw UsageError(
        fmt::format("the kernel supports multicast routing on at most {} interfaces of a node, but "
                    "this node has {}",
                    kMaxMulticastInterfaces, ifindexes.size()));
  }
  const NamespaceScope scope(namespace_fd);
  UniqueFd socket = OpenSocket(family);
  const bool is_ipv4 = family == wire::Family::kIpv4;
  try {
    Ask(socket.get(), family, MRT_INIT, 1, "MRT_INIT");
  } catch (const SystemError& error) {
    if (error.error_number() != ENOPROTOOPT) throw;
    throw EnvironmentError(fmt::format("this kernel cannot route multicast (CONFIG_{}_MROUTE)",
                                       is_ipv4 ? "IP" : "IPV6"));
  }
  ReportOtherInputs(socket.get(), family);
  for (size_t i = 0; i < ifindexes.size(); ++i) {
    AddInterface(socket.get(), family, i, ifindexes[i]);
  }
  return socket;
}

std::optional<MulticastFlow> MulticastTable::Read() {
  std::array<char, 2048> bytes;
  while (true) {
    const ssize_t length = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return std::nullopt;
    const auto flow = family_ == wire::Family::kIpv4
                          ? Ipv4Report(bytes.data(), static_cast<size_t>(length))
                          : Ipv6Report(bytes.data(), static_cast<size_t>(length));
    if (flow) return flow;
  }
}

void MulticastTable::Set(const MulticastFlow& flow, const std::set<int>& outputs) {
  if (family_ == wire::Family::kIpv4) {
    return Ask(fd(), family_, MRT_ADD_MFC, Ipv4Entry(flow, outputs), "MRT_ADD_MFC");
  }
  Ask(fd(), family_, MRT6_ADD_MFC, Ipv6Entry(flow, outputs), "MRT6_ADD_MFC");
}

void MulticastTable::Remove(const MulticastFlow& flow) {
  try {
    if (family_ == wire::Family::kIpv4) {
      return Ask(fd(), family_, MRT_DEL_MFC, Ipv4Entry(flow, {}), "MRT_DEL_MFC");
    }
    Ask(fd(), family_, MRT6_DEL_MFC, Ipv6Entry(flow, {}), "MRT6_DEL_MFC");
  } catch (const SystemError& error) {
    if (error.error_number() != ENOENT) throw;
  }
}

void MulticastTable::Clear() {
  constexpr int kDynamic = MRT_FLUSH_MFC, kStatic = MRT_FLUSH_MFC_STATIC;
  Ask(fd(), family_, MRT_FLUSH, kDynamic | kStatic, "MRT_FLUSH");
}

uint64_t MulticastTable::Packets(const MulticastFlow& flow) const {
  // The first number that the kernel returns counts all packets of the flow, on all interfaces on
  // which they arrived.
  if (family_ == wire::Family::kIpv4) {
    sioc_sg_req count{};
    count.src = Ipv4Of(flow.source);
    count.grp = Ipv4Of(flow.group);
    return ioctl(fd(), SIOCGETSGCNT, &count) == 0 ? count.pktcnt - count.wrong_if : 0;
  }
  sioc_sg_req6 count{};
  count.src = Ipv6Of(flow.source);
  count.grp = Ipv6Of(flow.group);
  return ioctl(fd(), SIOCGETSGCNT_IN6, &count) == 0 ? count.pktcnt - count.wrong_if : 0;
}

}  // namespace viaduct::sys
