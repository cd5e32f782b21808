// VXLAN interfaces (RFC 7348).
#pragma once

#include <cstdint>
#include <string>

#include "base/wire/address.h"
#include "sys/network/link.h"

namespace viaduct::sys {

// A VXLAN interface with one remote end.
struct VxlanLink {
  std::string name;
  int namespace_fd = -1;  // the namespace of the interface; -1: the session's namespace
  uint32_t vni = 0;       // VXLAN network identifier
  wire::IpAddress remote;
  uint16_t port = 0;     // the UDP port of both ends
  wire::MacAddress mac;  // all zero: the kernel chooses a random address
  int mtu = 1500;
  int ifindex = 0;  // 0: the kernel chooses
};

// Returns the MTU in bytes of the interface through which this thread's namespace sends packets to
// the address. Throws SystemError if there is no route.
int PathMtu(const wire::IpAddress& address);

// Creates the interface, down. Its UDP socket is in the session's namespace, and exists once the
// interface is up: SetUp() throws EADDRINUSE if a program in that namespace uses the port. The
// interface learns no addresses, and its UDP packets have checksums. Throws SystemError.
void CreateVxlan(Netlink& session, const VxlanLink& link);

}  // namespace viaduct::sys
