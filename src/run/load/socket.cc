#include "run/load/socket.h"

#include <fmt/core.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/socket_option.h"
#include "base/wire/probe_header.h"

namespace viaduct::load {
namespace {

constexpr int kReceiveBuffer = 32 << 20;  // bytes: 0.1 s of small packets at 400,000 packets/s
constexpr int kSendBuffer = 1 << 20;
constexpr timeval kReceiveTimeout = {.tv_sec = 0, .tv_usec = 20000};

UniqueFd OpenUdp(int family) {
  return UniqueFd(SystemCall("create a UDP socket", socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
}

void Bind(int fd, const Endpoint& endpoint, const std::string& what) {
  SystemCall(fmt::format("bind {}", what),
             bind(fd, reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.length));
}

// Drops, in the kernel, data packets whose sequence number is not a multiple of `sample`; passes
// all other packets. The filter of a UDP socket sees the datagram from the UDP header on
// (net/ipv4/udp.c).
void AttachSampling(int fd, uint32_t sample) {
  constexpr uint32_t kUdpHeader = 8;
  std::array<sock_filter, 6> code = {{
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kUdpHeader + kTypeOffset),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(PacketType::kData), 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kUdpHeader + kSequenceOffset + 4),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, sample - 1, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
      BPF_STMT(BPF_RET | BPF_K, 0),
  }};
  const sock_fprog program = {.len = code.size(), .filter = code.data()};
  SetSocketOption(fd, SOL_SOCKET, SO_ATTACH_FILTER, program, "SO_ATTACH_FILTER");
}

void SendToGroupBy(int fd, int family, const std::string& interface) {
  constexpr int kTtl = 64;  // instead of multicast's default of 1
  const bool ipv6 = family == AF_INET6;
  SetSocketOption(fd, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
                  ipv6 ? IPV6_MULTICAST_HOPS : IP_MULTICAST_TTL, kTtl, "the multicast TTL");
  if (interface.empty()) return;
  const unsigned int index = if_nametoindex(interface.c_str());
  if (index == 0) throw SystemError("find interface " + interface, errno);
  if (ipv6) return SetSocketOption(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, index, "IPV6_MULTICAST_IF");
  ip_mreqn request{};
  request.imr_ifindex = static_cast<int>(index);
  SetSocketOption(fd, IPPROTO_IP, IP_MULTICAST_IF, request, "IP_MULTICAST_IF");
}

// Joins the group on this interface, or on all interfaces if `interface` is empty.
void Join(int fd, const Endpoint& group, const std::string& text, const std::string& interface) {
  if (!IsGroup(group)) throw UsageError(fmt::format("--group {}: not a multicast address", text));
  int joined = 0;
  const std::unique_ptr<struct if_nameindex, decltype(&if_freenameindex)> all(if_nameindex(),
                                                                              if_freenameindex);
  for (const auto* one = all.get(); one && one->if_index != 0; ++one) {
    if (!interface.empty() && interface != one->if_name) continue;
    group_req request{};
    request.gr_interface = one->if_index;
    std::memcpy(&request.gr_group, &group.address, group.length);
    const int level = group.family() == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    // Ignores an interface on which joining fails: it is down, or has no multicast, and receives
    // nothing.
    if (setsockopt(fd, level, MCAST_JOIN_GROUP, &request, sizeof request) == 0) ++joined;
  }
  if (joined > 0) return;
  const std::string where = interface.empty() ? "" : " on interface " + interface;
  throw SystemError(fmt::format("join group {}{}", text, where), errno);
}

}  // namespace

bool IsGroup(const Endpoint& endpoint) {
  if (endpoint.family() == AF_INET6) {
    return IN6_IS_ADDR_MULTICAST(
        &reinterpret_cast<const sockaddr_in6&>(endpoint.address).sin6_addr);
  }
  return IN_MULTICAST(
      ntohl(reinterpret_cast<const sockaddr_in&>(endpoint.address).sin_addr.s_addr));
}

Endpoint MakeEndpoint(const std::string& address, uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    throw UsageError(fmt::format(
        "'{}' is not an address; expected an address such as 10.0.0.1 or 2001:db8::1", address));
  }
  Endpoint endpoint;
  endpoint.length = found->ai_addrlen;
  std::copy_n(reinterpret_cast<const char*>(found->ai_addr), found->ai_addrlen,
              reinterpret_cast<char*>(&endpoint.address));
  freeaddrinfo(found);
  return endpoint;
}

