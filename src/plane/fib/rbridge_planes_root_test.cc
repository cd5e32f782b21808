// Compares the data planes of an RBridge: sends the same random frames, with the same random
// tables, through rbridge::Forward(), the program in userspace, and the eBPF program between real
// interfaces. Needs root.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/clock.h"
#include "base/error.h"
#include "plane/fib/ebpf_rbridge.h"
#include "plane/fib/test_rbridge.h"
#include "plane/fib/userspace_frames.h"
#include "plane/forward/rbridge.h"
#include "plane/forward/rbridge_tables.h"
#include "plane/forward/test_carrier.h"
#include "plane/rbridge/forward.h"
#include "port/packet/ring_port.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/network/sysctl.h"

namespace viaduct::fib {
namespace {

// ------------------------------------------------------------ random tables and frames

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  // Returns a random number below `limit`.
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(engine_() % limit); }
  bool OneIn(uint32_t many) { return Below(many) == 0; }

 private:
  std::mt19937 engine_;
};

constexpr uint32_t kTerminals = 12, kNeighbours = 6;

uint16_t SomeVlan(Random& random) { return random.OneIn(4) ? 5 : 1; }

void AddTerminals(Random& random, Tables& tables) {
  for (uint32_t i = 0; i < kTerminals; ++i) {
    if (random.OneIn(4)) continue;  // an unknown terminal: it gets no entry
    const bool is_local = random.OneIn(2);
    tables.terminals.Set(
        rbridge::MakeKey(TerminalMac(i), SomeVlan(random)),
        {.rbridge = static_cast<RBridgeIndex>(is_local ? 0 : 1 + random.Below(kMaxNicknames)),
         .port = is_local ? static_cast<PortIndex>(random.Below(kPorts)) : kNone},
        0);
  }
}

uint16_t SomeAdjacency(Random& random) {
  return random.OneIn(8) ? kNone : static_cast<uint16_t>(random.Below(kNeighbours));
}

void SetRandomTables(Random& random, Tables& tables) {
  tables.Clear();
  tables.nickname = random.OneIn(20) ? 0 : 1;
  tables.hop_count = static_cast<uint8_t>(1 + random.Below(63));
  tables.own_tree = static_cast<uint8_t>(random.Below(3));
  for (PortIndex i = 0; i < kPorts; ++i) {
    tables.ports[i] = {.mac = PortMac(i),
                       .exists = 1,
                       .serves_terminals = static_cast<uint8_t>(random.OneIn(3) ? 0 : 1)};
  }
  for (uint16_t i = 0; i < kNeighbours; ++i) {
    tables.SetAdjacency(
        i, {.mac = NeighbourMac(i), .port = static_cast<PortIndex>(random.Below(kPorts))});
    for (rbridge::Tree& tree : tables.trees) tree.neighbours[i] = random.OneIn(2);
  }
  tables.trees[0].root = 1;
  tables.trees[1].root = 3;
  tables.by_nickname[1] = 0;
  tables.rbridges[0].nickname = 1;
  for (Nickname i = 2; i <= kMaxNicknames; ++i) {
    tables.by_nickname[i] = static_cast<RBridgeIndex>(i - 1);
    rbridge::RBridgeEntry& entry = tables.rbridges[i - 1];
    entry.nickname = i;
    entry.next_hop = SomeAdjacency(random);
    for (uint16_t& neighbour : entry.tree_neighbour) neighbour = SomeAdjacency(random);
  }
  AddTerminals(random, tables);
}

wire::MacAddress SomeDestination(Random& random) {
  switch (random.Below(12)) {
    case 0:
      return wire::kBroadcastMac;
    case 1:
      return {{0x33, 0x33, 0, 0, 0, 1}};
    case 2:
      return {{0x01, 0x80, 0xc2, 0, 0, static_cast<uint8_t>(random.Below(0x60))}};
    case 3:
      return PortMac(random.Below(kPorts));
    default:
      return TerminalMac(random.Below(kTerminals));
  }
}

wire::MacAddress SomeSource(Random& random) {
  if (random.OneIn(20)) return wire::MacAddress{};
  return random.OneIn(20) ? wire::kBroadcastMac : TerminalMac(random.Below(kTerminals));
}

void AppendTag(Random& random, Bytes& bytes) {
  constexpr std::array<uint32_t, 6> kVlans = {1, 1, 5, 5, 0, 0xfff};
  Append16(bytes, 0x8100);
  Append16(bytes, random.Below(16) << 12 | kVlans[random.Below(kVlans.size())]);
}

