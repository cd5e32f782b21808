// The data planes `ebpf` and `userspace` against the kernel's: the same random packets over the
// same lab, and what arrives where is the same. Needs root.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>

#include "base/clock.h"
#include "base/random.h"
#include "broker/client.h"
#include "fib/test_route.h"
#include "sys/network/netns.h"
#include "wire/test/packet_builder.h"

namespace viaduct::broker {
namespace {

using namespace wire::packet;  // NOLINT(google-build-using-namespace): packets read like packets
using Frame = std::vector<std::byte>;
using Frames = std::vector<std::string>;  // described, sorted

constexpr int kFramesSent = 2000;
constexpr uint16_t kMarkerPort = 7777;

std::string MacOf(int link, int side) {
  return fmt::format("02:00:00:00:{:02x}:{:02x}", link, side);
}

lab::Interface MakeInterface(int number, int link, int side, int mtu = 1500) {
  lab::Interface interface;
  interface.name = fmt::format("eth{}", number);
  interface.mac = wire::MacAddress::Parse(MacOf(link, side));
  for (const char* form : {"10.0.{}.{}/24", "2001:db8:{}::{}/64"}) {
    interface.addresses.push_back(
        wire::IpPrefix::Parse(fmt::format(fmt::runtime(form), link, side)));
  }
  interface.mtu = mtu;
  return interface;
}

// a -0- b =1,2= c -3- d: two links of MTU 1400 between the routers b and c.
lab::Topology TwoRouters(const fib::DataPlane& plane) {
  lab::Topology topology;
  topology.name = fmt::format("pln{}", getpid());
  topology.nodes = {
      {"a", &plane, {MakeInterface(0, 0, 1)}, {}, {}},
      {"b",
       &plane,
       {MakeInterface(0, 0, 2), MakeInterface(1, 1, 1, 1400), MakeInterface(2, 2, 1, 1400)},
       {},
       {}},
      {"c",
       &plane,
       {MakeInterface(0, 1, 2, 1400), MakeInterface(1, 2, 2, 1400), MakeInterface(2, 3, 1)},
       {},
       {}},
      {"d", &plane, {MakeInterface(0, 3, 2)}, {}, {}}};
  for (lab::Node& node : topology.nodes) {  // every error is answered
    node.sysctls = {{"net.ipv4.icmp_ratemask", "0"}, {"net.ipv6.icmp.ratemask", "255"}};
  }
  const auto pair = lab::Link::Kind::kPair;
  topology.links = {{"ab", pair, {{"a", "eth0"}, {"b", "eth0"}}, {}},
                    {"bc1", pair, {{"b", "eth1"}, {"c", "eth0"}}, {}},
                    {"bc2", pair, {{"b", "eth2"}, {"c", "eth1"}}, {}},
                    {"cd", pair, {{"c", "eth2"}, {"d", "eth0"}}, {}}};
  return topology;
}

void Run(Client& client, const std::string& node, std::vector<std::string> arguments) {
  ProgramOptions options;
  options.node = node;
  options.arguments = std::move(arguments);
  const Program program = client.Spawn(options);
  int32_t status = -1;
  ASSERT_EQ(read(program.exit_status.get(), &status, sizeof status), ssize_t{sizeof status});
  ASSERT_EQ(status, 0);
}

// Nothing waits for address resolution.
void KnowNeighbours(Client& client, const lab::Topology& topology) {
  for (const lab::Link& link : topology.links) {
    for (const int side : {0, 1}) {
      const lab::Endpoint& here = link.endpoints[static_cast<size_t>(side)];
      const lab::Endpoint& there = link.endpoints[static_cast<size_t>(1 - side)];
      const auto& nodes = topology.nodes;
      const auto& node = *std::ranges::find(nodes, there.node, &lab::Node::name);
      const auto& far = *std::ranges::find(node.interfaces, there.interface, &lab::Interface::name);
      for (const wire::IpPrefix& each : far.addresses) {
        Run(client, here.node,
            {"ip", "neigh", "replace", each.address.ToString(), "lladdr", far.mac.ToString(), "dev",
             here.interface, "nud", "permanent"});
      }
    }
  }
}

// Routes by way of one or both links between b and c.
void AddRoutes(Client& client) {
  const auto add = [&](const std::string& node, const std::string& destination,
                       const std::vector<std::pair<std::string, std::string>>& hops) {
    fib::Route route{wire::IpPrefix::Parse(destination), {}};
    for (const auto& [gateway, interface] : hops) {
      route.next_hops.push_back({wire::IpAddress::Parse(gateway), interface});
    }
    fib::RouteChanges changes;
    changes.added = {route};
    client.ApplyRoutes(node, changes);
  };
  add("a", "0.0.0.0/0", {{"10.0.0.2", "eth0"}});
  add("a", "::/0", {{"2001:db8:0::2", "eth0"}});
  for (const char* far : {"10.0.3.0/24", "10.9.0.0/16"}) {
    add("b", far, {{"10.0.1.2", "eth1"}, {"10.0.2.2", "eth2"}});
  }
  add("b", "2001:db8:3::/64", {{"2001:db8:1::2", "eth1"}, {"2001:db8:2::2", "eth2"}});
  add("c", "10.0.0.0/24", {{"10.0.1.1", "eth0"}});
  add("c", "2001:db8:0::/64", {{"2001:db8:1::1", "eth0"}});
  add("c", "10.9.0.0/16", {{"10.0.3.2", "eth2"}});
  add("d", "0.0.0.0/0", {{"10.0.3.1", "eth0"}});
  add("d", "::/0", {{"2001:db8:3::1", "eth0"}});
}

template <size_t kCount>
const char* OneOf(RandomStream& random, const std::array<const char*, kCount>& choices) {
  return choices[random.Below(kCount)];
}

constexpr std::array<uint8_t, 8> kHopLimits = {0, 1, 2, 3, 4, 64, 64, 255};

Ipv4 RandomIpv4(RandomStream& random, int number) {
  static constexpr std::array kSources = {"10.0.0.1", "10.0.0.1",  "10.0.0.1",  "10.0.0.77",
                                          "10.0.1.1", "127.0.0.1", "224.0.0.9", "192.0.2.1"};
  static constexpr std::array kDestinations = {
      "10.0.3.2", "10.0.3.2",  "10.0.3.2",        "10.9.0.1",  "10.9.7.7",
      "10.0.0.2", "10.0.1.2",  "10.0.2.1",        "10.0.3.1",  "10.0.3.255",
      "10.7.0.1", "224.0.0.5", "255.255.255.255", "127.0.0.1", "240.0.0.1"};
  Ipv4 header{.source = OneOf(random, kSources), .destination = OneOf(random, kDestinations)};
  header.ttl = kHopLimits[random.Below(kHopLimits.size())];
  header.tos = static_cast<uint8_t>(random.Below(256));
  header.id = static_cast<uint16_t>(number);
  header.dont_fragment = random.Chance(0.5);
  if (random.Chance(0.1)) header.fragment_offset = static_cast<uint16_t>(8 * random.Below(100));
  header.more_fragments = random.Chance(0.1);
  return header;
}

Ipv6 RandomIpv6(RandomStream& random) {
  static constexpr std::array kSources = {"2001:db8::1",   "2001:db8::1", "2001:db8::77",
                                          "2001:db8:1::1", "fe80::9",     "::1"};
  static constexpr std::array kDestinations = {"2001:db8:3::2",    "2001:db8:3::2", "2001:db8:3::2",
                                               "2001:db8::2",      "2001:db8:1::2", "2001:db8:2::1",
                                               "2001:db8:dead::1", "ff0e::5",       "fe80::5"};
  return {.source = OneOf(random, kSources),
          .destination = OneOf(random, kDestinations),
          .hop_limit = kHopLimits[random.Below(kHopLimits.size())],
          .traffic_class = static_cast<uint8_t>(random.Below(256))};
}

Frame RandomFrame(RandomStream& random, int number) {
  const Ethernet ethernet{.source = MacOf(0, 1), .destination = MacOf(0, 2)};
  const Udp udp{.source = static_cast<uint16_t>(1024 + number),
                .destination = static_cast<uint16_t>(2000 + random.Below(100))};
  const Payload payload = Counting(random.Below(random.Chance(0.2) ? 1440 : 200));
  Frame frame = random.Chance(0.6) ? Build(ethernet / RandomIpv4(random, number) / udp / payload)
                                   : Build(ethernet / RandomIpv6(random) / udp / payload);
  if (random.Chance(0.05)) {  // a broken header, or a frame that is longer or shorter than it says
    frame[14 + random.Below(20)] ^= std::byte{0x21};
  } else if (random.Chance(0.05)) {
    frame.resize(frame.size() - 20 + random.Below(40));
  }
  return frame;
}

// An interface of a node, as a wire.
class Tap {
 public:
  Tap(Client& client, const std::string& node, const std::string& interface)
      : socket_(client.OpenPacketSocket({.node = node, .interface = interface})) {
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = socket_.ifindex;
    SystemCall("bind",
               bind(socket_.fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  }

  void Send(const Frame& frame) const {
    SystemCall("send a frame", send(socket_.fd.get(), frame.data(), frame.size(), 0));
  }

  // Takes what has arrived; true if a marker was among it. Left out are what kernels send on their
  // own (multicast listener reports, neighbour discovery), and the identifications that they draw
  // for ICMP errors.
  bool Take() {
    static const std::regex own_kind("icmpv6 1[34][0-9]/"), own_id(" id [0-9]+");
    bool is_marked = false;
    std::array<std::byte, 4096> buffer;
    for (ssize_t size; (size = recv(socket_.fd.get(), buffer.data(), buffer.size(), 0)) > 0;) {
      std::string text = Describe(std::span(buffer).first(static_cast<size_t>(size)));
      if (std::regex_search(text, own_kind)) continue;
      is_marked = is_marked || text.find(std::to_string(kMarkerPort)) != std::string::npos;
      if (text.find(" / icmp") != std::string::npos) text = std::regex_replace(text, own_id, "");
      frames_.push_back(std::move(text));
    }
    return is_marked;
  }

  // Without the markers.
  Frames Taken() {
    std::erase_if(frames_, [](const std::string& text) {
      return text.find(std::to_string(kMarkerPort)) != std::string::npos;
    });
    std::ranges::sort(frames_);
    return frames_;
  }

 private:
  NodeSocket socket_;
  Frames frames_;
};

struct Arrivals {
  Frames at_a, at_c, at_c_too, at_d;
  uint64_t forwarded = 0, left_to_kernel = 0;  // at b's eth0; 0 where nobody counts
};

void Count(const nlohmann::json& description, Arrivals* arrivals) {
  if (!description.contains("packets")) return;
  for (const auto& [outcome, packets] : description["packets"]["b"]["eth0"].items()) {
    if (outcome == "forwarded-bytes") continue;
    (outcome == "forwarded" ? arrivals->forwarded : arrivals->left_to_kernel) +=
        packets.get<uint64_t>();
  }
}

// Everything is processed in order on this processor, so what was sent before a marker has arrived
// when the marker has.
void PinToOneProcessor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  SystemCall("sched_setaffinity", sched_setaffinity(0, sizeof one, &one));
}

Arrivals SendThrough(const fib::DataPlane& plane, uint64_t seed) {
  const lab::Topology topology = TwoRouters(plane);
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(topology);
  KnowNeighbours(client, topology);
  AddRoutes(client);
  Tap a(client, "a", "eth0"), c(client, "c", "eth0"), c_too(client, "c", "eth1"),
      d(client, "d", "eth0");
  const auto take = [&] {
    a.Take();
    c.Take();
    c_too.Take();
    return d.Take();
  };
  RandomStream random(seed, "packets");
  for (int i = 0; i < kFramesSent; ++i) {
    a.Send(RandomFrame(random, i));
    usleep(300);  // kernels send no more than 1,000 ICMP errors per second (icmp_msgs_per_sec)
    take();
  }
  const Frame marker = Build(Ethernet{.source = MacOf(0, 1), .destination = MacOf(0, 2)} /
                             Ipv4{.source = "10.0.0.1", .destination = "10.0.3.2"} /
                             Udp{.source = kMarkerPort, .destination = kMarkerPort});
  const Instant end = MonotonicClock::Now() + Duration::Seconds(60);
  for (int markers = 0; markers < 3 && MonotonicClock::Now() < end;) {
    a.Send(marker);
    usleep(10000);
    if (take()) ++markers;
  }
  Arrivals arrivals{a.Taken(), c.Taken(), c_too.Taken(), d.Taken()};
  Count(client.Describe(), &arrivals);
  return arrivals;
}

// Prints only what differs.
void ExpectSame(const Frames& plane, const Frames& kernel) {
  Frames more, missing;
  std::ranges::set_difference(plane, kernel, std::back_inserter(more));
  std::ranges::set_difference(kernel, plane, std::back_inserter(missing));
  EXPECT_TRUE(more.empty()) << "more:\n" << fmt::format("{}", fmt::join(more, "\n"));
  EXPECT_TRUE(missing.empty()) << "missing:\n" << fmt::format("{}", fmt::join(missing, "\n"));
}

// What arrived at c over either of the links, which is a matter of the flows' hashes.
Frames OverBothLinks(const Arrivals& arrivals) {
  static const std::regex ethernet("^[^/]*/ ");
  Frames all;
  for (const Frames* frames : {&arrivals.at_c, &arrivals.at_c_too}) {
    for (const std::string& text : *frames) all.push_back(std::regex_replace(text, ethernet, ""));
  }
  std::ranges::sort(all);
  return all;
}

// The ICMP errors of IPv4 but for those about packets without a route, of which there are some each
// second. ICMPv6 errors are left out: kernels limit them all together, by the clock.
Frames Errors(const Frames& frames) {
  Frames errors;
  std::ranges::copy_if(frames, std::back_inserter(errors), [](const std::string& text) {
    return text.find(" / icmp ") != std::string::npos &&
           text.find(" / icmp 3/0") == std::string::npos;
  });
  return errors;
}

TEST(UserspacePlaneTest, WhatArrivesWhereIsAsWithTheKernelsOwnForwarding) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  PinToOneProcessor();
  for (const uint64_t seed : {1, 2}) {
    const Arrivals kernel = SendThrough(fib::kKernelPlane, seed);
    const Arrivals userspace = SendThrough(fib::kUserspacePlane, seed);
    ExpectSame(userspace.at_d, kernel.at_d);
    ExpectSame(OverBothLinks(userspace), OverBothLinks(kernel));
    EXPECT_FALSE(userspace.at_c.empty());
    EXPECT_FALSE(userspace.at_c_too.empty());
    EXPECT_FALSE(Errors(kernel.at_a).empty());
    ExpectSame(Errors(userspace.at_a), Errors(kernel.at_a));
    EXPECT_GT(userspace.forwarded, size_t{kFramesSent / 20});
  }
}

TEST(UserspacePlaneTest, ProtocolsThatFindRoutesOnDemandNeedTheKernel) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(TwoRouters(fib::kUserspacePlane));
  EXPECT_THROW(client.OpenUpcalls("b"), UsageError);
}

}  // namespace
}  // namespace viaduct::broker
