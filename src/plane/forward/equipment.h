// Descriptors that a forwarder needs for a node, opened by a privileged process and usable without
// privilege.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "plane/forward/program.h"
#include "plane/forward/program_description.h"
#include "sys/network/link.h"
#include "sys/network/packet_socket.h"

namespace viaduct::forward {

// The memory that a control plane shares with the forwarder of a node, and may write itself: the
// tables, and the events that the forwarder sends. Not owned.
struct ControlMemory {
  int table = -1;          // a memfd, or an array map of eBPF that can be mapped
  size_t table_words = 0;  // size of the table
  int events = -1, doorbell = -1;
};

// The memory that a node's forwarder shares with the owner of its routes. Not owned.
struct SharedWith {
  ProgramDescription program;
  std::vector<std::string> interfaces;  // the ports, in the order of the counters
  int table = -1;                       // memfd: in the program's format
  int counters = -1;                    // memfd: Counters
  // EventWriter: memfd and an end of a socket pair; -1 if no process reads the events.
  int events = -1, doorbell = -1;
};

// Returns the outcomes of the frames of each port, by name ("eth0", "forwarded"), from mapped
// counters. "ring-full" and "not-sent" are outcomes of any program.
std::map<std::string, std::map<std::string, uint64_t>> DescribeCounters(
    const SharedWith& shared, std::span<const Word> counters);

struct Equipment {
  std::string name;
  ProgramDescription program;
  std::vector<PortInfo> ports;
  std::vector<sys::PacketSocket> sockets;  // one per port: receive
  std::vector<sys::PacketSocket> senders;  // one per port: send (io::RingPort)
  std::vector<sys::InterfaceAddress> own;  // the node's addresses
  UniqueFd table, counters, events, doorbell;
  UniqueFd neighbours;                  // NeighbourMonitor
  UniqueFd raw_ipv4, raw_ipv6, icmpv6;  // for packets that the node's kernel sends
  std::vector<UniqueFd> upcalls;        // one per port: UpcallSender

  std::vector<int> Descriptors() const;
};

// Makes the port's socket receive only the program's frames (ProgramDescription::FilterOf()), given
// the node's own addresses. Throws UsageError with libpcap's text, SystemError.
void SetFilter(const ProgramDescription& program, const wire::MacAddress& mac,
               const std::vector<sys::InterfaceAddress>& own, int socket);

// Opens everything in the node's namespace. Needs CAP_NET_RAW and CAP_SYS_ADMIN. Throws Error.
Equipment Equip(const std::string& name, int namespace_fd, const SharedWith& shared);

}  // namespace viaduct::forward
