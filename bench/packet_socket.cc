#include "packet_socket.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/socket.h>

#include "base/error.h"

namespace viaduct::bench {

int InterfaceIndex(const std::string& name) {
  const int index = static_cast<int>(if_nametoindex(name.c_str()));
  return SystemCall("if_nametoindex " + name, index == 0 ? -1 : index);
}

UniqueFd OpenPacketSocket() {
  return UniqueFd(SystemCall("socket AF_PACKET", socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)));
}

UniqueFd OpenBoundPacketSocket(const std::string& interface) {
  UniqueFd fd = OpenPacketSocket();
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = InterfaceIndex(interface);
  address.sll_protocol = htons(ETH_P_ALL);
  SystemCall("bind packet socket " + interface,
             bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
  return fd;
}

PacketCount CountPackets(int socket) {
  tpacket_stats stats{};
  socklen_t size = sizeof(stats);
  SystemCall("getsockopt PACKET_STATISTICS",
             getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &stats, &size));
  return {stats.tp_packets - stats.tp_drops, stats.tp_drops};
}

}  // namespace viaduct::bench
