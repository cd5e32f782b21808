#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <optional>
#include <string>

#include "port/control/control_port.h"
#include "port/packet/ring_port.h"
#include "port/test/test_network.h"

namespace viaduct::io {
namespace {

using namespace wire::packet;
using testing::ElementsAre;
using testing::HasSubstr;
using wire::Family;
using Kind = ControlClaim::Kind;

class ControlPortRootTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: makes network namespaces";
    network_.emplace(/*ipv6=*/true);
  }

  ControlPort PortA(ControlPort::Opener opener = nullptr) {
    return ControlPort({network_->a_index, wire::MacAddress::Parse("02:00:00:00:00:0a")},
                       std::move(opener));
  }
  ControlPort PortB() {
    return ControlPort({network_->b_index, wire::MacAddress::Parse("02:00:00:00:00:0b")});
  }

  // Opens the socket for a claim, as the broker does.
  static UniqueFd Open(const TestNamespace& ns, int ifindex, const ControlClaim& claim) {
    const int family = claim.family == Family::kIpv4 ? AF_INET : AF_INET6;
    if (claim.kind == Kind::kEtherType) {
      UniqueFd fd = ns.Socket(AF_PACKET, SOCK_RAW, 0);
      sockaddr_ll here{};
      here.sll_family = AF_PACKET;
      here.sll_protocol = htons(claim.number);
      here.sll_ifindex = ifindex;
      SystemCall("bind", bind(fd.get(), reinterpret_cast<sockaddr*>(&here), sizeof(here)));
      return fd;
    }
    if (claim.kind == Kind::kRawIp) return ns.Socket(family, SOCK_RAW, claim.number);
    UniqueFd fd = ns.Socket(family, SOCK_DGRAM, 0);
    const int on = 1;
    if (family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    sockaddr_in6 here{};  // sockaddr_in has the port at the same offset
    here.sin6_family = static_cast<sa_family_t>(family);
    here.sin6_port = htons(claim.number);
    SystemCall("bind", bind(fd.get(), reinterpret_cast<sockaddr*>(&here),
                            family == AF_INET ? sizeof(sockaddr_in) : sizeof(here)));
    return fd;
  }
  void AddA(ControlPort& port, const ControlClaim& claim) {
    port.AddSocket(claim, Open(network_->a, network_->a_index, claim));
  }
  void AddB(ControlPort& port, const ControlClaim& claim) {
    port.AddSocket(claim, Open(network_->b, network_->b_index, claim));
  }

  std::optional<TestNetwork> network_;
};

constexpr ControlClaim kOlsr{Kind::kUdp, Family::kIpv4, 698};
constexpr ControlClaim kRip{Kind::kUdp, Family::kIpv4, 520};
constexpr ControlClaim kRipng{Kind::kUdp, Family::kIpv6, 521};
constexpr ControlClaim kOspf{Kind::kRawIp, Family::kIpv4, 89};
constexpr ControlClaim kOspfv3{Kind::kRawIp, Family::kIpv6, 89};
constexpr ControlClaim kLocal{Kind::kEtherType, Family::kIpv4, 0x88b5};

// Returns the Ethernet header that the protocol's device writes: an interface without ARP sends
// every frame to the broadcast address.
Ethernet FromProtocol() { return {"02:00:00:00:00:0a", "ff:ff:ff:ff:ff:ff"}; }

TEST_F(ControlPortRootTest, BroadcastReachesTheOtherAndNotUs) {
  ControlPort a = PortA();
  ControlPort b = PortB();
  AddA(a, kOlsr);
  AddB(b, kOlsr);
  for (const char* destination : {"10.77.0.255", "255.255.255.255"}) {
    EXPECT_EQ(
        SendFrame(
            a,
            Build(FromProtocol() /
                  Ipv4{.source = "10.77.0.1", .destination = destination, .ttl = 1, .tos = 0xc0} /
                  Udp{698, 698} / Payload{"hello"})),
        1u);
    EXPECT_THAT(
        ReceiveDescribed(b, 1),
        ElementsAre(fmt::format(
            "eth 02:00:0a:4d:00:01 > ff:ff:ff:ff:ff:ff / ipv4 10.77.0.1 > {} ttl 1 id {} tos 192 / "
            "udp 698 > 698 checksum good / 5 bytes",
            destination, destination[0] == '1' ? 1 : 2)));
  }
  std::vector<ReceivedFrame> none(4);
  EXPECT_EQ(a.Receive(none), 0u);
  EXPECT_EQ(a.Counters().tx_frames, 2u);
  EXPECT_EQ(b.Counters().rx_frames, 2u);
  EXPECT_EQ(a.Counters().rx_frames, 0u);
}

TEST_F(ControlPortRootTest, UnicastKeepsPortsTtlAndSource) {
  network_->a.Run("ip addr add 10.77.0.3/24 dev a0");
  ControlPort a = PortA();
  ControlPort b = PortB();
  AddA(a, {Kind::kUdp, Family::kIpv4, 4000});
  AddB(b, kOlsr);
  SendFrame(
      a, Build(FromProtocol() / Ipv4{.source = "10.77.0.3", .destination = "10.77.0.2", .ttl = 7} /
               Udp{4000, 698} / Payload{""}));
  EXPECT_THAT(
      ReceiveDescribed(b, 1),
      ElementsAre("eth 02:00:0a:4d:00:03 > 02:00:00:00:00:0b / ipv4 10.77.0.3 > 10.77.0.2 ttl 7 id "
                  "1 / udp 4000 > 698 checksum good / 0 bytes"));
}

TEST_F(ControlPortRootTest, SendingToAGroupJoinsIt) {
  ControlPort a = PortA();
  ControlPort b = PortB();
  AddA(a, kRip);
  AddB(b, kRip);
  const auto rip = [](const std::string& source) {
    return Build(FromProtocol() / Ipv4{.source = source, .destination = "224.0.0.9", .ttl = 1} /
                 Udp{520, 520} / Payload{"rip"});
  };
  SendFrame(a, rip("10.77.0.1"));  // b has not joined the group yet
  SendFrame(b, rip("10.77.0.2"));
  EXPECT_THAT(
      ReceiveDescribed(a, 1),
      ElementsAre("eth 02:00:0a:4d:00:02 > 01:00:5e:00:00:09 / ipv4 10.77.0.2 > 224.0.0.9 ttl 1 id "
                  "1 / udp 520 > 520 checksum good / 3 bytes"));
  SendFrame(a, rip("10.77.0.1"));
  EXPECT_EQ(ReceiveDescribed(b, 1).size(), 1u);
  std::vector<ReceivedFrame> none(4);
  EXPECT_EQ(a.Receive(none), 0u) << "own multicast came back";
  EXPECT_EQ(b.Counters().rx_frames, 1u);
}

TEST_F(ControlPortRootTest, JoinsExplicitlyForPresentAndFutureSockets) {
  ControlPort a = PortA();
  ControlPort b = PortB();
  AddA(a, kRip);
  AddA(a, kRipng);
  AddB(b, kRip);
  b.JoinMulticast(wire::IpAddress::Parse("224.0.0.9"));
  b.JoinMulticast(wire::IpAddress::Parse("ff02::9"));
  AddB(b, kRipng);
  SendFrame(a, Build(FromProtocol() / Ipv4{.source = "10.77.0.1", .destination = "224.0.0.9"} /
                     Udp{520, 520} / Payload{"4"}));
  SendFrame(a, Build(FromProtocol() /
                     Ipv6{.source = "fd00:77::1",
                          .destination = "ff02::9",
                          .hop_limit = 255,
                          .traffic_class = 0xc0} /
                     Udp{521, 521} / Payload{"6"}));
  EXPECT_THAT(ReceiveDescribed(b, 2),
              testing::UnorderedElementsAre(
                  HasSubstr("10.77.0.1 > 224.0.0.9"),
                  "eth 02:00:00:00:00:01 > 33:33:00:00:00:09 / ipv6 fd00:77::1 > ff02::9 hops 255 "
                  "class 192 / udp 521 > 521 checksum good / 1 bytes"));
  EXPECT_THROW(b.JoinMulticast(wire::IpAddress::Parse("10.0.0.1")), SystemError);
}

TEST_F(ControlPortRootTest, RawIpv4KeepsTheWholeHeader) {
  ControlPort a = PortA();
  ControlPort b = PortB();
  AddA(a, kOspf);
  AddB(b, kOspf);
  b.JoinMulticast(wire::IpAddress::Parse("224.0.0.5"));
  SendFrame(a, Build(FromProtocol() /
                     Ipv4{.source = "10.77.0.1",
                          .destination = "224.0.0.5",
                          .ttl = 1,
                          .id = 77,
                          .dont_fragment = true,
                          .protocol = 89} /
                     Payload{"ospf"}));
  EXPECT_THAT(ReceiveDescribed(b, 1),
              ElementsAre("eth 02:00:0a:4d:00:01 > 01:00:5e:00:00:05 / ipv4 10.77.0.1 > 224.0.0.5 "
                          "ttl 1 id 77 DF / protocol 89 / 4 bytes"));
}

TEST_F(ControlPortRootTest, RawIpv6) {
  ControlPort a = PortA();
  ControlPort b = PortB();
  AddA(a, kOspfv3);
  AddB(b, kOspfv3);
  SendFrame(a, Build(FromProtocol() /
                     Ipv6{.source = "fd00:77::1",
                          .destination = "fd00:77::2",
                          .hop_limit = 3,
                          .next_header = 89} /
                     Payload{"ospfv3"}));
  EXPECT_THAT(ReceiveDescribed(b, 1),
              ElementsAre("eth 02:00:00:00:00:01 > 02:00:00:00:00:0b / ipv6 fd00:77::1 > "
                          "fd00:77::2 hops 3 / protocol 89 / 6 bytes"));
}

TEST_F(ControlPortRootTest, EtherTypeFramesPassAsTheyAre) {
  ControlPort a = PortA();
  ControlPort b = PortB();
  AddA(a, kLocal);
  AddB(b, kLocal);
  for (const char* to : {"02:00:00:00:00:0b", "ff:ff:ff:ff:ff:ff", "01:80:c2:00:00:14"}) {
    SendFrame(a, Build(Ethernet{"02:00:00:00:00:0a", to, 0x88b5} / Payload{"frame"}));
    EXPECT_THAT(ReceiveDescribed(b, 1),
                ElementsAre(fmt::format("eth 02:00:00:00:00:0a > {} type 88b5 / 5 bytes", to)));
  }
  std::vector<ReceivedFrame> none(1);
  EXPECT_EQ(a.Receive(none), 0u);
}

TEST_F(ControlPortRootTest, AsksForTheSocketAFrameNeedsAndLosesNoFrame) {
  std::vector<ControlClaim> asked;
  ControlPort a = PortA([&](const ControlClaim& claim) {
    asked.push_back(claim);
    return claim == kOlsr ? Open(network_->a, network_->a_index, claim) : UniqueFd();
  });
  ControlPort b = PortB();
  AddB(b, kOlsr);
  const auto olsr = Build(FromProtocol() / Ipv4{"10.77.0.1", "10.77.0.255"} / Udp{698, 698});
  const auto ping = Build(FromProtocol() / Ipv4{"10.77.0.1", "10.77.0.2"} / Icmp{});
  const FrameToSend frames[] = {olsr, ping, olsr, ping};
  EXPECT_EQ(a.Transmit(frames), 4u);
  EXPECT_EQ(ReceiveDescribed(b, 2).size(), 2u);
  EXPECT_THAT(asked, ElementsAre(kOlsr, ControlClaim{Kind::kRawIp, Family::kIpv4, 1}));
  EXPECT_TRUE(a.HasSocket(kOlsr));
  EXPECT_EQ(a.Counters().tx_dropped_unclaimed, 2u);
  EXPECT_EQ(a.Counters().tx_frames, 2u);
}

// Cuts a UDP datagram into fragments as ns-3 does for an interface whose MTU is 1500.
std::vector<std::vector<std::byte>> FragmentsOf(const std::vector<std::byte>& packet,
                                                const std::string& destination) {
  constexpr size_t kHeader = 20, kPart = 1480;
  std::vector<std::vector<std::byte>> fragments;
  for (size_t at = kHeader; at < packet.size(); at += kPart) {
    const size_t size = std::min(kPart, packet.size() - at);
    fragments.push_back(
        Build(FromProtocol() /
              Ipv4{.source = "10.77.0.1",
                   .destination = destination,
                   .more_fragments = at + size < packet.size(),
                   .fragment_offset = static_cast<uint16_t>((at - kHeader) / 8),
                   .protocol = 17} /
              Payload{std::string(reinterpret_cast<const char*>(packet.data()) + at, size)}));
  }
  return fragments;
}

TEST_F(ControlPortRootTest, FragmentsLeaveAndTheirDatagramArrivesWhole) {
  ControlPort a =
      PortA([&](const ControlClaim& claim) { return Open(network_->a, network_->a_index, claim); });
  ControlPort b = PortB();
  AddB(b, kOlsr);
  for (const char* destination : {"10.77.0.2", "10.77.0.255"}) {
    const auto datagram = Build(Ipv4{.source = "10.77.0.1", .destination = destination} /
                                Udp{698, 698} / Counting(4000));
    for (const auto& fragment : FragmentsOf(datagram, destination)) SendFrame(a, fragment);
    EXPECT_THAT(ReceiveDescribed(b, 1),
                ElementsAre(HasSubstr("udp 698 > 698 checksum good / 4000 bytes")));
  }
  EXPECT_EQ(a.Counters().tx_frames, 6u);
  EXPECT_EQ(a.Counters().tx_dropped_unclaimed + a.Counters().tx_dropped_error, 0u);
}

TEST_F(ControlPortRootTest, Ipv6PacketsWithExtensionHeadersLeaveAsTheyAre) {
  ControlPort a =
      PortA([&](const ControlClaim& claim) { return Open(network_->a, network_->a_index, claim); });
  ControlPort b = PortB();
  AddB(b, kRipng);
  auto udp = Build(Ipv6{.source = "fd00:77::1", .destination = "fd00:77::2"} / Udp{521, 521} /
                   Counting(2000));
  const std::string segment(reinterpret_cast<const char*>(udp.data()) + 40, udp.size() - 40);
  constexpr size_t kFirst = 1400;  // bytes of the segment in the first fragment; a multiple of 8
  for (const bool last : {false, true}) {
    // The Fragment header (RFC 8200 section 4.5): next header, reserved byte, offset and M flag,
    // identification.
    const auto offset = static_cast<uint16_t>(last ? kFirst : 1);
    std::string header{17, 0, static_cast<char>(offset >> 8), static_cast<char>(offset), 0, 0,
                       0,  9};
    SendFrame(a,
              Build(FromProtocol() /
                    Ipv6{.source = "fd00:77::1", .destination = "fd00:77::2", .next_header = 44} /
                    Payload{header + (last ? segment.substr(kFirst) : segment.substr(0, kFirst))}));
  }
  EXPECT_THAT(ReceiveDescribed(b, 1),
              ElementsAre(HasSubstr("udp 521 > 521 checksum good / 2000 bytes")));
  EXPECT_EQ(a.Counters().tx_frames, 2u);
}

TEST_F(ControlPortRootTest, CountsWhatItCannotExpressOrTheKernelRefuses) {
  ControlPort a = PortA();
  AddA(a, kOlsr);
  AddA(a, kOspf);
  // The source is not an address of this machine, so the kernel refuses the packet.
  const auto refused = Build(FromProtocol() / Ipv4{"10.99.9.9", "10.77.0.2"} / Udp{698, 698});
  const auto fragment =
      Build(FromProtocol() / Ipv4{.source = "10.77.0.1", .more_fragments = true} / Udp{698, 698});
  const auto garbage = FromHex("ffff");
  const FrameToSend frames[] = {refused, fragment, garbage};
  EXPECT_EQ(a.Transmit(frames), 3u);
  EXPECT_EQ(a.Counters().tx_dropped_error, 1u);
  EXPECT_EQ(a.Counters().tx_dropped_unclaimed, 2u);
}

TEST_F(ControlPortRootTest, TheKernelDoesNotAnswerControlPackets) {
  ControlPort b = PortB();
  AddB(b, kOlsr);
  RingPort tap(network_->a.PacketSocket(), {.ifindex = network_->a_index, .ether_type = 0x0800});
  ControlPort a = PortA();
  AddA(a, kOlsr);
  SendFrame(a, Build(FromProtocol() / Ipv4{"10.77.0.1", "10.77.0.2"} / Udp{698, 698}));
  ASSERT_EQ(ReceiveDescribed(b, 1).size(), 1u);
  // The kernel sends an ICMP error during the send call, so an error would have arrived by now. The
  // frame to port 699, which no socket has, shows that the kernel does send errors.
  EXPECT_FALSE(IsReadable(tap.fd(), 0));
  SendFrame(a, Build(FromProtocol() / Ipv4{"10.77.0.1", "10.77.0.2"} / Udp{698, 699}));
  EXPECT_THAT(ReceiveDescribed(tap, 1), ElementsAre(HasSubstr("icmp 3/3")));
}

TEST_F(ControlPortRootTest, ReplacesASocketAndRefusesOneOfAnotherInterface) {
  ControlPort a = PortA();
  UniqueFd first = Open(network_->a, network_->a_index, kOspf);
  const UniqueFd still_open(dup(first.get()));
  a.AddSocket(kOspf, std::move(first));
  AddA(a, kOspf);
  std::vector<ReceivedFrame> none(1);
  ControlPort b = PortB();
  AddB(b, kOspf);
  SendFrame(b, Build(FromProtocol() /
                     Ipv4{.source = "10.77.0.2", .destination = "10.77.0.1", .protocol = 89} /
                     Payload{"x"}));
  EXPECT_EQ(ReceiveDescribed(a, 1).size(), 1u);
  EXPECT_EQ(a.Receive(none), 0u);

  UniqueFd other = Open(network_->a, network_->a_index, kOlsr);
  const int loopback = 1;
  SystemCall("SO_BINDTOIFINDEX",
             setsockopt(other.get(), SOL_SOCKET, SO_BINDTOIFINDEX, &loopback, sizeof(loopback)));
  EXPECT_THROW(a.AddSocket(kOlsr, std::move(other)), Error);
  EXPECT_FALSE(a.HasSocket(kOlsr));
}

TEST_F(ControlPortRootTest, ManyFramesInBursts) {
  ControlPort a = PortA();
  ControlPort b = PortB();
  AddA(a, kOlsr);
  AddB(b, kOlsr);
  std::vector<std::string> got;
  for (int i = 0; i < 100; ++i) {
    SendFrame(a, Build(FromProtocol() / Ipv4{"10.77.0.1", "10.77.0.255"} / Udp{698, 698} /
                       Payload{std::string(static_cast<size_t>(i), 'x')}));
  }
  std::vector<ReceivedFrame> burst(7);
  for (size_t count = b.Receive(burst); count > 0; count = b.Receive(burst)) {
    for (size_t i = 0; i < count; ++i) got.push_back(Describe(burst[i].bytes));
  }
  ASSERT_EQ(got.size(), 100u);
  for (size_t i = 0; i < 100; ++i) EXPECT_THAT(got[i], HasSubstr(fmt::format("/ {} bytes", i)));
}

}  // namespace
}  // namespace viaduct::io
