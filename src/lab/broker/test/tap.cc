#include "lab/broker/test/tap.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sys/socket.h>

#include <array>

#include "base/error.h"

namespace viaduct::broker::test {

Tap::Tap(Client& client, const std::string& node, const std::string& interface)
    : socket_(client.OpenPacketSocket({.node = node, .interface = interface})) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = socket_.ifindex;
  SystemCall("bind", bind(socket_.fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
}

void Tap::Send(wire::ConstBytes frame) const {
  SystemCall("send a frame", send(socket_.fd.get(), frame.data(), frame.size(), 0));
}

void Tap::Take(const std::function<void(wire::ConstBytes)>& take) const {
  std::array<std::byte, 9500> buffer;
  for (ssize_t size; (size = recv(socket_.fd.get(), buffer.data(), buffer.size(), 0)) > 0;) {
    take(std::span(buffer).first(static_cast<size_t>(size)));
  }
}

}  // namespace viaduct::broker::test
