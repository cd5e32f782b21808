// WireGuard interfaces (include/uapi/linux/wireguard.h), by generic netlink.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "sys/network/netlink.h"

namespace viaduct::sys {

// An X25519 key, private or public.
using WireguardKey = std::array<uint8_t, 32>;

// The configuration of one interface of WireGuard for another.
struct WireguardPeer {
  struct Endpoint {
    wire::IpAddress address;
    uint16_t port = 0;  // UDP
  };
  WireguardKey key{};
  // The addresses of packets that the peer may send, and that are sent to it.
  std::vector<wire::IpPrefix> allowed;
  std::optional<Endpoint> endpoint;  // absent: the peer sends first
  uint16_t keepalive = 0;            // s; not 0: sends to the peer at once, and at this interval
};

struct WireguardLink {
  std::string name;
  int namespace_fd = -1;  // the interface's namespace
  int mtu = 1420;
};

// Creates the interface, down. Its UDP socket is in the namespace of the calling thread, and exists
// once the interface is up: Netlink::SetUp() throws EADDRINUSE if another program there has the
// port. Throws EnvironmentError if the kernel has no WireGuard, or SystemError.
void CreateWireguard(const WireguardLink& link);

// Configures an interface of a namespace. One thread at a time; all throw SystemError.
class Wireguard {
 public:
  Wireguard(int namespace_fd, std::string interface);

  // `port`: UDP; 0: the kernel chooses.
  void Start(const WireguardKey& private_key, uint16_t port);
  // Adds a peer. Replaces a peer with the same key, with all that it and this end have agreed upon.
  void SetPeer(const WireguardPeer& peer);
  void RemovePeers();
  // Does nothing if there is no such peer.
  void RemovePeer(const WireguardKey& key);
  // Returns the UDP port, once the interface is up.
  uint16_t Port();

 private:
  NetlinkMessage Change() const;
  void Apply(NetlinkMessage& message);

  NetlinkSocket socket_;
  const std::string interface_;
  const uint16_t family_;  // number of generic netlink's family
};

}  // namespace viaduct::sys
