// A network of its own that only WireGuard leads to: what is sent in it reaches, encrypted, the
// other ends of tunnels and nobody else.
//
//   inner namespace                        current namespace
//   WireGuard (an inner IPv4 address) .... its UDP socket ---- the other ends
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/fd.h"
#include "base/wire/address.h"
#include "remote/claim/key_pair.h"
#include "sys/network/wireguard.h"

namespace viaduct::emulate {

// Made in the current namespace by a single-threaded process as root, and found by nobody else: it
// lives as long as this object, and the sockets in it, and so needs no record.
class InnerNetwork {
 public:
  // `port`: UDP, of WireGuard; 0: any. Throws EnvironmentError if the kernel has no WireGuard,
  // UsageError if the port is in use, or SystemError.
  InnerNetwork(const claim::TunnelKey& secret, const wire::IpAddress& own, uint16_t port);

  int fd() const { return namespace_.get(); }
  uint16_t Port() { return wireguard_->Port(); }

  // Another end: its inner address, and its address outside, with its port if this end is to speak
  // first. It replaces one of this key, which has to introduce itself again. Throws UsageError
  // where one with another key has the inner address, or one with another address the key.
  struct Other {
    claim::TunnelKey key;
    wire::IpAddress inner, outer;
    uint16_t port = 0;  // 0: the other speaks first
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

// Bytes of a packet that WireGuard can carry to this address so that what it sends is not divided.
int InnerMtu(const wire::IpAddress& outer);

}  // namespace viaduct::emulate