void AppendTerminalFrame(Random& random, bool tagged, uint32_t number, Bytes& bytes) {
  Append(bytes, SomeDestination(random));
  Append(bytes, SomeSource(random));
  if (tagged) AppendTag(random, bytes);
  Append16(bytes, 0x88b5);
  Append16(bytes, number >> 16);
  Append16(bytes, number);
  bytes.resize(bytes.size() + random.Below(random.OneIn(10) ? 2500 : 100));
}

void AppendOuter(Random& random, Bytes& bytes) {
  const bool to_all = random.OneIn(2);
  const bool says_so = random.OneIn(20) ? !to_all : to_all;
  Append(bytes, to_all ? rbridge::kAllRBridges : PortMac(random.Below(kPorts)));
  Append(bytes, NeighbourMac(random.Below(kNeighbours + 1)));
  Append16(bytes, rbridge::kTrillType);
  const uint32_t words = random.OneIn(4) ? random.Below(3) : 0;
  const uint32_t hops = random.OneIn(10) ? 0 : random.Below(64);
  const uint32_t version = random.OneIn(30) ? 1 : 0;
  Append16(bytes,
           version << 14 | random.Below(4) << 12 | (says_so ? 0x800 : 0) | words << 6 | hops);
  Append16(bytes, 1 + random.Below(kMaxNicknames + 1));
  Append16(bytes, 1 + random.Below(kMaxNicknames + 1));
  for (uint32_t i = 0; i < words; ++i) {
    Append16(bytes, random.Below(4) << 14);
    Append16(bytes, 0);
  }
}

Bytes SomeFrame(Random& random, uint32_t number) {
  Bytes bytes;
  const bool encapsulated = random.OneIn(2);
  if (encapsulated) AppendOuter(random, bytes);
  AppendTerminalFrame(random, encapsulated ? !random.OneIn(20) : random.OneIn(3), number, bytes);
  // The minimum length of a frame, in bytes: in a shorter frame the kernel treats a tag as
  // truncated, or the eBPF program pads the frame.
  const uint32_t least = encapsulated ? 20 : 42;
  const auto size = static_cast<uint32_t>(bytes.size());
  if (size < least) bytes.resize(least);
  if (size > least && random.OneIn(20)) bytes.resize(least + random.Below(size - least));
  return bytes;
}

// ------------------------------------------------------------ the three data planes

class Userspace {
 public:
  explicit Userspace(const NodePlace& place) : sink_(place), control_(sink_) {
    for (const std::string& name : place.ports) node_.ports.push_back({name, 0, {}, kMtu});
    node_.table = control_.words();
    program_.emplace(node_);
  }
  void Publish(const Tables& tables) { control_.Publish(tables); }
  void Take(PortIndex port, Bytes frame, Sent& sent) {
    program_->Take({port, frame, {}}, outbox_);
    outbox_.EndBurst();
    for (auto& [to, frames] : carrier_.frames) {
      std::ranges::move(frames, std::back_inserter(sent.at(to)));
    }
    carrier_.frames.clear();
  }

 private:
  UserspaceRBridge sink_;
  Control control_;
  forward::Node node_;
  forward::FakeCarrier carrier_;
  forward::Outbox outbox_{kPorts, carrier_};
  std::optional<forward::RBridge> program_;
};

// The eBPF data plane: eth0 to eth3 have the program, and peer0 to peer3 are the wires' other ends,
// in the calling thread's namespace.
class Ebpf {
 public:
  Ebpf() {
    sys::WriteSysctls(fd_.get(), {{"net.ipv6.conf.default.disable_ipv6", "1"}});
    place_.namespace_fd = fd_.get();
    for (size_t i = 0; i < kPorts; ++i) MakePort(std::to_string(i));
    sink_.emplace(place_);
    control_.emplace(*sink_);
  }

  const NodePlace& place() const { return place_; }
  void Publish(const Tables& tables) { control_->Publish(tables); }
  void Send(PortIndex port, const Bytes& frame) {
    const io::FrameToSend bytes(frame);
    ASSERT_EQ(peers_[port]->Transmit({&bytes, 1}), 1u) << frame.size();
    ASSERT_TRUE(peers_[port]->Refused().empty()) << frame.size();
    ++sent_;
  }
  // Returns the number of frames counted so far on all ports, by the name of their outcome.
  std::map<std::string, uint64_t> Outcomes() const {
    std::map<std::string, uint64_t> sum;
    for (const auto& [port, counters] : sink_->PacketCounters()) {
      for (const auto& [name, count] : counters) sum[name] += count;
    }
    sum.erase("forwarded-bytes");
    return sum;
  }
  // Receives frames until all frames sent were counted, and as many frames as expected have
  // arrived.
  void Receive(const Sent& expected, Sent& received) {
    const Instant end = MonotonicClock::Now() + Duration::Seconds(10);
    const auto missing = [&] {
      for (size_t i = 0; i < kPorts; ++i) {
        if (received[i].size() < expected[i].size()) return true;
      }
      return Total() < sent_;
    };
    do {
      ReceiveAll(received);
    } while (missing() && MonotonicClock::Now() < end);
    ReceiveAll(received);
  }

