// Which way a packet would go through a lab's routers, and whether these do more than forward it.
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
  size_t node = 0;  // its number in the topology
  int ifindex = 0;  // in the node
  wire::MacAddress mac;
  int fabric_ifindex = 0;
  std::optional<bpf::RandomLoss> loss = std::nullopt;  // of what it sends
};

struct Wire {
  WireEnd a, b;
};

// What the walk must know of the routers.
class Routers {
 public:
  virtual ~Routers() = default;

  struct Interface {
    uint32_t mtu = 0;  // bytes
    wire::MacAddress mac;
  };
  // An interface that is up; nothing if it is not.
  virtual std::optional<Interface> FindInterface(size_t node, int ifindex) = 0;
  // Whether the node does nothing to packets of this family that come in there but forward them by
  // their destination, and nobody looks at them.
  virtual bool OnlyForwards(size_t node, int ifindex, wire::Family family) = 0;
  struct NextHop {
    int ifindex = 0;
    wire::MacAddress mac;
  };
  // Of packets with this destination and TOS. Nothing if it has none, several, or the neighbour's
  // address is unknown.
  virtual std::optional<NextHop> FindNextHop(size_t node, const wire::IpAddress& destination,
                                             uint8_t tos) = 0;
};

// The hop that a packet makes in a router.
struct Hop {
  size_t node = 0;
  int enters = 0, leaves = 0;  // ifindexes in the node
  bool may_lose = false;       // the wire on which it leaves
};

struct Walk {
  std::vector<Hop> hops;      // those that can be joined; none: by hop
  std::vector<size_t> nodes;  // on which it depends: those of the hops and the next
  bpf::JoinedPath path;       // for the program
};

// The wires of a lab, for walks over them.
class WireMap {
 public:
  explicit WireMap(const std::vector<Wire>& wires);
  WireMap(const WireMap&) = delete;
  WireMap& operator=(const WireMap&) = delete;

  // The end that frames which come into the fabric here are for; null if there is none.
  const WireEnd* Beyond(int fabric_ifindex) const;
  // This end of its wire, and the other; nulls if the interface is none.
  std::pair<const WireEnd*, const WireEnd*> Find(size_t node, int ifindex) const;

 private:
  std::vector<Wire> wires_;
  std::map<int, std::pair<const WireEnd*, const WireEnd*>> by_fabric_;
  std::map<std::pair<size_t, int>, std::pair<const WireEnd*, const WireEnd*>> by_node_;
};

// The way of packets that come into the fabric at `key.port`, up to the first router that does more
// than forward them. A way that comes back to a router goes by hop: its packets' TTL ends it.
Walk WalkPath(const WireMap& wires, Routers& routers, const bpf::PathKey& key);

}  // namespace viaduct::lab
