// A namespace's table of multicast routes (linux/mroute.h, linux/mroute6.h; net/ipv4/ipmr.c,
// net/ipv6/ip6mr.c), as a routing protocol in a separate process maintains it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"

namespace viaduct::sys {

// The kernel's maximum numbers of interfaces: MAXVIFS (IPv4) and MAXMIFS (IPv6).
inline constexpr size_t kMaxMulticastInterfaces = 32;

// Makes the namespace forward packets to multicast groups among these interfaces (at most
// kMaxMulticastInterfaces) by the table that belongs to the returned socket (non-blocking). The
// table identifies an interface by its index in `ifindexes`. Forwarding of unicast packets need not
// be enabled. A process that has the socket can change the table without privileges; the kernel
// removes the table when the last copy of the socket is closed. Throws UsageError for too many
// interfaces, EnvironmentError if the kernel has no such table, SystemError (EADDRINUSE: another
// process has the table).
UniqueFd OpenMulticastRouting(int namespace_fd, wire::Family family,
                              const std::vector<int>& ifindexes);

// A flow of packets to a multicast group. The kernel identifies a flow by the source, the group and
// the input interface; it accepts a source's packets to a group from one interface only.
struct MulticastFlow {
  wire::IpAddress source;
  wire::IpAddress group;
  int input = 0;  // index of the input interface in `ifindexes`
  friend auto operator<=>(const MulticastFlow&, const MulticastFlow&) = default;
};

// Owns the socket of a table.
class MulticastTable {
 public:
  MulticastTable(UniqueFd socket, wire::Family family)
      : socket_(std::move(socket)), family_(family) {}

  // Returns a descriptor that is readable if Read() has a flow.
  int fd() const { return socket_.get(); }
  // Returns the next flow that the kernel has reported: either a flow that has no entry (the kernel
  // keeps its first packets for 10 s), or a flow that arrives on another interface than the input
  // of its entry (the kernel reports such a flow at once and then every 3 s, MFC_ASSERT_THRESH).
  // Does not block.
  std::optional<MulticastFlow> Read();
  // Makes the kernel send the flow's packets, including the kept packets, to these interfaces if
  // their TTL exceeds 1. Replaces the entry of the same source and group. Throws SystemError.
  void Set(const MulticastFlow& flow, const std::set<int>& outputs);
  // Removes the flow's entry. A missing entry is not an error.
  void Remove(const MulticastFlow& flow);
  // Removes all entries, including those that other processes made: the kernel reports their flows
  // again. Throws SystemError.
  void Clear();
  // Returns the number of the flow's packets that have arrived on the entry's input interface since
  // the entry was made.
  uint64_t Packets(const MulticastFlow& flow) const;

 private:
  UniqueFd socket_;
  wire::Family family_;
};

}  // namespace viaduct::sys
