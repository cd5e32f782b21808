#include "remote/tunnel/trunk_port.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "base/wire/ethernet.h"
#include "remote/tunnel/test_outside.h"

namespace viaduct::tunnel {
namespace {

std::shared_ptr<SharedHub> HubOfTwo(const std::string& address) {
  std::vector<RemoteNode> nodes(2);
  nodes[0] = {.name = "a", .vni = 7, .anyone = true};
  nodes[1] = {.name = "b", .vni = 9};
  return std::make_shared<SharedHub>(std::move(nodes),
                                     ClientHub::Options{.address = address, .port = 0});
}

std::vector<std::byte> Tagged(std::vector<std::byte> frame, uint16_t vlan) {
  const std::byte tag[] = {std::byte{0x81}, std::byte{0}, std::byte(vlan >> 8), std::byte(vlan)};
  frame.insert(frame.begin() + 12, std::begin(tag), std::end(tag));
  return frame;
}

std::vector<std::byte> Counting(size_t length) {
  std::vector<std::byte> frame(length);
  for (size_t i = 0; i < length; ++i) frame[i] = std::byte(i * 7 + 1);
  return frame;
}

class TrunkPortTest : public testing::TestWithParam<const char*> {
 protected:
  uint16_t HubsPort() {
    return shared_->With([](const ClientHub& hub) { return hub.underlay().port(); });
  }
  ClientCounters CountersOf(size_t node) {
    return shared_->With([&](const ClientHub& hub) { return hub.CountersOf(node); });
  }
  void SendFrom(Outside& client, uint32_t vni, const std::vector<std::byte>& frame) {
    shared_->With([&](const ClientHub& hub) { client.Send(hub, GetParam(), vni, frame); });
  }
  std::vector<std::vector<std::byte>> ReceiveFrames(size_t count) {
    std::vector<std::vector<std::byte>> all;
    std::array<io::ReceivedFrame, 64> burst;
    while (all.size() < count) {
      pollfd wait{port_.fd(), POLLIN, 0};
      if (poll(&wait, 1, 5000) != 1) break;
      const size_t got = port_.Receive(burst);
      for (size_t i = 0; i < got; ++i) {
        all.emplace_back(burst[i].bytes.begin(), burst[i].bytes.end());
        EXPECT_NE(burst[i].received, Instant()) << "the kernel's stamp";
      }
    }
    return all;
  }

  std::shared_ptr<SharedHub> shared_ = HubOfTwo(GetParam());
  TrunkPort port_{shared_};
};
INSTANTIATE_TEST_SUITE_P(Families, TrunkPortTest, testing::Values("127.0.0.1", "::1"));

TEST_P(TrunkPortTest, FramesCarryTheirNodesChannelBothWays) {
  Outside client(GetParam());
  shared_->With([&](ClientHub& hub) {
    for (const size_t node : {0, 1}) {
      hub.Claim(node, wire::IpAddress::Parse(GetParam()), client.port());
    }
  });
  const auto frame = Counting(60);
  const auto inner = Tagged(Counting(80), 5);  // the client's own tag stays inside the port's tag
  SendFrom(client, 7, frame);
  SendFrom(client, 9, inner);
  const auto arrived = ReceiveFrames(2);
  ASSERT_EQ(arrived.size(), 2u);
  EXPECT_EQ(arrived[0], Tagged(frame, TrunkPort::ChannelOf(0)));
  EXPECT_EQ(arrived[1], Tagged(inner, TrunkPort::ChannelOf(1)));

  const std::vector<io::FrameToSend> back = {arrived[1], arrived[0]};
  EXPECT_EQ(port_.Transmit(back), 2u);
  EXPECT_TRUE(port_.Refused().empty());
  const auto received = client.Receive(2);
  ASSERT_EQ(received.size(), 2u);
  const size_t header = wire::VxlanHeader::kSize;
  EXPECT_EQ(wire::VxlanHeader::Parse(received[0]), wire::VxlanHeader{9});
  EXPECT_EQ(std::vector(received[0].begin() + header, received[0].end()), inner);
  EXPECT_EQ(wire::VxlanHeader::Parse(received[1]), wire::VxlanHeader{7});
  EXPECT_EQ(std::vector(received[1].begin() + header, received[1].end()), frame);
  EXPECT_EQ(port_.Counters().rx_frames, 2u);
  EXPECT_EQ(port_.Counters().tx_frames, 2u);
}

TEST_P(TrunkPortTest, RefusesWhatNobodyGets) {
  Outside client(GetParam());
  shared_->With(
      [&](ClientHub& hub) { hub.Claim(0, wire::IpAddress::Parse(GetParam()), client.port()); });
  const auto good = Tagged(Counting(60), TrunkPort::ChannelOf(0));
  const auto unclaimed = Tagged(Counting(60), TrunkPort::ChannelOf(1));
  const auto unknown = Tagged(Counting(60), TrunkPort::ChannelOf(2));
  const auto none = Tagged(Counting(60), 0);
  const auto longer = Tagged(Counting(1519), TrunkPort::ChannelOf(0));
  const std::vector<std::byte> shorter(15);
  const std::vector<io::FrameToSend> burst = {unclaimed, good, unknown, none, longer, shorter};
  EXPECT_EQ(port_.Transmit(burst), 6u);
  const auto refused = port_.Refused();
  EXPECT_EQ(std::vector(refused.begin(), refused.end()), (std::vector<uint32_t>{0, 2, 3, 4, 5}));
  EXPECT_EQ(client.Receive(1).size(), 1u);
  EXPECT_EQ(CountersOf(1).tx_dropped_unclaimed, 1u);
  EXPECT_EQ(CountersOf(0).tx_dropped_too_long, 1u);
}

TEST_P(TrunkPortTest, AFloodIsReadInBurstsAndTheLossesAreItsOwn) {
  Outside client(GetParam());
  shared_->With([&](ClientHub& hub) {
    for (const size_t node : {0, 1}) {
      hub.Claim(node, wire::IpAddress::Parse(GetParam()), client.port());
    }
  });
  std::array<io::ReceivedFrame, 16> few;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 60; ++i) SendFrom(client, 7, Counting(60));
    SendFrom(client, 9, Counting(60));
    port_.Receive(few);
  }
  while (port_.Receive(few) > 0) {
  }
  // If the kernel supports limits of waiting frames, it refuses frames beyond the limit unread;
  // otherwise the hub drops them.
  EXPECT_GT(CountersOf(0).rx_dropped_overload + CountersOf(0).rx_dropped_socket_full, 1000u);
  EXPECT_EQ(CountersOf(1).Lost(), 0u);
  EXPECT_EQ(CountersOf(1).rx_frames, 200u);
  EXPECT_EQ(CountersOf(0).rx_frames + CountersOf(0).Lost(), 200u * 60u);
  EXPECT_GE(port_.Counters().rx_dropped_ring_full, CountersOf(0).Lost());
}

TEST_P(TrunkPortTest, MtuIsThatOfTheLongestFrames) { EXPECT_EQ(port_.Mtu(), 1500u); }

}  // namespace
}  // namespace viaduct::tunnel
