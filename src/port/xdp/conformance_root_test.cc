// Tests the properties that every port promises (port/port.h), with the same tests for all kinds of
// ports. The peer of the tested port's link is an io::RingPort, which counts separately; the peer
// of a port in memory is a second port in memory. A test that a kind of port cannot pass, because
// of the way in which such ports work, is skipped with the reason (Kind::cannot).
//
// TUN devices carry IP packets without Ethernet header, and control ports carry only the traffic of
// sockets: they have separate tests (port/packet/tun_port_test.cc,
// port/control/control_port_root_test.cc).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/wire/checksum.h"
#include "base/wire/layers.h"
#include "port/dpdk/open.h"
#include "port/merged_port.h"
#include "port/packet/ring_port.h"
#include "port/packet/tun_port.h"
#include "port/super_frame.h"
#include "port/test/memory_port.h"
#include "port/test/test_network.h"
#include "port/xdp/open.h"
#include "sys/network/tun.h"

namespace viaduct::xdp {
namespace {

using namespace wire::packet;
using io::AnyPort, io::FrameToSend, io::ReceivedFrame, io::RingPort;

using Frames = std::vector<std::vector<std::byte>>;

// A link between the tested port and an interface at which the test observes frames.
struct Link {
  io::TestNetwork network{/*ipv6=*/false};
  int mtu = 1500;

