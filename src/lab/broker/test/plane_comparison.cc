#include "lab/broker/test/plane_comparison.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/wire/test/packet_builder.h"
#include "lab/broker/client.h"
#include "lab/broker/test/tap.h"
#include "sys/network/netns.h"

namespace viaduct::broker::test {
namespace {

// The number of packets between two markers, and so the maximum number of packets in any queue.
constexpr int kBatch = 64;
constexpr Duration kTimeout = Duration::Seconds(60);
constexpr Duration kSilence = Duration::Milliseconds(100);

// Returns FNV-1a of the bytes after the IP header, for a frame without IP options: the payload, or
// the packet that an ICMP error quotes. Skips the quoted identification, which the kernel draws for
// packets that it sends itself, and the quoted checksums that depend on it.
uint32_t HashBehindIp(wire::ConstBytes frame, bool is_icmp_error) {
  constexpr std::array<size_t, 6> kDrawn = {36, 37, 46, 47, 52, 53};
  const bool is_ipv6 = frame.size() > 14 && (frame[14] >> 4) == std::byte{6};
  uint32_t hash = 2166136261;
  for (size_t i = is_ipv6 ? 54 : 34; i < frame.size(); ++i) {
    if (is_icmp_error && std::ranges::find(kDrawn, i) != kDrawn.end()) continue;
    hash = (hash ^ std::to_integer<uint32_t>(frame[i])) * 16777619;
  }
  return hash;
}

bool IsIpv6Fragment(wire::ConstBytes frame) {
  return frame.size() > 20 && frame[12] == std::byte{0x86} && frame[20] == std::byte{44};
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Whether a kernel sent the packet on its own initiative: listener reports, neighbour discovery.
bool IsOfKernel(const std::string& text) {
  return Has(text, "/ icmpv6 13") || Has(text, "/ icmpv6 14");
}

// Whether the packet is one whose rate kernels limit under any settings: an ICMP error about a
// network without a route (ip_error() of net/ipv4/route.c).
bool IsByClock(const std::string& text) { return Has(text, "/ icmp 3/0 "); }

bool IsIpv4Error(const std::string& text) {
  return Has(text, "/ icmp 3/") || Has(text, "/ icmp 11/") || Has(text, "/ icmp 12/");
}

bool IsError(const std::string& text) {
  return IsIpv4Error(text) || Has(text, "/ icmpv6 1/") || Has(text, "/ icmpv6 2/") ||
         Has(text, "/ icmpv6 3/") || Has(text, "/ icmpv6 4/");
}

// Removes from the description the IP identification that a kernel has drawn for an answer or a
// fragment.
void RemoveDrawnId(std::string* text) {
  if (!Has(*text, "/ icmp ") && !Has(*text, " fragment ")) return;
  const size_t start = text->find(" id ");
  if (start != std::string::npos) text->erase(start, text->find(' ', start + 4) - start);
}

// Collects the frames that arrive at an interface of a node.
class Listener {
 public:
  Listener(Client& client, const std::string& node, const std::string& interface)
      : tap_(client, node, interface) {}

  void Send(const Frame& frame) const { tap_.Send(frame); }

  void Take() {
    tap_.Take([&](wire::ConstBytes frame) {
      ++arrived_;
      Keep(frame);
    });
  }

  uint64_t markers() const { return markers_; }
  uint64_t clocked() const { return clocked_; }
  uint64_t arrived() const { return arrived_; }
  Frames Sorted() {
    std::ranges::sort(frames_);
    return std::move(frames_);
  }

 private:
  void Keep(wire::ConstBytes frame) {
    std::string text = wire::packet::Describe(frame);
    if (IsOfKernel(text)) return;
    if (IsByClock(text)) {
      ++clocked_;
      return;
    }
    if (IsMarker(text)) {
      ++markers_;
      return;
    }
    RemoveDrawnId(&text);
    if (!IsIpv6Fragment(frame)) {  // the identification of a fragment is drawn by a kernel
      text += fmt::format(" hash {:08x}", HashBehindIp(frame, IsIpv4Error(text)));
    }
    frames_.push_back(std::move(text));
  }

  Tap tap_;
  Frames frames_;
  uint64_t markers_ = 0, clocked_ = 0, arrived_ = 0;
};

// Whether a place ("d0" or "d0/eth0") is at a host and not at a router.
bool IsHost(const std::string& place) { return !place.starts_with('r'); }

// A random network that is up, with listeners at its interfaces.
class Running {
 public:
  Running(uint64_t seed, const fib::DataPlane& plane, EqualPaths paths, Where where)
      : plane_(plane),
        network_(MakeRandomNetwork(seed, plane, paths)),
        client_(Client::ConnectOrSpawn()) {
    client_.CreateLab(network_.topology);
    KnowNeighbours();
    for (const NodeRoute& each : network_.routes) {
      fib::RouteChanges changes;
      changes.added = {each.route};
      client_.ApplyRoutes(each.node, changes);
    }
    for (const lab::Node& node : network_.topology.nodes) {
      if (where == Where::kHosts && !IsHost(node.name)) continue;
      for (const lab::Interface& interface : node.interfaces) {
        taps_.try_emplace(node.name + "/" + interface.name, client_, node.name, interface.name);
      }
    }
    before_ = Forwarded();
  }

  void Send(uint64_t seed, int packets) {
    RandomStream random(seed, "packets");
    const Listener& source = taps_.at(std::string(kSource) + "/eth0");
    for (int i = 0; i < packets; ++i) {
      source.Send(RandomFrame(random, network_, i));
      TakeAll();
      if (i % kBatch == kBatch - 1) AwaitMarker(source);
    }
    AwaitMarker(source);
    AwaitSilence();
  }

  Arrivals Finish() {
    Arrivals arrivals;
    for (auto& [name, tap] : taps_) {
      arrivals.at[name] = tap.Sorted();
      arrivals.clocked[name] = tap.clocked();
    }
    arrivals.forwarded = Forwarded();
    for (auto& [node, packets] : arrivals.forwarded) packets -= before_.at(node);
    arrivals.by_plane = by_plane_;
    arrivals.markers = markers_;
    arrivals.counts_compare = plane_.layout.kernel_forwards;
    return arrivals;
  }

 private:
  // Adds the MAC addresses of all neighbours to the kernels, so that no packet waits for address
  // resolution.
  void KnowNeighbours() {
    std::map<std::string, std::string> commands;
    for (const lab::Link& link : network_.topology.links) {
      for (const size_t side : {0, 1}) {
        const lab::Interface& far = Find(link.endpoints[1 - side]);
        const lab::Endpoint& here = link.endpoints[side];
        std::string& text = commands[here.node];
        for (const wire::IpPrefix& each : far.addresses) {
          text += Neighbour(each.address, far.mac, here.interface);
        }
        // Adds the addresses of random packets that no node has: a router resolves such an address
        // to its host, a host to a MAC address that no node has.
        wire::MacAddress nobody = far.mac;
        nobody.bytes[0] |= 4;
        for (const wire::IpAddress& each : StrangersOn(far)) {
          text += Neighbour(each, IsHost(here.node) ? nobody : far.mac, here.interface);
        }
      }
    }
    for (const auto& [node, text] : commands) Run(node, {"sh", "-c", text});
  }

  static std::string Neighbour(const wire::IpAddress& address, const wire::MacAddress& mac,
                               const std::string& interface) {
    return fmt::format("ip neigh replace {} lladdr {} dev {} nud permanent || exit 1\n",
                       address.ToString(), mac.ToString(), interface);
  }

  const lab::Interface& Find(const lab::Endpoint& end) const {
    const auto& nodes = network_.topology.nodes;
    const auto& node = *std::ranges::find(nodes, end.node, &lab::Node::name);
    return *std::ranges::find(node.interfaces, end.interface, &lab::Interface::name);
  }

  void Run(const std::string& node, std::vector<std::string> arguments) {
    ProgramOptions options;
    options.node = node;
    options.arguments = std::move(arguments);
    const Program program = client_.Spawn(options);
    int32_t status = -1;
    if (read(program.exit_status.get(), &status, sizeof status) != sizeof status || status != 0) {
      throw Error(fmt::format("a program in {} failed", node));
    }
  }

  void TakeAll() {
    for (auto& [name, tap] : taps_) tap.Take();
  }

  // Sends markers until one has arrived: all frames sent before it have arrived then.
  void AwaitMarker(const Listener& source) {
    const Listener& sink = taps_.at(std::string(kSink) + "/eth0");
    const uint64_t seen = sink.markers();
    const Instant end = MonotonicClock::Now() + kTimeout;
    for (Instant again; sink.markers() == seen; TakeAll()) {
      const Instant now = MonotonicClock::Now();
      if (now >= end) {
        throw Error(fmt::format("data plane {}: nothing passes from {} to {} in {} s", plane_.name,
                                kSource, kSink, kTimeout.ToSeconds()));
      }
      if (now < again) continue;
      source.Send(MarkerFrame(network_));
      ++markers_;
      again = now + kSilence;
    }
  }

  // Waits until no more frames arrive: another process may still forward some frames, and answers
  // may be on their path back to the source.
  void AwaitSilence() {
    const auto arrived = [&] {
      uint64_t sum = 0;
      for (const auto& [name, tap] : taps_) sum += tap.arrived();
      return sum;
    };
    const Instant end = MonotonicClock::Now() + kTimeout;
    for (uint64_t before = arrived() + 1; before != arrived() && MonotonicClock::Now() < end;) {
      before = arrived();
      poll(nullptr, 0, static_cast<int>(kSilence.nanoseconds() / 1'000'000));
      TakeAll();
    }
  }

  // Returns, for each node, the number of packets forwarded by its kernel (RFC 4293's
  // ipSystemStatsHCOutForwDatagrams, under the kernel's older names) and by its data plane.
  std::map<std::string, uint64_t> Forwarded() {
    std::map<std::string, uint64_t> forwarded;
    const nlohmann::json description = client_.Describe();
    by_plane_ = 0;
    for (const lab::Node& node : network_.topology.nodes) {
      uint64_t by_plane = 0;
      if (description.contains("packets") && description["packets"].contains(node.name)) {
        for (const auto& interface : description["packets"][node.name]) {
          // "resolving": the forwarder made the kernel send the packet, and the kernel does not
          // count the packet as forwarded.
          for (const char* key : {"forwarded", "joined", "resolving"}) {
            by_plane += interface.value(key, 0ULL);
          }
        }
      }
      by_plane_ += by_plane;
      forwarded[node.name] = by_plane + ForwardedByKernel(node.name);
    }
    return forwarded;
  }

  uint64_t ForwardedByKernel(const std::string& node) const {
    const UniqueFd place = sys::OpenNamespace(network_.topology.name + "." + node);
    const sys::NamespaceScope scope(place.get());
    // /proc/net/snmp (IPv4) has a line of names and a line of values; /proc/net/snmp6 has one name
    // and value per line.
    std::istringstream lines(ReadFile("/proc/thread-self/net/snmp"));
    std::string names, values;
    std::getline(lines, names);
    std::getline(lines, values);
    std::istringstream name_words(names), value_words(values);
    uint64_t sum = 0;
    for (std::string name, value; name_words >> name && value_words >> value;) {
      if (name == "ForwDatagrams") sum += std::stoull(value);
    }
    std::istringstream ipv6(ReadFile("/proc/thread-self/net/snmp6"));
    for (std::string name, value; ipv6 >> name >> value;) {
      if (name == "Ip6OutForwDatagrams") sum += std::stoull(value);
    }
    return sum;
  }

  const fib::DataPlane& plane_;
  RandomNetwork network_;
  Client client_;
  std::map<std::string, Listener> taps_;
  std::map<std::string, uint64_t> before_;
  uint64_t by_plane_ = 0, markers_ = 0;
};

// Returns the frames that are only in `here`, each prefixed by `sign`.
Frames OnlyIn(const Frames& here, const Frames& there, const std::string& sign) {
  Frames only;
  std::ranges::set_difference(here, there, std::back_inserter(only));
  for (std::string& frame : only) frame.insert(0, sign);
  return only;
}

uint64_t TotalOf(const std::map<std::string, uint64_t>& forwarded) {
  uint64_t sum = 0;
  for (const auto& [node, packets] : forwarded) sum += packets;
  return sum;
}

}  // namespace

EqualPaths PathsFor(const fib::DataPlane& plane) {
  return plane.layout.kernel_forwards ? EqualPaths::kAll : EqualPaths::kFirst;
}

Arrivals SendThrough(const fib::DataPlane& plane, uint64_t seed, int packets, EqualPaths paths,
                     Where where) {
  Running network(seed, plane, paths, where);
  network.Send(seed, packets);
  return network.Finish();
}

std::vector<std::string> Differences(const Arrivals& plane, const Arrivals& reference) {
  Frames lines;
  for (const auto& [place, expected] : reference.at) {
    const Frames& seen = plane.at.at(place);
    std::ranges::move(OnlyIn(seen, expected, "+" + place + " "), std::back_inserter(lines));
    std::ranges::move(OnlyIn(expected, seen, "-" + place + " "), std::back_inserter(lines));
  }
  // Ignores ICMP errors at routers: among several paths of equal length the kernel sends an error
  // on the path of the quoted packet, while bpf_fib_lookup() does not read the quoted packet.
  std::erase_if(lines, [](const std::string& line) { return line[1] == 'r' && IsError(line); });
  return lines;
}

std::string ForwardedOtherwise(const Arrivals& plane, const Arrivals& reference) {
  const uint64_t packets = TotalOf(plane.forwarded), expected = TotalOf(reference.forwarded);
  const bool is_alike = plane.markers == reference.markers && plane.clocked == reference.clocked;
  if (!plane.counts_compare || !is_alike || packets == expected) return "";
  std::string line = fmt::format("{} packets forwarded instead of {}:", packets, expected);
  for (const auto& [node, count] : plane.forwarded) {
    line += fmt::format(" {} {} ({})", node, count, reference.forwarded.at(node));
  }
  return line;
}

std::vector<const fib::DataPlane*> ComparedPlanes() {
  std::vector<const fib::DataPlane*> planes;
  for (const fib::DataPlane* plane : fib::DataPlanes()) {
    const bool is_open = plane->joined != nullptr;
    if (plane == &fib::kKernelPlane || plane->in_simulator() || is_open) continue;
    planes.push_back(plane);
  }
  return planes;
}

void PinToOneProcessor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  SystemCall("sched_setaffinity", sched_setaffinity(0, sizeof one, &one));
}

}  // namespace viaduct::broker::test
