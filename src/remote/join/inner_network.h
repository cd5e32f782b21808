// A separate network that only WireGuard leads to: packets that are sent in this network are
// encrypted, and reach only the remote ends of tunnels.
//
//   inner namespace                        current namespace
//   WireGuard (an inner IPv4 address) .... its UDP socket ---- the remote ends
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/fd.h"
#include "base/wire/address.h"
#include "remote/claim/key_pair.h"
#include "sys/network/wireguard.h"

namespace viaduct::remote {

// A network with one end of WireGuard, whose UDP socket is in the current namespace. The caller
// must be a single-threaded process that runs as root. No other process finds the network: it
// exists as long as this object and the sockets in the network, and so needs no record.
class InnerNetwork {
 public:
  // `port`: UDP port of WireGuard; 0: any. Throws EnvironmentError if the kernel has no WireGuard,
  // UsageError if the port is in use, or SystemError.
  InnerNetwork(const claim::TunnelKey& secret, const wire::IpAddress& own, uint16_t port);

  int fd() const { return namespace_.get(); }
  uint16_t Port() { return wireguard_->Port(); }

  // A remote end: its inner address, and its outer address, with the outer port if the local end
  // must send first. Set() replaces the remote end that has this key; the remote end must then
  // introduce itself again. Set() throws UsageError if a remote end with another key has the inner
  // address, or a remote end with another inner address has the key.
  struct Other {
    claim::TunnelKey key;
    wire::IpAddress inner, outer;
    uint16_t port = 0;  // 0: the remote end sends first
  };
  void Set(const Other& other);
  void Remove(const claim::TunnelKey& key);

 private:
  struct Known {
    wire::IpAddress inner;
    int mtu;
  };

  void AdjustMtu();

  UniqueFd namespace_;
  std::optional<sys::Wireguard> wireguard_;
  std::map<claim::TunnelKey, Known> others_;
  int ifindex_ = 0, mtu_ = 0;
};

// Returns the maximum bytes of a packet that WireGuard can carry to the address `outer` without
// dividing its own packets.
int InnerMtu(const wire::IpAddress& outer);

}  // namespace viaduct::remote