 private:
  void MakePort(const std::string& digit) {
    sys::VethEnd end, peer;
    end.name = "eth" + digit;
    peer.name = "peer" + digit;
    end.mtu = peer.mtu = kMtu;
    session_.CreateVethPair(end, peer);
    for (const std::string& name : {end.name, peer.name}) {
      session_.SetUp(session_.IfIndex(name), true);
    }
    place_.interfaces.push_back(end.name);
    place_.ports.push_back(end.name);
    sys::PacketSocket socket = sys::OpenPacketSocket(peer.name, true);
    io::RingOptions options;
    options.ifindex = socket.ifindex;
    options.slot_bytes = kMtu + 100;
    peers_.push_back(std::make_unique<io::RingPort>(std::move(socket.fd), options));
  }
  uint64_t Total() const {
    uint64_t total = 0;
    for (const auto& [name, count] : Outcomes()) total += count;
    return total;
  }
  void ReceiveAll(Sent& received) {
    std::array<io::ReceivedFrame, 64> burst;
    for (size_t i = 0; i < kPorts; ++i) {
      while (const size_t count = peers_[i]->Receive(burst)) {
        for (const io::ReceivedFrame& frame : std::span(burst).first(count)) {
          received[i].emplace_back(frame.bytes.begin(), frame.bytes.end());
        }
      }
    }
  }

  UniqueFd fd_ = sys::OpenCurrentNamespace();
  sys::Netlink session_;
  NodePlace place_;
  std::vector<std::unique_ptr<io::RingPort>> peers_;
  std::optional<EbpfRBridge> sink_;
  std::optional<Control> control_;
  uint64_t sent_ = 0;
};

// Returns a description of the first difference between the frames of two data planes; empty if
// there is none.
std::string FirstDifference(const Sent& expected, const Sent& received) {
  for (size_t port = 0; port < kPorts; ++port) {
    auto one = expected[port], other = received[port];
    std::ranges::sort(one);
    std::ranges::sort(other);
    const auto [a, b] = std::ranges::mismatch(one, other);
    if (a == one.end() && b == other.end()) continue;
    return fmt::format("port {}: {} frames expected, {} came; {} where {} was expected", port,
                       one.size(), other.size(), b == other.end() ? "nothing" : Hex(*b),
                       a == one.end() ? "nothing" : Hex(*a));
  }
  return "";
}

TEST(RBridgePlanesTest, RandomFramesAndTables) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  constexpr int kTables = 40, kFrames = 250;
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  sys::InScratchNamespace([&] {
    Random random(seed);
    Ebpf ebpf;
    Userspace userspace(ebpf.place());
    Reference reference;
    const auto tables = std::make_unique<Tables>();
    std::map<std::string, uint64_t> outcomes;
    for (int round = 0; round < kTables; ++round) {
      SetRandomTables(random, *tables);
      ebpf.Publish(*tables);
      userspace.Publish(*tables);
      Sent expected, by_userspace, by_ebpf;
      for (uint32_t number = 0; number < kFrames; ++number) {
        const auto port = static_cast<PortIndex>(random.Below(kPorts));
        const Bytes frame = SomeFrame(random, number);
        ++outcomes[std::string(OutcomeName(reference.Take(*tables, port, frame, expected)))];
        userspace.Take(port, frame, by_userspace);
        ebpf.Send(port, frame);
      }
      ebpf.Receive(expected, by_ebpf);
      EXPECT_EQ(FirstDifference(expected, by_userspace), "") << "userspace, round " << round;
      ASSERT_EQ(FirstDifference(expected, by_ebpf), "") << "eBPF, round " << round;
    }
    std::map<std::string, uint64_t> of_ebpf = ebpf.Outcomes();
    std::erase_if(of_ebpf, [](const auto& one) { return one.second == 0; });
    EXPECT_EQ(of_ebpf, outcomes);
  });
}

}  // namespace
}  // namespace viaduct::fib
