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

// Frames are lost with this probability, each by itself, as RandomStream::Chance() says.
struct RandomLoss {
  double probability = 0;
  RandomStream random;
};

// A wire of which both ends are in the fabric.
struct JoinWire {
  struct End {
    int ifindex = 0;                 // in the fabric
    wire::MacAddress mac;            // of the node's interface behind it
    std::optional<RandomLoss> loss;  // of what comes in here
  };
  End a, b;
};

// The packets that come in on a port, for one destination.
struct PathKey {
  int port = 0;  // ifindex in the fabric
  wire::IpAddress destination;
  uint8_t tos = 0;  // IPv4: without the ECN bits
  friend auto operator<=>(const PathKey&, const PathKey&) = default;
};

// How such packets go.
struct JoinedPath {
  uint32_t hops = 0;              // routers on the way; 0: by hop
  uint32_t mtu = 0;               // the smallest on the way, bytes
  int exit = 0;                   // the fabric's end of the last wire, on the far side
  wire::MacAddress enters;        // of the first router's interface
  wire::MacAddress source;        // of the last wire
  wire::MacAddress destination;   // of the interface that gets them
  std::vector<uint32_t> routers;  // their numbers
  uint64_t too_bigs = 0;          // Joiner::TooBigs() before somebody looked
  std::vector<int> lossy_ends;    // of the wires after the first, where frames come in that may
                                  // be lost there
};

// The places of a path in the program's tables, which count its packets; each is below kMaxPaths.
// One that a path has left may still be read by a processor that was held up.
struct PathCounters {
  uint32_t passed = 0;         // all hops
  std::vector<uint32_t> lost;  // on each of its lossy_ends
};

// The program, at work from construction to destruction or to the end of this process: no frame
// passes the wires without it. For use by one thread.
class Joiner {
 public:
  static constexpr size_t kMaxPaths = 65536;

  // Throws EnvironmentError if the build or the kernel cannot do it.
  Joiner(int hub_fd, const std::vector<JoinWire>& wires);
  ~Joiner();
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

  // Readable when packets ask for their path, or whether it still is what it was.
  int fd() const;
  // Some of them, each once.
  std::vector<PathKey> TakeRequests();

  // Packets that come in from now on go this way, all of their hops or none. False: there are
  // kMaxPaths others.
  bool Set(const PathKey& key, const JoinedPath& path, const PathCounters& counters);
  // They ask again.
  void Remove(const PathKey& key);

  // How many frames have come in so far that may have told a router of an IPv6 path MTU: packets
  // longer than 1280 bytes go by paths only that were set with this number.
  uint64_t TooBigs() const;

  // Which router has an IPv4 address. Replaces all.
  void SetAddresses(const std::map<wire::IpAddress, uint32_t>& routers);

  // The address of the interface beyond a port has changed. What comes in meanwhile may not be
  // counted.
  void SetFarMac(int port, const wire::MacAddress& mac);

  // What has gone by the paths with this counter since it was last cleared.
  viaduct_joined_traffic TrafficOf(uint32_t counter) const;
  void ClearTraffic(uint32_t counter);
  // What came in on a port so far.
  viaduct_join_port CountersOf(int port) const;
  // What a wire did to the frames that came in on a port. Nothing if it loses none.
  std::optional<viaduct_wire_loss> LossOf(int port) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Why this machine cannot join paths, in one line; empty if it can. Needs root.
std::string WhyNotJoined();

// How each outcome is called in descriptions: "joined", "by-hop"...
const char* OutcomeName(viaduct_join_outcome outcome);

}  // namespace viaduct::bpf
