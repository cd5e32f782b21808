// Computes a packet's path through a lab's routers, and finds routers that do more than forward the
// packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/wire/address.h"
#include "plane/bpf/joiner.h"

namespace viaduct::lab {

// One end of a wire whose ends are both in the fabric.
struct WireEnd {
  size_t node = 0;  // the node's number in the topology
  int ifindex = 0;  // the index in the node's namespace
  wire::MacAddress mac;
  int fabric_ifindex = 0;
  std::optional<bpf::RandomLoss> loss = std::nullopt;  // for frames that this end sends
};

struct Wire {
  WireEnd a, b;
};

// The state of a lab's routers, as far as the computation of a path needs it.
class Routers {
 public:
  virtual ~Routers() = default;

  struct Interface {
    uint32_t mtu = 0;  // bytes
    wire::MacAddress mac;
  };
  // Returns an interface that is up; nothing if it is down.
  virtual std::optional<Interface> FindInterface(size_t node, int ifindex) = 0;
  // Whether the node does nothing with packets of this family that arrive at the interface but
  // forward them by their destination, and no process reads the packets.
  virtual bool OnlyForwards(size_t node, int ifindex, wire::Family family) = 0;
  struct NextHop {
    int ifindex = 0;
    wire::MacAddress mac;
  };
  // Returns the next hop of packets with this destination and TOS; nothing if the node has none or
  // several, or if the neighbour's MAC address is unknown.
  virtual std::optional<NextHop> FindNextHop(size_t node, const wire::IpAddress& destination,
                                             uint8_t tos) = 0;
};

// A packet's hop through a router.
struct Hop {
  size_t node = 0;
  int enters = 0, leaves = 0;  // ifindexes in the node where the packet enters and leaves
  bool may_lose = false;       // the wire on which the packet leaves may lose it
};

struct Walk {
  std::vector<Hop> hops;  // hops that can be joined; empty: packets go hop by hop
  // The nodes that the result of the walk depends on: those of the hops, and the next node.
  std::vector<size_t> nodes;
  bpf::JoinedPath path;  // the path in the form for the eBPF program
};

// The wires of a lab, by the interfaces at their ends.
class WireMap {
 public:
  explicit WireMap(const std::vector<Wire>& wires);
  WireMap(const WireMap&) = delete;
  WireMap& operator=(const WireMap&) = delete;

  // Returns the wire's end that receives the frames that enter the fabric at the interface; null if
  // the interface is not an end of a wire.
  const WireEnd* Beyond(int fabric_ifindex) const;
  // Returns the wire's end at the node's interface, and the opposite end; returns two null pointers
  // if the interface is not an end of a wire.
  std::pair<const WireEnd*, const WireEnd*> Find(size_t node, int ifindex) const;

 private:
  std::vector<Wire> wires_;
  std::map<int, std::pair<const WireEnd*, const WireEnd*>> by_fabric_;
  std::map<std::pair<size_t, int>, std::pair<const WireEnd*, const WireEnd*>> by_node_;
};

// Returns the path of packets that enter the fabric at `key.port`, up to the first router that does
// more than forward them. A path that returns to a router has no hops: its packets go hop by hop
// until their TTL reaches zero.
Walk WalkPath(const WireMap& wires, Routers& routers, const bpf::PathKey& key);

}  // namespace viaduct::lab
