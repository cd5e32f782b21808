// A namespace's table of multicast routes (linux/mroute.h, linux/mroute6.h; net/ipv4/ipmr.c,
// net/ipv6/ip6mr.c), as a routing protocol in a separate process keeps it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"

namespace viaduct::sys {

// The kernel's MAXVIFS and MAXMIFS.
inline constexpr size_t kMaxMulticastInterfaces = 32;

// Makes the namespace forward packets to multicast groups among these interfaces (at most
// kMaxMulticastInterfaces) by the table behind the returned socket (non-blocking). From now on an
// interface is identified by its place in the list. Forwarding of unicast packets need not be on. A
// process that has the socket can change the table without privileges; the table vanishes with the
// last copy of the socket. Throws UsageError for too many interfaces, EnvironmentError if the
// kernel has no such table, SystemError (EADDRINUSE: another process has one).
UniqueFd OpenMulticastRouting(int namespace_fd, wire::Family family,
                              const std::vector<int>& ifindexes);

// The flow that the kernel distinguishes. It takes a source's packets to a group from one interface
// only.
struct MulticastFlow {
  wire::IpAddress source;
  wire::IpAddress group;
  int input = 0;  // the interface's place in the list
  friend auto operator<=>(const MulticastFlow&, const MulticastFlow&) = default;
};

// Owns the socket of a table.
class MulticastTable {
 public:
  MulticastTable(UniqueFd socket, wire::Family family)
      : socket_(std::move(socket)), family_(family) {}

  // Returns a descriptor that is readable if Read() has a flow.
  int fd() const { return socket_.get(); }
  // Returns the next flow that has no entry, whose first packets the kernel keeps for 10 s; or a
  // flow that arrives on another interface than its entry's, which the kernel reports at once and
  // then every 3 s (MFC_ASSERT_THRESH). Does not block.
  std::optional<MulticastFlow> Read();
  // Sends the flow's packets, including the kept ones, to these interfaces if their TTL exceeds 1.
  // Replaces the entry of the same source and group. Throws SystemError.
  void Set(const MulticastFlow& flow, const std::set<int>& outputs);
  // Removes the entry. A missing entry is no error.
  void Remove(const MulticastFlow& flow);
  // Removes all entries, whichever process made them: the kernel reports their flows anew. Throws
  // SystemError.
  void Clear();
  // Returns the number of the flow's packets that have arrived on its interface since its entry was
  // made.
  uint64_t Packets(const MulticastFlow& flow) const;

 private:
  UniqueFd socket_;
  wire::Family family_;
};

}  // namespace viaduct::sys
