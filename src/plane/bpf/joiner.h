// The eBPF program that joins the hops of paths (join.bpf.c), for all wires of a lab.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/wire/address.h"
#include "plane/bpf/join.h"
#include "sys/bpf/object.h"

namespace viaduct::bpf {

// A random loss of frames with this probability, each frame independently, as
// RandomStream::Chance() decides.
struct RandomLoss {
  double probability = 0;
  RandomStream random;
};

// A wire that has both ends in the fabric.
struct JoinWire {
  struct End {
    int ifindex = 0;                 // ifindex in the fabric
    wire::MacAddress mac;            // address of the node's interface behind this end
    std::optional<RandomLoss> loss;  // losses of the frames that arrive at this end
  };
  End a, b;
};

// The key of a path: the packets that arrive on a port for one destination, with one type of
// service.
struct PathKey {
  int port = 0;  // ifindex in the fabric
  wire::IpAddress destination;
  uint8_t tos = 0;  // type of service: 0 in IPv6; in IPv4 without the ECN bits
  friend auto operator<=>(const PathKey&, const PathKey&) = default;
};

// The path of the packets of a PathKey.
struct JoinedPath {
  uint32_t hops = 0;              // routers passed in one step; 0: packets are passed hop by hop
  uint32_t mtu = 0;               // the minimum MTU on the path, bytes
  int exit = 0;                   // ifindex of the fabric's end of the last wire
  wire::MacAddress enters;        // address of the first router's receiving interface
  wire::MacAddress source;        // source address of the frame on the last wire
  wire::MacAddress destination;   // address of the last wire's receiving interface
  std::vector<uint32_t> routers;  // numbers of the routers on the path
  uint64_t too_bigs = 0;          // the value of Joiner::TooBigs() before the path was looked up
  std::vector<int> lossy_ends;    // wire ends after the first at which arriving frames may be lost
};

// The indexes in the program's tables at which the packets of a path are counted; each index is
// below kMaxPaths. A processor that was delayed may still read the tables' entry of a removed path.
struct PathCounters {
  uint32_t passed = 0;         // index for packets that passed all hops
  std::vector<uint32_t> lost;  // indexes for packets lost at each of the path's lossy_ends
};

// The eBPF program that joins the hops of paths, active from construction to destruction or to the
// exit of this process: no frame passes the wires without it. For use by one thread.
class Joiner {
 public:
  static constexpr size_t kMaxPaths = 65536;

  // Attaches the program to both ends of each wire. Throws EnvironmentError if the build or the
  // kernel cannot run the program.
  Joiner(int hub_fd, const std::vector<JoinWire>& wires);
  ~Joiner();
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

  // Returns a descriptor that is readable when packets request their path, or a check of it.
  int fd() const;
  // Returns the keys of some of the paths that packets have requested, each key once.
  std::vector<PathKey> TakeRequests();

  // Sets the path of a key. A packet of the key that arrives after this call passes all hops of the
  // path in one step, or is passed hop by hop. Returns false if kMaxPaths other paths are set.
  bool Set(const PathKey& key, const JoinedPath& path, const PathCounters& counters);
  // Removes the path of a key: its next packet requests a path again.
  void Remove(const PathKey& key);

  // Returns the number of frames that have arrived so far and may have reported an IPv6 path MTU to
  // a router. A packet longer than 1280 bytes takes a path only if the path was set while this
  // number had its current value.
  uint64_t TooBigs() const;

  // Replaces the set of all routers' IPv4 addresses; the value of each address is the number of its
  // router.
  void SetAddresses(const std::map<wire::IpAddress, uint32_t>& routers);

  // Changes the MAC address of the node's interface behind a port's other end. Frames that arrive
  // during the call may not be counted.
  void SetFarMac(int port, const wire::MacAddress& mac);

  // Returns the traffic counted at this index (PathCounters) since it was last cleared.
  viaduct_joined_traffic TrafficOf(uint32_t counter) const;
  void ClearTraffic(uint32_t counter);
  // Returns a port's entry, with the counters of the packets that have arrived on it.
  viaduct_join_port CountersOf(int port) const;
  // Returns the losses of the frames that arrived on a port; empty if the wire has no RandomLoss at
  // this end.
  std::optional<viaduct_wire_loss> LossOf(int port) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the reason why this machine cannot join paths, in one line; empty if it can. Needs root.
std::string JoinerUnavailable();

// Returns the name of a frame's outcome in descriptions: "joined", "by-hop"...
const char* OutcomeName(viaduct_join_outcome outcome);

}  // namespace viaduct::bpf
