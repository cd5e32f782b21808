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

// The memory that a control plane shares with the forwarder of a node: the tables, and the events
// that the forwarder sends. The control plane may write to this memory. The descriptors are not
// owned.
struct ControlMemory {
  int table = -1;          // a memfd, or an eBPF array map that can be mapped
  size_t table_words = 0;  // size of the table
  int events = -1, doorbell = -1;
};

// The memory that the sink of a node's routes shares with the node's forwarder. The descriptors are
// not owned.
struct SharedWith {
  ProgramDescription program;
  std::vector<std::string> interfaces;  // the ports, in the order of the counters
  int table = -1;                       // memfd of the table, in the program's format
  int counters = -1;                    // memfd of Counters
  // The memfd and the socket of an EventWriter; -1 if no process reads the events.
  int events = -1, doorbell = -1;
};

// Returns the number of each port's frames with each outcome, by name ("eth0", "forwarded"), from
// mapped counters. "ring-full" and "not-sent" are outcomes of every program.
std::map<std::string, std::map<std::string, uint64_t>> DescribeCounters(
    const SharedWith& shared, std::span<const Word> counters);

struct Equipment {
  std::string name;
  ProgramDescription program;
  std::vector<PortInfo> ports;
  std::vector<sys::PacketSocket> sockets;  // sockets that receive, one per port
  std::vector<sys::PacketSocket> senders;  // sockets that send, one per port (io::RingPort)
  std::vector<sys::InterfaceAddress> own;  // the node's addresses
  UniqueFd table, counters, events, doorbell;
  UniqueFd neighbours;                  // the socket of a NeighbourMonitor
  UniqueFd raw_ipv4, raw_ipv6, icmpv6;  // sockets for packets that the node's kernel sends
  std::vector<UniqueFd> upcalls;        // sockets of an UpcallSender, one per port

  std::vector<int> Descriptors() const;
};

// Makes the port's socket receive only the frames of the program's filter
// (ProgramDescription::FilterOf()), given the node's own addresses. Throws UsageError with
// libpcap's error text, SystemError.
void SetFilter(const ProgramDescription& program, const wire::MacAddress& mac,
               const std::vector<sys::InterfaceAddress>& own, int socket);

// Opens all descriptors of the node's forwarder, in the node's namespace. Needs CAP_NET_RAW and
// CAP_SYS_ADMIN. Throws Error.
Equipment Equip(const std::string& name, int namespace_fd, const SharedWith& shared);

}  // namespace viaduct::forward
