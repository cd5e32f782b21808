// Computes a packet's way through a lab's routers, and whether these do more than forward it.
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

// The state of the routers that a walk needs.
class Routers {
 public:
  virtual ~Routers() = default;

  struct Interface {
    uint32_t mtu = 0;  // bytes
    wire::MacAddress mac;
  };
  // Returns an interface that is up; nothing if it is down.
  virtual std::optional<Interface> FindInterface(size_t node, int ifindex) = 0;
  // Whether the node only forwards packets of this family that arrive at the interface, by their
  // destination, and no process reads them.
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
  int enters = 0, leaves = 0;  // ifindexes in the node
  bool may_lose = false;       // the wire on which it leaves
};

struct Walk {
  std::vector<Hop> hops;      // hops that can be joined; empty: packets go hop by hop
  std::vector<size_t> nodes;  // that the result depends on: those of the hops and the next node
  bpf::JoinedPath path;       // for the eBPF program
};

// The wires of a lab, for walks over them.
class WireMap {
 public:
  explicit WireMap(const std::vector<Wire>& wires);
  WireMap(const WireMap&) = delete;
  WireMap& operator=(const WireMap&) = delete;

  // The end of a wire that receives frames which enter the fabric here; null if there is none.
  const WireEnd* Beyond(int fabric_ifindex) const;
  // This end of its wire, and the opposite end; nulls if the interface is no end of a wire.
  std::pair<const WireEnd*, const WireEnd*> Find(size_t node, int ifindex) const;

 private:
  std::vector<Wire> wires_;
  std::map<int, std::pair<const WireEnd*, const WireEnd*>> by_fabric_;
  std::map<std::pair<size_t, int>, std::pair<const WireEnd*, const WireEnd*>> by_node_;
};

// Returns the way of packets that enter the fabric at `key.port`, up to the first router that does
// more than forward them. Packets of a way that returns to a router go hop by hop until their TTL
// is used up.
Walk WalkPath(const WireMap& wires, Routers& routers, const bpf::PathKey& key);

}  // namespace viaduct::lab
