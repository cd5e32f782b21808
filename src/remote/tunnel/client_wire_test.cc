#include "remote/tunnel/client_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/wire/test/packet_builder.h"

namespace viaduct::tunnel {
namespace {

namespace packet = wire::packet;
using testing::ElementsAre, testing::IsEmpty;
using Frame = std::vector<std::byte>;

constexpr const char* kClient = "02:00:00:00:00:09";
constexpr const char* kHub = "06:76:64:00:00:01";

Frame ArpOf(const std::string& target, const std::string& sender = "10.0.0.1") {
  return packet::Build(
      packet::Ethernet{.source = kClient, .destination = "ff:ff:ff:ff:ff:ff"} /
      packet::Arp{.sender_mac = kClient, .sender_ip = sender, .target_ip = target});
}

Frame PacketTo(const std::string& destination, size_t size = 4) {
  return packet::Build(packet::Ipv4{.source = "10.0.0.9", .destination = destination} /
                       packet::Udp{} / packet::Counting(size));
}

class ClientWireTest : public testing::Test {
 protected:
  // Returns the packet in the frame for the node's IP layer; "" if the frame has no such packet,
  // "-" if the frame has another protocol.
  std::string Take(const Frame& frame) {
    const auto taken = wire_.Take(frame, now_, send_);
    if (!taken) return "";
    return taken->empty() ? "-" : packet::DescribePacket(*taken);
  }
  void Give(const Frame& packet) { wire_.Give(packet, now_, send_); }
  std::vector<std::string> Sent() { return std::exchange(sent_, {}); }
  void Pass(Duration time) { now_ += time; }

  ClientWire wire_{{wire::IpAddress::Parse("10.0.0.1"), wire::IpAddress::Parse("10.0.1.1")}, 1500};

 private:
  Instant now_ = Instant::FromNanoseconds(0) + Duration::Seconds(100);
  std::vector<std::string> sent_;
  ClientWire::Send send_ = [this](wire::ConstBytes frame) {
    sent_.push_back(packet::Describe(frame));
  };
};

std::string Eth(const std::string& destination) {
  return std::string("eth ") + kHub + " > " + destination + " / ";
}

TEST_F(ClientWireTest, AnswersForEveryAddressButTheNodesOwn) {
  EXPECT_EQ(Take(ArpOf("10.0.0.77")), "");
  EXPECT_THAT(Sent(), ElementsAre(Eth(kClient) + "arp 10.0.0.77 is-at " + kHub + " / 0 bytes"));
  EXPECT_EQ(Take(ArpOf("192.0.2.1")), "");
  EXPECT_EQ(Sent().size(), 1U) << "whether it is on a link of the node or not";
  for (const char* own : {"10.0.0.1", "10.0.1.1"}) {
    EXPECT_EQ(Take(ArpOf(own, "0.0.0.0")), "") << "whether somebody else has it";
  }
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(ClientWireTest, PacketsOfTheClientAreWhatIsInItsFrames) {
  const packet::Ethernet to_hub{.source = kClient, .destination = kHub};
  const packet::Ipv4 header{.source = "10.0.0.1", .destination = "10.0.0.9", .ttl = 7};
  const Frame ping = packet::Build(to_hub / header / packet::Icmp{});
  EXPECT_EQ(Take(ping), packet::DescribePacket(packet::Build(header / packet::Icmp{})));
  EXPECT_EQ(Take(packet::Build(to_hub / packet::Vlan{.id = 5} / packet::Payload{"x"})), "-");
  EXPECT_EQ(Take(Frame(5)), "-") << "shorter than a frame's header";
  EXPECT_THAT(Sent(), IsEmpty());
}

TEST_F(ClientWireTest, PacketsWaitUntilTheClientSaysWhereItIs) {
  Give(PacketTo("10.0.0.1", 1));
  Give(PacketTo("10.0.1.1", 2));
  EXPECT_THAT(Sent(),
              ElementsAre(Eth("ff:ff:ff:ff:ff:ff") + "arp who-has 10.0.0.1 tell 0.0.0.0 / 0 bytes"))
      << "asked once, of nobody's address";
  Pass(Duration::Milliseconds(1100));
  Give(PacketTo("10.0.0.1", 3));
  EXPECT_EQ(Sent().size(), 1U) << "asked again";
  const Frame reply = packet::Build(packet::Ethernet{.source = kClient, .destination = kHub} /
                                    packet::Arp{.operation = wire::ArpPacket::kReply,
                                                .sender_mac = kClient,
                                                .sender_ip = "10.0.0.1",
                                                .target_mac = kHub,
                                                .target_ip = "0.0.0.0"});
  EXPECT_EQ(Take(reply), "");
  const std::string to_client = Eth(kClient);
  EXPECT_THAT(Sent(), ElementsAre(to_client + packet::DescribePacket(PacketTo("10.0.0.1", 1)),
                                  to_client + packet::DescribePacket(PacketTo("10.0.1.1", 2)),
                                  to_client + packet::DescribePacket(PacketTo("10.0.0.1", 3))));
  Give(PacketTo("10.0.0.1"));
  EXPECT_EQ(Sent().size(), 1U) << "and nothing is asked any more";
  EXPECT_EQ(wire_.unresolved(), 0U);
}

TEST_F(ClientWireTest, PacketsForNobodyAreDroppedAndCounted) {
  for (size_t i = 0; i < ClientWire::kMaxHeld + 5; ++i) Give(PacketTo("10.0.0.1"));
  EXPECT_EQ(wire_.unresolved(), 5U) << "no more wait";
  Pass(ClientWire::kTimeout + Duration::Milliseconds(1));
  Give(PacketTo("10.0.0.1"));
  EXPECT_EQ(wire_.unresolved(), 5U + ClientWire::kMaxHeld) << "no longer";
  Sent();
  EXPECT_EQ(Take(ArpOf("10.0.0.77")), "");
  EXPECT_EQ(Sent().size(), 2U) << "the last one, and the answer";
}

TEST_F(ClientWireTest, ASilentClientMayBeAnotherOne) {
  Take(ArpOf("10.0.0.77"));
  Sent();
  Pass(Duration::Seconds(60));
  Give(PacketTo("10.0.0.1"));
  const auto sent = Sent();
  ASSERT_EQ(sent.size(), 2U) << "asked, but not waited for";
  EXPECT_EQ(sent[0], Eth("ff:ff:ff:ff:ff:ff") + "arp who-has 10.0.0.1 tell 0.0.0.0 / 0 bytes");
  EXPECT_THAT(sent[1], testing::StartsWith(Eth(kClient)));
}

TEST_F(ClientWireTest, GroupsNeedNoAnswer) {
  Give(PacketTo("255.255.255.255"));
  Give(PacketTo("224.0.0.5"));
  const auto sent = Sent();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_THAT(sent[0], testing::StartsWith(Eth("ff:ff:ff:ff:ff:ff") + "ipv4"));
  EXPECT_THAT(sent[1], testing::StartsWith(Eth("01:00:5e:00:00:05") + "ipv4"));
}

TEST_F(ClientWireTest, LongPacketsAreFragments) {
  Take(ArpOf("10.0.0.77"));
  Sent();
  Give(PacketTo("10.0.0.1", 4000));
  EXPECT_EQ(Sent().size(), 3U);
}

}  // namespace
}  // namespace viaduct::tunnel
