#include "sys/network/packet_socket.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/error.h"
#include "base/socket_option.h"

namespace viaduct::sys {
namespace {

// The size of a socket buffer for a burst of a few thousand full frames; a ring has space for more
// frames.
constexpr int kBufferBytes = 8 << 20;

}  // namespace

void EnlargeBuffers(int fd) {
  SetSocketBuffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, kBufferBytes);
  SetSocketBuffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, kBufferBytes);
}

PacketSocket OpenPacketSocket(const std::string& interface, bool promiscuous) {
  PacketSocket result;
  result.ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  if (result.ifindex == 0) throw SystemError("find interface " + interface, errno);
  result.fd = UniqueFd(SystemCall("open a packet socket on " + interface,
                                  socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  const int fd = result.fd.get();
  EnlargeBuffers(fd);
  SetSocketOption(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
  if (!promiscuous) return result;
  packet_mreq request{};
  request.mr_ifindex = result.ifindex;
  request.mr_type = PACKET_MR_PROMISC;
  SystemCall("enable promiscuous mode of " + interface,
             setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request));
  return result;
}

void BindPacketSocket(int fd, int ifindex, uint16_t ether_type) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ether_type);
  address.sll_ifindex = ifindex;
  SystemCall("bind a packet socket",
             bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

void BypassQdisc(int fd) {
  SetSocketOption(fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS");
}

}  // namespace viaduct::sys
