// VXLAN interfaces (RFC 7348).
#pragma once

#include <cstdint>
#include <string>

#include "base/wire/address.h"
#include "sys/network/link.h"

namespace viaduct::sys {

// A tunnel to one remote end.
struct VxlanLink {
  std::string name;
  int namespace_fd = -1;  // the interface's; -1: the session's own namespace
  uint32_t vni = 0;       // VXLAN network identifier
  wire::IpAddress remote;
  uint16_t port = 0;     // UDP, of both ends
  wire::MacAddress mac;  // all zero: a random one by the kernel
  int mtu = 1500;
  int ifindex = 0;  // 0: the kernel chooses
};

// Returns the MTU, bytes, of the interface through which this thread's namespace sends to the
// address. Throws SystemError if there is no route.
int PathMtu(const wire::IpAddress& address);

// Creates the interface, down. Its UDP socket is in the session's namespace, and exists once the
// interface is up: SetUp() throws EADDRINUSE if a program there has the port. It learns no
// addresses, and its UDP packets have checksums. Throws SystemError.
void CreateVxlan(Netlink& session, const VxlanLink& link);

}  // namespace viaduct::sys
