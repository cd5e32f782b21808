#include "lab/broker/sockets.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/error.h"
#include "base/socket_option.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"

namespace viaduct::broker {
namespace {

UniqueFd SocketIn(lab::Lab& lab, const std::string& node, wire::Family family, int type,
                  int protocol) {
  const sys::NamespaceScope scope(lab.NamespaceFd(node));
  return UniqueFd(SystemCall("socket in node " + node,
                             socket(family == wire::Family::kIpv4 ? AF_INET : AF_INET6,
                                    type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol)));
}

void BindToPort(int fd, const ControlSocketOptions& options) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_in);
  if (options.family == wire::Family::kIpv4) {
    auto& address = reinterpret_cast<sockaddr_in&>(storage);
    address.sin_family = AF_INET;
    address.sin_port = htons(options.number);
  } else {
    SetSocketOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1, "IPV6_V6ONLY");
    auto& address = reinterpret_cast<sockaddr_in6&>(storage);
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(options.number);
    length = sizeof(sockaddr_in6);
  }
  if (bind(fd, reinterpret_cast<sockaddr*>(&storage), length) == 0) return;
  const auto where =
      fmt::format("UDP port {} on {} of node {}", options.number, options.interface, options.node);
  if (errno == EADDRINUSE) throw UsageError(where + " is in use by a program on this node");
  throw SystemError("bind " + where, errno);
}

}  // namespace

NodeSocket MakePacketSocket(lab::Lab& lab, const PacketSocketOptions& options) {
  const lab::Endpoint endpoint{options.node, options.interface};
  lab.GetInterface(endpoint);  // throws if the node has no such interface
  NodeSocket result;
  result.has_qdisc = lab.HasQdisc(endpoint);
  const sys::NamespaceScope scope(lab.NamespaceFd(options.node));
  sys::PacketSocket packet = sys::OpenPacketSocket(options.interface, options.promiscuous);
  options.filter.Attach(packet.fd.get());
  result.ifindex = packet.ifindex;
  result.fd = std::move(packet.fd);
  return result;
}

NodeSocket MakeControlSocket(lab::Lab& lab, const ControlSocketOptions& options) {
  const bool is_udp = options.kind == ControlSocketOptions::Kind::kUdp;
  NodeSocket result;
  result.ifindex = lab.IfIndex({options.node, options.interface});
  result.fd = SocketIn(lab, options.node, options.family, is_udp ? SOCK_DGRAM : SOCK_RAW,
                       is_udp ? int{IPPROTO_UDP} : int{options.number});
  const int fd = result.fd.get();
  sys::EnlargeBuffers(fd);
  SystemCall("setsockopt SO_BINDTODEVICE " + options.interface,
             setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, options.interface.c_str(),
                        static_cast<socklen_t>(options.interface.size())));
  SetSocketOption(fd, SOL_SOCKET, SO_BROADCAST, 1, "SO_BROADCAST");
  if (is_udp) {
    SetSocketOption(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
    BindToPort(fd, options);
  }
  return result;
}

// Enlarges the buffers of UDP sockets: the kernel's default holds 90 datagrams, while the simulator
// sends hundreds before it reads again. The kernel itself sizes the buffers of TCP sockets, unless
// a program has set them.
UniqueFd MakeTransportSocket(lab::Lab& lab, const TransportSocketOptions& options) {
  const bool is_udp = options.kind == TransportSocketOptions::Kind::kUdp;
  UniqueFd fd = SocketIn(lab, options.node, options.family, is_udp ? SOCK_DGRAM : SOCK_STREAM,
                         is_udp ? IPPROTO_UDP : IPPROTO_TCP);
  if (is_udp) sys::EnlargeBuffers(fd.get());
  return fd;
}

}  // namespace viaduct::broker
