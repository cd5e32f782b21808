// A line of routers whose paths are joined, and taps at the ends of the line, for tests.
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

// Returns the MAC address of the interface at the side `side` (1 or 2) of a link of the line.
std::string MacOnLine(int link, int side);

// A lab with the line n0 -0- n1 -1- n2 ..., whose links are numbered from 0. The addresses on a
// link are 10.1.LINK.SIDE and 2001:db8:LINK::SIDE.
class JoinedLine {
 public:
  // `specs`: the SPEC of both directions of some links.
  explicit JoinedLine(int routers, const fib::DataPlane& plane = fib::kJoinedPlane,
                      const std::map<int, std::string>& specs = {});

  static std::string Name(int node);

  // Runs a shell command in a node. Throws Error if it fails.
  void Run(int node, const std::string& command);
  // Returns the counter `what` of the packets that a node received on an interface (data_planes in
  // results).
  uint64_t Count(int node, const std::string& what, const char* interface = "eth0");

  Client& client() { return client_; }
  const lab::Topology& topology() const { return topology_; }
  int last() const { return last_; }

  // Return a frame with an IPv4 or IPv6 packet from n0 to the last node; `number` identifies the
  // packet.
  Frame Packet(int number, uint8_t ttl = 64) const;
  Frame Packet6(int number, uint8_t hop_limit = 64) const;

 private:
  lab::Node MakeNode(int i, const fib::DataPlane& plane) const;
  void Configure(int i);

  int last_;
  lab::Topology topology_;
  Client client_;
};

// A tap on the interface eth0 of a node: sends frames from the interface and reads arriving frames.
class EndTap {
 public:
  EndTap(Client& client, const std::string& node) : tap_(client, node, "eth0") {}

  void Send(wire::ConstBytes frame) const { tap_.Send(frame); }
  // Returns descriptions of the UDP and ICMP packets that have arrived since the last call, without
  // packets to multicast groups, which nodes send without being asked (router solicitations).
  std::vector<std::string> Take() const;

 private:
  Tap tap_;
};

}  // namespace viaduct::broker::test
