#include "remote/tunnel/client_port.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/wire/test/packet_builder.h"
#include "port/test/memory_port.h"

namespace viaduct::tunnel {
namespace {

namespace packet = wire::packet;
using Frame = std::vector<std::byte>;

const packet::Ethernet kFromClient{.source = "02:00:00:00:00:09",
                                   .destination = "06:76:64:00:00:01"};

// A test with a client that has 10.0.0.1, at the remote end of the wire.
class ClientPortTest : public testing::Test {
 protected:
  explicit ClientPortTest(size_t capacity = 256) {
    auto [here, there] = io::MemoryPort::MakePair(capacity);
    client_ = io::Hold(std::move(there));
    port_ = std::make_unique<ClientPort>(
        io::Hold(std::move(here)),
        std::vector<wire::IpAddress>{wire::IpAddress::Parse("10.0.0.1")});
  }

  static std::vector<std::string> Received(io::AnyPort& port, bool has_ethernet) {
    std::vector<std::string> all;
    std::array<io::ReceivedFrame, 16> burst;
    while (const size_t count = port.Receive(burst)) {
      for (const auto& frame : std::span(burst).first(count)) {
        all.push_back(has_ethernet ? packet::Describe(frame.bytes)
                                   : packet::DescribePacket(frame.bytes));
      }
    }
    return all;
  }
  static size_t Send(io::AnyPort& port, const std::vector<Frame>& frames) {
    const std::vector<io::FrameToSend> spans(frames.begin(), frames.end());
    return port.Transmit(spans);
  }

  std::unique_ptr<io::AnyPort> client_;
  std::unique_ptr<ClientPort> port_;
};

const packet::Ipv4 kOut{.source = "10.0.0.1", .destination = "10.0.0.9"};
const packet::Ipv4 kIn{.source = "10.0.0.9", .destination = "10.0.0.1"};

TEST_F(ClientPortTest, CarriesPacketsAndAnswersArpByItself) {
  const Frame arp =
      packet::Build(kFromClient / packet::Arp{.sender_ip = "10.0.0.1", .target_ip = "10.0.0.9"});
  const Frame ping = packet::Build(kFromClient / kOut / packet::Icmp{});
  EXPECT_EQ(Send(*client_, {arp, arp}), 2U);
  EXPECT_TRUE(Received(*port_, false).empty()) << "nothing for the node in this burst";
  EXPECT_EQ(Received(*client_, true).size(), 2U);
  EXPECT_EQ(Send(*client_, {arp, ping, arp}), 3U);
  EXPECT_EQ(Received(*port_, false),
            std::vector{packet::DescribePacket(packet::Build(kOut / packet::Icmp{}))});
  EXPECT_EQ(Received(*client_, true).size(), 2U);
  const Frame answer = packet::Build(kIn / packet::Icmp{.type = 0});
  EXPECT_EQ(Send(*port_, {answer}), 1U);
  EXPECT_EQ(Received(*client_, true), std::vector{"eth 06:76:64:00:00:01 > 02:00:00:00:00:09 / " +
                                                  packet::DescribePacket(answer)});
}

class FullClientPortTest : public ClientPortTest {
 protected:
  FullClientPortTest() : ClientPortTest(4) {}
};

TEST_F(FullClientPortTest, NothingIsLostWhereTheWireTakesNoMore) {
  Send(*client_, {packet::Build(kFromClient / kOut / packet::Icmp{})});
  Received(*port_, false);
  const Frame packet = packet::Build(kIn / packet::Icmp{});
  EXPECT_EQ(Send(*port_, std::vector(6, packet)), 6U);
  EXPECT_EQ(Send(*port_, {packet}), 0U) << "two wait";
  EXPECT_EQ(Received(*client_, true).size(), 4U);
  EXPECT_EQ(Send(*port_, {packet}), 1U);
  EXPECT_EQ(Received(*client_, true).size(), 3U);
  EXPECT_EQ(port_->Counters().tx_dropped_error, 0U);
}

}  // namespace
}  // namespace viaduct::tunnel
