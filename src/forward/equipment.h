// What a forwarder needs for a node, opened by a privileged process and usable without privilege.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "forward/program.h"
#include "sys/network/link.h"
#include "sys/network/packet_socket.h"

namespace viaduct::forward {

// The memory that a node's forwarder shares with the owner of its routes. Not owned.
struct SharedWith {
  const ProgramKind* program = nullptr;
  std::vector<std::string> interfaces;  // the ports, in the order of the counters
  int table = -1;                       // memfd: TableWriter
  int counters = -1;                    // memfd: Counters
};

struct Equipment {
  std::string name;
  const ProgramKind* program = nullptr;
  std::vector<PortInfo> ports;
  std::vector<sys::PacketSocket> sockets;  // of the ports
  UniqueFd table, counters;
  UniqueFd neighbours;                  // NeighbourMonitor
  UniqueFd raw_ipv4, raw_ipv6, icmpv6;  // for packets that the node's kernel sends

  std::vector<int> Descriptors() const;
};

// Lets the port's socket receive the program's frames only (ProgramKind::filter), given the node's
// own addresses. Throws SystemError.
void SetFilter(const ProgramKind& program, const wire::MacAddress& mac,
               const std::vector<sys::InterfaceAddress>& own, int socket);

// Opens everything in the node's namespace. Needs CAP_NET_RAW and CAP_SYS_ADMIN. Throws Error.
Equipment Equip(const std::string& name, int namespace_fd, const SharedWith& shared);

}  // namespace viaduct::forward
