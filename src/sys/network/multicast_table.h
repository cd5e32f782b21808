// A namespace's table of multicast routes (linux/mroute.h, linux/mroute6.h; net/ipv4/ipmr.c,
// net/ipv6/ip6mr.c), as a routing protocol in a process of its own keeps it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"

namespace viaduct::sys {

// MAXVIFS, MAXMIFS.
inline constexpr size_t kMaxMulticastInterfaces = 32;

// Makes the namespace forward packets to multicast groups among these interfaces (at most
// kMaxMulticastInterfaces) by the table behind the returned socket (non-blocking). From now on an
// interface is known by its place in the list. Forwarding of unicast packets need not be on. The
// table can be changed without privileges by whoever has the socket, and vanishes with its last
// copy. Throws UsageError for too many interfaces, EnvironmentError if the kernel has no such
// table, SystemError (EADDRINUSE: another process has one).
UniqueFd OpenMulticastRouting(int namespace_fd, wire::Family family,
                              const std::vector<int>& ifindexes);

// What the kernel distinguishes. A source's packets to a group are taken from one interface only.
struct MulticastFlow {
  wire::IpAddress source;
  wire::IpAddress group;
  int input = 0;  // interface
  friend auto operator<=>(const MulticastFlow&, const MulticastFlow&) = default;
};

// The owner of such a socket.
class MulticastTable {
 public:
  MulticastTable(UniqueFd socket, wire::Family family)
      : socket_(std::move(socket)), family_(family) {}

  // Readable when Read() has something.
  int fd() const { return socket_.get(); }
  // The next flow that has no entry, whose first packets the kernel keeps for 10 s; or one that
  // comes in by another interface than its entry says, which the kernel tells at once and then
  // every 3 s (MFC_ASSERT_THRESH). Does not block.
  std::optional<MulticastFlow> Read();
  // The flow's packets, those that are kept too, are sent to these interfaces if their TTL is
  // greater than 1. Replaces the entry of the same source and group. Throws SystemError.
  void Set(const MulticastFlow& flow, const std::set<int>& outputs);
  // No error if there is none.
  void Remove(const MulticastFlow& flow);
  // Removes all entries, whoever made them: the kernel asks again. Throws SystemError.
  void Clear();
  // How many packets of the flow came in by its interface since its entry was made.
  uint64_t Packets(const MulticastFlow& flow) const;

 private:
  UniqueFd socket_;
  wire::Family family_;
};

}  // namespace viaduct::sys