  std::unique_ptr<RingPort> Outside(const io::TestNamespace& in, const std::string& interface) {
    return std::make_unique<RingPort>(in.PacketSocket(),
                                      io::RingOptions{.ifindex = in.IfIndex(interface)});
  }
  std::unique_ptr<AnyPort> Xdp(const Request& request, const io::XdpOptions& options) {
    return network.b.In([&] { return io::Hold(OpenXdpPort(request, options)); });
  }
};

struct Ends {
  std::unique_ptr<AnyPort> port, outside;
};

constexpr const char* kNoInterface = "there is no interface below it";

struct Kind {
  std::string name;
  // A function that opens the port and its peer. `slots`: the number of frames that the port
  // stores.
  std::function<Ends(Link&, uint32_t slots)> open;
  std::string interface = "b0";  // the port's interface, in network.b
  bool is_device = false;        // the peer is the interface itself, not the far end of a cable
  // Whether Up() and Mtu() report the real state, not their defaults.
  bool tells = true;
  bool refuses = tells;      // Refused() also reports frames
  uint32_t overflow = 1000;  // number of 60-byte frames that overflows a port of 64 slots
  std::map<std::string, std::string> cannot = {};  // key: test; value: reason
};
std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

Kind XdpKind(const std::string& name, Mode mode) {
  return {name, [mode](Link& link, uint32_t slots) {
            return Ends{
                link.Xdp({.interface = "b0", .mode = mode}, {.slots = slots, .send_slots = 512}),
                link.Outside(link.network.a, "a0")};
          }};
}

Ends OpenRing(Link& link, uint32_t slots) {
  io::RingOptions options;
  options.ifindex = link.network.b.IfIndex("b0");
  options.slots = slots;
  Ends ends;
  ends.port = io::Hold(RingPort(link.network.b.PacketSocket(), options));
  ends.outside = link.Outside(link.network.a, "a0");
  return ends;
}

Kind DpdkKind() {
  return {"DpdkAfPacket", [](Link& link, uint32_t slots) {
            Ends ends;
            ends.port = link.network.b.In([slots] {
              return dpdk::OpenPort({.interface = "b0",
                                     .slots = slots,
                                     .keeper = std::make_shared<InterfaceGuardian>("b0")});
            });
            ends.outside = link.Outside(link.network.a, "a0");
            return ends;
          }};
}

Ends OpenDpdkTap(Link& link, uint32_t slots) {
  Ends ends;
  ends.port = link.network.b.In([&] {
    return dpdk::OpenPort(
        {.interface = "net_tap0,iface=tap0", .mtu = static_cast<uint32_t>(link.mtu)});
  });
  link.network.b.Run(
      fmt::format("ip link set tap0 txqueuelen {} up; ip addr add 10.78.0.1/24 dev tap0; "
                  "ip neigh add 10.78.0.2 lladdr 02:00:00:00:00:0d nud permanent dev tap0",
                  slots));
  ends.outside = link.Outside(link.network.b, "tap0");
  return ends;
}

Kind DpdkTapKind() {
  return {
      .name = "DpdkTap",
      .open = OpenDpdkTap,
      .interface = "tap0",
      .is_device = true,
      .cannot = {
          {"CarriesNothingWhereNothingIsOffered", "it has no descriptor to wait for: is polled"},
          {"CarriesJumboFrames", "its driver carries no more than 1500 bytes of MTU"},
          {"CountsWhatItHasNoRoomFor", "a full TAP device stops its sender: nothing is lost"},
          {"SaysThatThereIsNoCarrier", "the port is the carrier"},
          {"TellsWhatHasComeAndWaits", "TAP devices do not tell"},
      }};
}

std::unique_ptr<AnyPort> Merge(std::vector<std::unique_ptr<AnyPort>> ports) {
  if (ports.size() == 1) return std::move(ports[0]);
  return std::make_unique<io::MergedPort>(std::move(ports));
}

// Opens a port of `queues` packet sockets, which share the frames in a fanout group.
Ends OpenFanout(Link& link, uint32_t slots, int queues) {
  std::vector<std::unique_ptr<AnyPort>> ports;
  std::optional<uint16_t> group;
  for (int i = 0; i < queues; ++i) {
    auto port = std::make_unique<RingPort>(
        link.network.b.PacketSocket(),
        io::RingOptions{.ifindex = link.network.b.IfIndex("b0"), .slots = slots});
    group = port->JoinFanout(group);
    ports.push_back(std::move(port));
  }
  return {Merge(std::move(ports)), link.Outside(link.network.a, "a0")};
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the ends own it

Ends OpenTap(Link& link, uint32_t slots, int queues) {
  auto opened = link.network.b.In([&] { return sys::OpenTap("tap0", queues); });
  link.network.b.Run(
      fmt::format("ip link set tap0 address 02:00:00:00:00:0c mtu {} txqueuelen {} up; "
                  "ip addr add 10.78.0.1/24 dev tap0; "
                  "ip neigh add 10.78.0.2 lladdr 02:00:00:00:00:0d nud permanent dev tap0",
                  link.mtu, slots));
  std::vector<std::unique_ptr<AnyPort>> ports;
  for (auto& queue : opened) {
    io::TunOptions options;
    options.vnet_header = true;
    ports.push_back(io::Hold(io::TunPort(
        std::move(queue), options,
        {link.network.b.Socket(AF_INET, SOCK_DGRAM, 0), link.network.b.IfIndex("tap0")})));
  }
  return {Merge(std::move(ports)), link.Outside(link.network.b, "tap0")};
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the ends own it

Ends OpenBlocks(Link& link, uint32_t slots) {
  return {
      std::make_unique<RingPort>(
          link.network.b.PacketSocket(),
          io::RingOptions{.ifindex = link.network.b.IfIndex("b0"), .slots = slots, .blocks = true}),
      link.Outside(link.network.a, "a0")};
}

Kind FanoutKind() {
  return {"AfPacketFanout", [](Link& link, uint32_t slots) { return OpenFanout(link, slots, 3); }};
}

Kind TapKind(const std::string& name, int queues) {
  return {.name = name,
          .open = [queues](Link& link, uint32_t slots) { return OpenTap(link, slots, queues); },
          .interface = "tap0",
          .is_device = true,
          .cannot = {
              {"CountsWhatItHasNoRoomFor", "a full TAP device stops its sender: nothing is lost"},
              {"SaysThatThereIsNoCarrier", "the port is the carrier"},
              {"TellsWhatHasComeAndWaits", "TAP devices do not tell"},
          }};
}

Ends OpenMemory(Link&, uint32_t slots) {
  constexpr size_t kLongest = 9018;
  auto [port, outside] = io::MemoryPort::MakePair(slots, kLongest);
  return {io::Hold(std::move(port)), io::Hold(std::move(outside))};
}

Kind MemoryKind() {
  Kind kind{.name = "Memory", .open = OpenMemory, .tells = false};
  for (const char* test : {"RefusesWhatTheInterfaceCannotCarryAndGoesOn",
                           "SurvivesALinkThatGoesDownAndUp", "SaysThatThereIsNoCarrier",
                           "SurvivesTheEndOfItsInterface", "PassesOnNoChecksumThatIsNotThere"}) {
    kind.cannot[test] = kNoInterface;
  }
  kind.cannot["CountsWhatItHasNoRoomFor"] = "a full port in memory stops its sender";
  return kind;
}

// Builds a frame with the given number in its payload, and the given length.
std::vector<std::byte> Numbered(uint32_t number, size_t bytes = 60) {
  auto frame = Build(Ethernet{"02:00:00:00:00:0a", "02:00:00:00:00:0b", 0x88b5} /
                     Payload{std::string(bytes - 14, 'x')});
  if (bytes >= 18) wire::Store32(frame.data() + 14, number);
  return frame;
}

class ConformanceTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: makes network namespaces";
    const bool is_xdp = GetParam().name.starts_with("Xdp");
    if (is_xdp && !Unavailable().empty()) GTEST_SKIP() << Unavailable();
    const bool is_dpdk = GetParam().name.starts_with("Dpdk");
    if (is_dpdk && !dpdk::Unavailable().empty()) GTEST_SKIP() << dpdk::Unavailable();
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    const auto reason = GetParam().cannot.find(test.substr(0, test.find('/')));
    if (reason != GetParam().cannot.end()) GTEST_SKIP() << reason->second;
    link_.emplace();
  }
  void Open(uint32_t slots = 512) {
    Ends ends = GetParam().open(*link_, slots);
    port_ = std::move(ends.port);
    outside_ = std::move(ends.outside);
  }
  // Sets the MTU of the link. Must be called before Open().
  void SetMtu(int mtu) {
    link_->mtu = mtu;
    link_->network.a.Run(fmt::format("ip link set a0 mtu {}", mtu));
    link_->network.b.Run(fmt::format("ip link set b0 mtu {}", mtu));
  }
  void RunAtPort(const std::string& command) { link_->network.b.Run(command); }

  // Receives until `wanted` frames have arrived, or no frame arrives for a second.
  static Frames Take(AnyPort& port, size_t wanted, size_t burst = 64) {
    constexpr int kLooks = 100000;  // maximum of Receive() calls: a polled port is always readable
    Frames all;
    std::vector<ReceivedFrame> frames(burst);
    for (int looks = 0; all.size() < wanted && looks < kLooks; ++looks) {
      const size_t count = port.Receive(frames);
      for (size_t i = 0; i < count; ++i) {
        all.emplace_back(frames[i].bytes.begin(), frames[i].bytes.end());
      }
      if (count == 0 && !io::IsReadable(port.fd(), 1000)) break;
    }
    return all;
  }
  // Returns the port's counters once `wanted` accepts them, or after 5 s: the threads of a port
  // count later than the test.
  io::PortCounters CountersWhen(const std::function<bool(const io::PortCounters&)>& wanted) {
    const Instant end = MonotonicClock::Now() + Duration::Seconds(5);
    io::PortCounters counters = port_->Counters();
    while (!wanted(counters) && MonotonicClock::Now() < end) counters = port_->Counters();
    return counters;
  }
  uint64_t RefusedWhen(uint64_t wanted) {
    return CountersWhen([=](const auto& now) { return now.tx_dropped_error >= wanted; })
        .tx_dropped_error;
  }
  // Sends all frames; tries again whenever the port is full.
  static void SendAll(AnyPort& port, const Frames& frames, size_t burst) {
    std::vector<FrameToSend> spans(frames.begin(), frames.end());
    for (size_t sent = 0; sent < spans.size();) {
      sent += port.Transmit(std::span(spans).subspan(sent, std::min(burst, spans.size() - sent)));
    }
  }

  std::optional<Link> link_;
  std::unique_ptr<AnyPort> port_;
  std::unique_ptr<AnyPort> outside_;
};

TEST_P(ConformanceTest, KeepsOrderInBurstsOfAnySize) {
  Open();
  for (const size_t burst : {1, 2, 31, 32, 33, 64, 200}) {
    Frames frames;
    for (uint32_t i = 0; i < 200; ++i) frames.push_back(Numbered(i));
    SendAll(*outside_, frames, burst);
    EXPECT_EQ(Take(*port_, frames.size(), burst), frames) << "received in bursts of " << burst;
    SendAll(*port_, frames, burst);
    EXPECT_EQ(Take(*outside_, frames.size()), frames) << "sent in bursts of " << burst;
  }
}

TEST_P(ConformanceTest, CarriesNothingWhereNothingIsOffered) {
  Open();
  std::vector<ReceivedFrame> frames(4);
  EXPECT_EQ(port_->Receive(frames), 0u);
  EXPECT_EQ(port_->Receive({}), 0u);
  EXPECT_EQ(port_->Transmit({}), 0u);
  EXPECT_FALSE(io::IsReadable(port_->fd(), 0));
  EXPECT_TRUE(port_->Up());
  EXPECT_EQ(port_->Counters().rx_frames + port_->Counters().tx_frames, 0u);
}

TEST_P(ConformanceTest, CarriesTenThousandFrames) {
  Open(4096);
  constexpr uint32_t kFrames = 10000;
  for (uint32_t i = 0; i < kFrames; i += 200) {
    Frames frames;
    for (uint32_t j = 0; j < 200; ++j) frames.push_back(Numbered(i + j));
    SendAll(*outside_, frames, 64);
    ASSERT_EQ(Take(*port_, frames.size()), frames);
    SendAll(*port_, frames, 64);
    ASSERT_EQ(Take(*outside_, frames.size()), frames);
  }
  const io::PortCounters counters =
      CountersWhen([](const auto& now) { return now.tx_frames >= kFrames; });
  EXPECT_EQ(counters.rx_frames, kFrames);
  EXPECT_EQ(counters.rx_bytes, kFrames * 60u);
  EXPECT_EQ(counters.tx_frames, kFrames);
  EXPECT_EQ(counters.tx_bytes, kFrames * 60u);
  EXPECT_EQ(outside_->Counters().rx_frames, kFrames);
}

TEST_P(ConformanceTest, CarriesFramesOfEveryLength) {
  Open(2048);
  Frames frames;
  for (size_t bytes = 14; bytes <= 1514; ++bytes) {
    frames.push_back(Numbered(static_cast<uint32_t>(bytes), bytes));
  }
  SendAll(*outside_, frames, 64);
  EXPECT_EQ(Take(*port_, frames.size()), frames);
  SendAll(*port_, frames, 64);
  EXPECT_EQ(Take(*outside_, frames.size()), frames);
}

TEST_P(ConformanceTest, CarriesJumboFrames) {
  SetMtu(9000);
  Open();
  Frames frames;
  for (const size_t bytes : {60, 1514, 3800, 3840, 3841, 4096, 7680, 7681, 9013, 9014}) {
    frames.push_back(Numbered(static_cast<uint32_t>(bytes), bytes));
  }
  SendAll(*outside_, frames, 4);
  EXPECT_EQ(Take(*port_, frames.size()), frames);
  SendAll(*port_, frames, 4);
  EXPECT_EQ(Take(*outside_, frames.size()), frames);
  if (GetParam().tells) {
    EXPECT_EQ(port_->Mtu(), 9000u);
  }
}

TEST_P(ConformanceTest, KeepsVlanTags) {
  Open();
  const auto tagged = Build(Ethernet{"02:00:00:00:00:0a", "02:00:00:00:00:0b"} / Vlan{.id = 5} /
                            Ipv4{} / Udp{} / Payload{std::string(1472, 'x')});
  SendAll(*outside_, {tagged}, 1);
  EXPECT_EQ(Take(*port_, 1), Frames{tagged});
  SendAll(*port_, {tagged}, 1);
  EXPECT_EQ(Take(*outside_, 1), Frames{tagged});
}

TEST_P(ConformanceTest, RefusesWhatTheInterfaceCannotCarryAndGoesOn) {
  Open();
  const Frames frames = {Numbered(1), std::vector<std::byte>(13), Numbered(2), Numbered(3, 1600),
                         Numbered(4)};
  const std::vector<FrameToSend> spans(frames.begin(), frames.end());
  EXPECT_EQ(port_->Transmit(spans), spans.size());
  if (GetParam().refuses) {
    EXPECT_THAT(port_->Refused(), testing::ElementsAre(1, 3));
  }
  EXPECT_EQ(Take(*outside_, 3), (Frames{frames[0], frames[2], frames[4]}));
  EXPECT_EQ(RefusedWhen(2), 2u);
  // A port with threads counts frames only after it has sent them, so the test waits for the count.
  EXPECT_EQ(CountersWhen([](const auto& now) { return now.tx_frames >= 3; }).tx_frames, 3u);
}

// Frames that do not fit are counted as lost, by the port or by the interfaces below it, and no
// frame is counted twice.
TEST_P(ConformanceTest, CountsWhatItHasNoRoomFor) {
  Open(64);
  Frames frames;
  for (uint32_t i = 0; i < GetParam().overflow; ++i) frames.push_back(Numbered(i));
  SendAll(*outside_, frames, 16);
  const size_t received = Take(*port_, frames.size()).size();
  EXPECT_LT(received, frames.size());
  EXPECT_GE(received, 64u);
  const io::PortCounters counters = port_->Counters();
  EXPECT_EQ(counters.rx_frames, received);
  EXPECT_EQ(counters.rx_dropped_truncated, 0u);
  EXPECT_EQ(counters.rx_frames + counters.rx_dropped_ring_full, outside_->Counters().tx_frames);
  SendAll(*outside_, {Numbered(7)}, 1);
  EXPECT_EQ(Take(*port_, 1), Frames{Numbered(7)}) << "it goes on";
}

TEST_P(ConformanceTest, TellsWhatHasComeAndWaits) {
  Open();
  const auto waiting = [&](uint64_t wanted) {
    return CountersWhen([=](const auto& now) { return now.rx_waiting == wanted; }).rx_waiting;
  };
  EXPECT_EQ(waiting(0), 0u);
  Frames frames;
  for (uint32_t i = 0; i < 200; ++i) frames.push_back(Numbered(i));
  SendAll(*outside_, frames, 16);
  EXPECT_EQ(waiting(200), 200u);
  // Take() may return more than 30 frames. A thread of the port may have read less than a burst of
  // 10 frames when Take() receives; the last burst then makes the sum exceed 30.
  const size_t taken = Take(*port_, 30, 10).size();
  EXPECT_GE(taken, 30u);
  EXPECT_LT(taken, 40u);
  const size_t rest = frames.size() - taken;
  EXPECT_EQ(waiting(rest), rest);
  EXPECT_EQ(Take(*port_, rest).size(), rest);
  EXPECT_EQ(waiting(0), 0u);
}

TEST_P(ConformanceTest, SurvivesALinkThatGoesDownAndUp) {
  Open();
  const auto frame = Numbered(1);
  const FrameToSend one(frame);
  const std::string& interface = GetParam().interface;
  RunAtPort(fmt::format("ip link set {} down", interface));
  EXPECT_NE(port_->Up(), GetParam().tells);
  EXPECT_EQ(port_->Transmit({&one, 1}), 1u);
  EXPECT_EQ(port_->Refused().size(), GetParam().refuses ? 1u : 0u);
  EXPECT_EQ(RefusedWhen(1), 1u);
  EXPECT_EQ(port_->Counters().tx_frames, 0u);
  RunAtPort(fmt::format(
      "ip link set {0} up; until ip link show {0} | grep -q LOWER_UP; do sleep 0.01; done",
      interface));
  EXPECT_TRUE(port_->Up());
  // If the peer is on the interface that went down, the peer would refuse its next frame, so the
  // test opens the peer again.
  if (GetParam().is_device) outside_ = link_->Outside(link_->network.b, interface);
  // Sends repeatedly: the kernel acts on a new carrier in the background, and drops the frames that
  // were sent before.
  Frames came;
  for (int i = 0; i < 20 && came.empty(); ++i) {
    SendAll(*port_, {Numbered(2)}, 1);
    came = Take(*outside_, 1);
  }
  EXPECT_THAT(came, testing::Each(Numbered(2))) << "and not what was refused";
  EXPECT_FALSE(came.empty());
  SendAll(*outside_, {Numbered(3)}, 1);
  EXPECT_EQ(Take(*port_, 1), Frames{Numbered(3)});
}

TEST_P(ConformanceTest, SaysThatThereIsNoCarrier) {
  Open();
  link_->network.a.Run("ip link set a0 down");
  EXPECT_FALSE(port_->Up());
  Frames frames;
  for (uint32_t i = 0; i < 40; ++i) frames.push_back(Numbered(i));
  SendAll(*port_, frames, 40);
  EXPECT_EQ(port_->Refused().size(), GetParam().refuses ? 40u : 0u);
  EXPECT_EQ(RefusedWhen(40), 40u);
  EXPECT_EQ(port_->Counters().tx_frames, 0u);
}

TEST_P(ConformanceTest, SurvivesTheEndOfItsInterface) {
  Open();
  SendAll(*outside_, {Numbered(1), Numbered(2)}, 2);
  ASSERT_EQ(Take(*port_, 1, 1).size(), 1u);
  RunAtPort("ip link del " + GetParam().interface);
  EXPECT_NE(port_->Up(), GetParam().tells);
  const auto frame = Numbered(3);
  const FrameToSend one(frame);
  EXPECT_EQ(port_->Transmit({&one, 1}), 1u);
  EXPECT_EQ(port_->Refused().size(), GetParam().refuses ? 1u : 0u);
  std::vector<ReceivedFrame> frames(4);
  (void)port_->Receive(frames);
  EXPECT_EQ(port_->Receive(frames), 0u);
  EXPECT_EQ(RefusedWhen(1), 1u);
  port_.reset();
}

TEST_P(ConformanceTest, ClosesWithFramesInFlight) {
  Open(64);
  Frames frames;
  for (uint32_t i = 0; i < 60; ++i) frames.push_back(Numbered(i));
  SendAll(*outside_, frames, 60);
  std::vector<ReceivedFrame> lent(5);
  ASSERT_TRUE(io::IsReadable(port_->fd()));
  const size_t count = port_->Receive(lent);
  ASSERT_GE(count, 1u);
  SendAll(*port_, frames, 60);
  port_.reset();
  EXPECT_EQ(Take(*outside_, 60), frames);
  Open(64);
  SendAll(*outside_, {Numbered(9)}, 1);
  EXPECT_EQ(Take(*port_, 1), Frames{Numbered(9)}) << "and can be opened again";
}

// The kernel leaves the checksum of a sent frame to the hardware, but a veth pair has no hardware.
// The port must report that the checksum is partial, or have the checksum completed before.
TEST_P(ConformanceTest, PassesOnNoChecksumThatIsNotThere) {
  Open();
  const io::TestNetwork& network = link_->network;
  const bool is_device = GetParam().is_device;
  const UniqueFd socket = (is_device ? network.b : network.a).Socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  to.sin_addr.s_addr = htonl(is_device ? 0x0a4e0002 : 0x0a4d0002);
  for (const size_t bytes : {1, 2, 3, 100, 1471, 1472}) {
    const std::string text(bytes, 'x');
    ASSERT_EQ(
        sendto(socket.get(), text.data(), bytes, 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
        static_cast<ssize_t>(bytes));
    std::vector<ReceivedFrame> frames(1);
    while (port_->Receive(frames) == 0) ASSERT_TRUE(io::IsReadable(port_->fd()));
    io::SuperFrameSplitter splitter;
    size_t whole = 0;
    EXPECT_TRUE(splitter.Split(frames[0], [&](std::span<std::byte> frame) {
      const auto layers = wire::FindIpLayers(frame);
      ASSERT_TRUE(layers) << wire::packet::Describe(frame);
      EXPECT_TRUE(wire::TransportChecksumIsRight(
          layers->Source(frame), layers->Destination(frame), 17,
          frame.subspan(layers->transport, layers->end - layers->transport)));
      ++whole;
    }));
    EXPECT_EQ(whole, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ports, ConformanceTest,
    testing::Values(Kind{"AfPacket", OpenRing},
                    Kind{.name = "AfPacketBlocks", .open = OpenBlocks, .overflow = 10000},
                    FanoutKind(), XdpKind("XdpNative", Mode::kNative),
                    XdpKind("XdpGeneric", Mode::kGeneric), TapKind("Tap", 1),
                    TapKind("TapQueues", 3), MemoryKind(), DpdkKind(), DpdkTapKind()),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace viaduct::xdp
