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

// The configuration of one WireGuard peer of an interface.
struct WireguardPeer {
  struct Endpoint {
    wire::IpAddress address;
    uint16_t port = 0;  // UDP port
  };
  WireguardKey key{};
  // The prefixes of the source addresses of packets that the peer may send, and of the destination
  // addresses of packets that are sent to the peer.
  std::vector<wire::IpPrefix> allowed;
  std::optional<Endpoint> endpoint;  // absent: the peer must send first
  // The interval in seconds at which the interface sends to the peer, beginning at once; 0: never.
  uint16_t keepalive = 0;
};

struct WireguardLink {
  std::string name;
  int namespace_fd = -1;  // descriptor of the namespace of the interface
  int mtu = 1420;
};

// Creates the interface, down. Its UDP socket is in the namespace of the calling thread, and exists
// once the interface is up: Netlink::SetUp() throws EADDRINUSE if another program in that namespace
// uses the port. Throws EnvironmentError if the kernel has no WireGuard, or SystemError.
void CreateWireguard(const WireguardLink& link);

// Configures an interface of a namespace. One thread at a time; all functions throw SystemError.
class Wireguard {
 public:
  Wireguard(int namespace_fd, std::string interface);

  // Sets the private key and the port. `port`: UDP; 0: the kernel chooses.
  void Start(const WireguardKey& private_key, uint16_t port);
  // Adds a peer. Replaces a peer with the same key, including the session keys that the peer and
  // this end have negotiated.
  void SetPeer(const WireguardPeer& peer);
  void RemovePeers();
  // Removes a peer. Does nothing if there is no peer with this key.
  void RemovePeer(const WireguardKey& key);
  // Returns the UDP port of the interface; valid once the interface is up.
  uint16_t Port();

 private:
  NetlinkMessage Change() const;
  void Apply(NetlinkMessage& message);

  NetlinkSocket socket_;
  const std::string interface_;
  const uint16_t family_;  // number of the generic netlink family of WireGuard
};

}  // namespace viaduct::sys