Endpoint ParseEndpoint(std::string_view text) {
  const auto bad = [&] {
    return UsageError(fmt::format(
        "'{}' is not ADDRESS:PORT; expected 10.0.0.1:5001 or [2001:db8::1]:5001, for example",
        text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) throw bad();
  std::string_view address = text.substr(0, colon);
  const std::string port(text.substr(colon + 1));
  const bool brackets = address.front() == '[' && address.back() == ']';
  if (brackets) address = address.substr(1, address.size() - 2);
  if (brackets != (address.find(':') != std::string_view::npos)) throw bad();
  if (port.empty() || port.size() > 5 ||
      port.find_first_not_of("0123456789") != std::string::npos) {
    throw bad();
  }
  const int number = std::stoi(port);
  if (number < 1 || number > 65535) throw bad();
  return MakeEndpoint(std::string(address), static_cast<uint16_t>(number));
}

UniqueFd OpenSender(const Endpoint& to, const std::string& bind_address,
                    const std::string& interface) {
  UniqueFd fd = OpenUdp(to.family());
  if (IsGroup(to)) SendToGroupBy(fd.get(), to.family(), interface);
  SetSocketBuffer(fd.get(), SO_SNDBUFFORCE, SO_SNDBUF, kSendBuffer);
  if (!bind_address.empty()) Bind(fd.get(), MakeEndpoint(bind_address, 0), bind_address);
  return fd;
}

int TryConnect(int fd, const Endpoint& to) {
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to.address), to.length) == 0) return 0;
  // EADDRNOTAVAIL: no IPv6 address is available yet as the source address.
  constexpr int kNoWay[] = {ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL};
  if (std::ranges::find(kNoWay, errno) == std::end(kNoWay)) throw SystemError("connect", errno);
  return errno;
}

UniqueFd OpenReceiver(const ReceiverSocketOptions& options) {
  const std::string& bind = options.group.empty() ? options.bind : options.group;
  Endpoint endpoint = MakeEndpoint(bind.empty() ? "::" : bind, options.port);
  UniqueFd fd;
  try {
    fd = OpenUdp(endpoint.family());
  } catch (const SystemError&) {
    if (!bind.empty()) throw;  // receives only IPv4 if the kernel has no IPv6
    endpoint = MakeEndpoint("0.0.0.0", options.port);
    fd = OpenUdp(endpoint.family());
  }
  if (endpoint.family() == AF_INET6 && bind.empty()) {
    SetSocketOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0, "IPV6_V6ONLY");
  }
  SetSocketBuffer(fd.get(), SO_RCVBUFFORCE, SO_RCVBUF, kReceiveBuffer);
  SetSocketOption(fd.get(), SOL_SOCKET, SO_RCVTIMEO, kReceiveTimeout, "SO_RCVTIMEO");
  if (!options.group.empty()) Join(fd.get(), endpoint, options.group, options.interface);
  if (options.sample > 1) AttachSampling(fd.get(), options.sample);
  Bind(fd.get(), endpoint,
       fmt::format("{} port {}", bind.empty() ? "any address" : bind, options.port));
  return fd;
}

uint32_t SocketDrops(int fd) {
  std::array<uint32_t, SK_MEMINFO_VARS> info{};
  socklen_t length = sizeof(info);
  SystemCall("getsockopt SO_MEMINFO", getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info.data(), &length));
  return info[SK_MEMINFO_DROPS];
}

}  // namespace viaduct::load
