// A line of routers whose paths are joined, and its ends, for tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lab/broker/client.h"
#include "lab/broker/test/tap.h"
#include "plane/fib/data_plane.h"

namespace viaduct::broker::test {

using Frame = std::vector<std::byte>;

// Returns the MAC address of the interface at this side, 1 or 2, of a link of the line.
std::string MacOnLine(int link, int side);

// The line n0 -0- n1 -1- n2 ... with the addresses 10.1.LINK.SIDE and 2001:db8:LINK::SIDE.
class JoinedLine {
 public:
  // `specs`: the SPEC of both directions of some links.
  explicit JoinedLine(int routers, const fib::DataPlane& plane = fib::kJoinedPlane,
                      const std::map<int, std::string>& specs = {});

  static std::string Name(int node);

  // Throws Error if the command fails.
  void Run(int node, const std::string& command);
  // Returns a counter of the packets that the node received (results, data_planes).
  uint64_t Count(int node, const std::string& what, const char* interface = "eth0");

  Client& client() { return client_; }
  const lab::Topology& topology() const { return topology_; }
  int last() const { return last_; }

  // Return a packet from n0 to the last node.
  Frame Packet(int number, uint8_t ttl = 64) const;
  Frame Packet6(int number, uint8_t hop_limit = 64) const;

 private:
  lab::Node MakeNode(int i, const fib::DataPlane& plane) const;
  void Configure(int i);

  int last_;
  lab::Topology topology_;
  Client client_;
};

// The interface eth0 of a node.
class EndTap {
 public:
  EndTap(Client& client, const std::string& node) : tap_(client, node, "eth0") {}

  void Send(wire::ConstBytes frame) const { tap_.Send(frame); }
  // Returns descriptions of the UDP and ICMP packets that have arrived since the last call, without
  // those to groups, which nodes send by themselves (router solicitations).
  std::vector<std::string> Take() const;

 private:
  Tap tap_;
};

}  // namespace viaduct::broker::test
