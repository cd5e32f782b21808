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

// Loss of frames with this probability, each independently, as RandomStream::Chance() decides.
struct RandomLoss {
  double probability = 0;
  RandomStream random;
};

// A wire that has both ends in the fabric.
struct JoinWire {
  struct End {
    int ifindex = 0;                 // number in the fabric
    wire::MacAddress mac;            // address of the node's interface behind it
    std::optional<RandomLoss> loss;  // losses of the frames that arrive here
  };
  End a, b;
};

// The packets that arrive on a port, for one destination.
struct PathKey {
  int port = 0;  // ifindex in the fabric
  wire::IpAddress destination;
  uint8_t tos = 0;  // IPv4: without the ECN bits
  friend auto operator<=>(const PathKey&, const PathKey&) = default;
};

// The way of the packets of a PathKey.
struct JoinedPath {
  uint32_t hops = 0;              // routers on the way; 0: hop by hop
  uint32_t mtu = 0;               // smallest MTU on the way, bytes
  int exit = 0;                   // the fabric's end of the last wire, on the far side
  wire::MacAddress enters;        // address of the first router's interface
  wire::MacAddress source;        // source address on the last wire
  wire::MacAddress destination;   // address of the receiving interface
  std::vector<uint32_t> routers;  // numbers of the routers
  uint64_t too_bigs = 0;          // Joiner::TooBigs() before the caller looked
  std::vector<int> lossy_ends;    // ends of the wires after the first at which arriving frames
                                  // may be lost
};

// The places of a path in the program's tables, which count its packets; each is below kMaxPaths.
// A place that a path has left may still be read by a processor that was delayed.
struct PathCounters {
  uint32_t passed = 0;         // packets over all hops
  std::vector<uint32_t> lost;  // packets at each of the path's lossy_ends
};

// The program, active from construction to destruction or to the exit of this process: no frame
// passes the wires without it. For use by one thread.
class Joiner {
 public:
  static constexpr size_t kMaxPaths = 65536;

  // Throws EnvironmentError if the build or the kernel cannot do it.
  Joiner(int hub_fd, const std::vector<JoinWire>& wires);
  ~Joiner();
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

  // Returns a descriptor that is readable when packets ask for their path, or for a check of it.
  int fd() const;
  // Returns some of the requests, each once.
  std::vector<PathKey> TakeRequests();

  // Sends packets that arrive after this call by this path, over all of its hops or none. Returns
  // false if there are kMaxPaths other paths.
  bool Set(const PathKey& key, const JoinedPath& path, const PathCounters& counters);
  // Removes a path: its packets ask again.
  void Remove(const PathKey& key);

  // Returns the number of frames that have arrived so far and may have reported an IPv6 path MTU to
  // a router: packets longer than 1280 bytes take only paths that were set with this number.
  uint64_t TooBigs() const;

  // Replaces all IPv4 addresses of routers, each with the number of its router.
  void SetAddresses(const std::map<wire::IpAddress, uint32_t>& routers);

  // Changes the address of the interface beyond a port. Frames that arrive during the call may not
  // be counted.
  void SetFarMac(int port, const wire::MacAddress& mac);

  // Returns the traffic of the paths with this counter since it was last cleared.
  viaduct_joined_traffic TrafficOf(uint32_t counter) const;
  void ClearTraffic(uint32_t counter);
  // Returns a port's entry, with the counters of the packets that have arrived on it.
  viaduct_join_port CountersOf(int port) const;
  // Returns the losses of the frames that arrived on a port; nothing if its wire loses none.
  std::optional<viaduct_wire_loss> LossOf(int port) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns why this machine cannot join paths, in one line; empty if it can. Needs root.
std::string JoinerUnavailable();

// Returns the name of an outcome in descriptions: "joined", "by-hop"...
const char* OutcomeName(viaduct_join_outcome outcome);

}  // namespace viaduct::bpf
