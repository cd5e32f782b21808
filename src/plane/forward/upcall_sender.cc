#include "plane/forward/upcall_sender.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/error.h"
#include "base/socket_option.h"
#include "sys/network/packet_marks.h"

namespace viaduct::forward {

// The socket is not bound, because the TUN device exists only while the simulator runs. A packet
// socket of protocol 0 receives nothing.
UniqueFd UpcallSender::OpenSocket(int ifindex) {
  UniqueFd opened(SystemCall("open a packet socket",
                             socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  SetSocketOption(opened.get(), SOL_SOCKET, SO_MARK, ifindex, "SO_MARK");
  return opened;
}

bool UpcallSender::Send(size_t port, wire::ConstBytes packet, uint32_t ifindex) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(sys::kPassedUp);
  address.sll_ifindex = static_cast<int>(ifindex);
  const ssize_t sent = sendto(sockets_[port].get(), packet.data(), packet.size(), MSG_DONTWAIT,
                              reinterpret_cast<const sockaddr*>(&address), sizeof address);
  // ENOBUFS: the device's queue is full; the device counts the packet as lost (tun_net_xmit()).
  return sent >= 0 || errno == ENOBUFS;
}

}  // namespace viaduct::forward
