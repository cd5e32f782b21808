#include "sys/network/packet_taps.h"

#include <linux/if_ether.h>

#include <fstream>
#include <sstream>
#include <string>

#include "sys/network/netns.h"

namespace viaduct::sys {

// Reads /proc/net/packet, whose columns packet_seq_show() of net/packet/af_packet.c writes.
bool HasPacketTap(int namespace_fd) {
  const NamespaceScope scope(namespace_fd);
  std::ifstream table("/proc/thread-self/net/packet");
  std::string line;
  std::getline(table, line);  // the columns' names
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string socket, references, type, protocol;
    words >> socket >> references >> type >> protocol;
    const unsigned long number = std::stoul(protocol, nullptr, 16);
    if (number == ETH_P_ALL || number == ETH_P_IP || number == ETH_P_IPV6) return true;
  }
  return false;
}

}  // namespace viaduct::sys
