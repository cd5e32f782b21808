#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "base/poller.h"
#include "port/packet/ring_port.h"
#include "port/super_frame.h"
#include "port/test/test_network.h"

namespace viaduct::io {
namespace {

using namespace wire::packet;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::byte> Frame(const std::string& payload) {
  return Build(Ethernet{"02:00:00:00:00:0a", "02:00:00:00:00:0b", 0x88b5} / Payload{payload});
}

sockaddr_in At(const char* address, uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  inet_pton(AF_INET, address, &result.sin_addr);
  return result;
}

class RingPortRootTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: makes network namespaces";
    network_.emplace(/*ipv6=*/false);
  }

  RingPort PortA(RingOptions options = {}) {
    options.ifindex = network_->a_index;
    return RingPort(network_->a.PacketSocket(), options);
  }
  RingPort PortB(RingOptions options = {}) {
    options.ifindex = network_->b_index;
    return RingPort(network_->b.PacketSocket(), options);
  }
  // Returns a UDP or TCP socket in namespace a, connected to port 9 in namespace b.
  UniqueFd Connected(int type) {
    UniqueFd fd = network_->a.Socket(AF_INET, type, 0);
    const sockaddr_in to = At("10.77.0.2", 9);
    SystemCall("connect", connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)));
    return fd;
  }
  UniqueFd Bound(int type) {
    UniqueFd fd = network_->b.Socket(AF_INET, type, 0);
    const sockaddr_in here = At("10.77.0.2", 9);
    SystemCall("bind", bind(fd.get(), reinterpret_cast<const sockaddr*>(&here), sizeof(here)));
    if (type == SOCK_STREAM) SystemCall("listen", listen(fd.get(), 1));
    return fd;
  }

  std::optional<TestNetwork> network_;
};

// Tests ports with and without a separate socket for sending.
class RingPortSenderRootTest : public RingPortRootTest, public testing::WithParamInterface<bool> {
 protected:
  RingPort PortA(RingOptions options = {}) {
    options.ifindex = network_->a_index;
    return RingPort(network_->a.PacketSocket(), options,
                    GetParam() ? network_->a.PacketSocket() : UniqueFd());
  }
};
// Tests ports with a ring of slots and with a ring of blocks.
class RingPortRingsRootTest : public RingPortRootTest, public testing::WithParamInterface<bool> {
 protected:
  RingPort PortA(RingOptions options = {}) {
    options.blocks = GetParam();
    return RingPortRootTest::PortA(options);
  }
  RingPort PortB(RingOptions options = {}) {
    options.blocks = GetParam();
    return RingPortRootTest::PortB(options);
  }
};
INSTANTIATE_TEST_SUITE_P(EitherRing, RingPortRingsRootTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Blocks" : "Slots"; });

INSTANTIATE_TEST_SUITE_P(EitherSocket, RingPortSenderRootTest, testing::Bool());

TEST_P(RingPortSenderRootTest, CarriesFramesAndNotOurOwn) {
  RingPort a = PortA();
  RingPort b = PortB();
  const auto first = Frame("one");
  const auto second = Frame(std::string(1500, 'x'));
  const FrameToSend frames[] = {first, second};
  EXPECT_EQ(a.Transmit(frames), 2u);

  ASSERT_TRUE(IsReadable(b.fd()));
  std::vector<ReceivedFrame> received(8);
  ASSERT_EQ(b.Receive(received), 2u);
  EXPECT_TRUE(std::ranges::equal(received[0].bytes, first));
  EXPECT_TRUE(std::ranges::equal(received[1].bytes, second));
  EXPECT_EQ(received[0].checksum, Checksum::kInFrame);
  EXPECT_EQ(received[0].gso_size, 0);
  const auto now =
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  EXPECT_NEAR(static_cast<double>(received[0].received.nanoseconds()), static_cast<double>(now),
              60e9);
  EXPECT_LE(received[0].received, received[1].received);

  EXPECT_EQ(a.Receive(received), 0u);
  EXPECT_EQ(b.Receive(received), 0u);
  EXPECT_FALSE(IsReadable(b.fd(), 0));
  EXPECT_EQ(a.Counters().tx_frames, 2u);
  EXPECT_EQ(a.Counters().tx_bytes, first.size() + second.size());
  EXPECT_EQ(b.Counters().rx_frames, 2u);
  EXPECT_EQ(b.Counters().rx_bytes, first.size() + second.size());
}

TEST_P(RingPortSenderRootTest, CountsWhatWaitsInTheQdiscBelow) {
  // At 8 kbit/s, frames that do not fit into the token bucket wait for seconds. The longest burst
  // that a bucket of this size passes at once is one frame of 1514 bytes.
  network_->a.Run("tc qdisc replace dev a0 root tbf rate 8kbit burst 10000 limit 1000000");
  RingPort a = PortA({.qdisc_bypass = false});
  RingPort b = PortB();
  EXPECT_EQ(a.BytesInFlight(), 0u);
  const auto filler = Frame(std::string(1480, 'x'));
  for (int i = 0; i < 7; ++i) SendFrame(a, filler);
  size_t waiting = a.BytesInFlight();
  EXPECT_EQ(waiting % filler.size(), 0u);
  ASSERT_GT(waiting, 0u);
  for (size_t length = 46; length <= 1500; length += 13) {
    const auto frame = Frame(std::string(length, 'x'));
    ASSERT_EQ(SendFrame(a, frame), 1u);
    waiting += frame.size();
    // The expected value is right until the first frame leaves, after 1.5 s.
    ASSERT_EQ(a.BytesInFlight(), waiting) << length;
    if (waiting > 40000) break;
  }
  network_->a.Run("tc qdisc del dev a0 root");  // drops the frames that wait in the qdisc
  EXPECT_EQ(a.BytesInFlight(), 0u);
}

TEST_P(RingPortSenderRootTest, CountsJumboFramesInFlight) {
  network_->a.Run("ip link set a0 mtu 9000");
  network_->b.Run("ip link set b0 mtu 9000");
  network_->a.Run("tc qdisc replace dev a0 root tbf rate 8kbit burst 10000 limit 1000000");
  RingPort a = PortA({.qdisc_bypass = false});
  size_t waiting = 0;
  for (const size_t length : {9000, 9000, 3000, 4060, 4070, 4090, 8190, 8200, 46}) {
    const auto frame = Frame(std::string(length, 'x'));
    ASSERT_EQ(SendFrame(a, frame), 1u);
    waiting = waiting == 0 && a.BytesInFlight() == 0 ? 0 : waiting + frame.size();
    ASSERT_EQ(a.BytesInFlight(), waiting) << length;
  }
}

TEST_P(RingPortSenderRootTest, SaysWhenFramesHaveLeft) {
  network_->a.Run("tc qdisc replace dev a0 root tbf rate 10mbit burst 1600 limit 1000000");
  RingPort a = PortA({.qdisc_bypass = false});
  RingPort b = PortB();
  const auto frame = Frame(std::string(1400, 'x'));
  constexpr size_t kFrames = 20;  // less than half of the send buffer; 1.1 ms for each frame
  const std::vector<FrameToSend> frames(kFrames, FrameToSend(frame));
  ASSERT_EQ(a.Transmit(frames), kFrames);
  Poller poller;
  poller.Add(a.TransmitFd(), 1, EPOLLOUT | EPOLLET);
  size_t before = a.BytesInFlight();
  EXPECT_GT(before, 10 * frame.size());
  poller.Wait(Duration());  // clears the initial writable state
  size_t steps = 0;
  while (before > 0) {
    ASSERT_EQ(poller.Wait(Duration::Seconds(1)).size(), 1u) << before << " bytes left";
    const size_t now = a.BytesInFlight();
    ASSERT_LE(now, before);
    EXPECT_EQ(now % frame.size(), 0u);
    if (now < before) ++steps;
    before = now;
  }
  EXPECT_GT(steps, 5u) << "not one after the other";
  EXPECT_EQ(poller.Wait(Duration::Milliseconds(20)).size(), 0u) << "no wake-up without a reason";
}

TEST_P(RingPortSenderRootTest, NothingIsInFlightOnAnIdleWire) {
  RingPort a = PortA();
  RingPort b = PortB();
  const auto frame = Frame("x");
  for (int i = 0; i < 100; ++i) ASSERT_EQ(SendFrame(a, frame), 1u);
  std::vector<ReceivedFrame> received(64);
  while (b.Receive(received) > 0) {
  }
  EXPECT_EQ(a.BytesInFlight(), 0u);
}

TEST_P(RingPortRingsRootTest, ReceivesWhatItsMachineSendsIfAsked) {
  RingPort sender = PortA({.qdisc_bypass = false});
  RingPort capture = PortA({.outgoing = true});
  RingPort peer = PortB();
  const auto out = Frame("out");
  const auto in = Frame("in");
  const FrameToSend outgoing[] = {out}, incoming[] = {in};
  ASSERT_EQ(sender.Transmit(outgoing), 1u);
  ASSERT_EQ(peer.Transmit(incoming), 1u);
  std::vector<ReceivedFrame> received(8);
  ASSERT_TRUE(IsReadable(capture.fd()));
  ASSERT_EQ(capture.Receive(received), 2u);
  EXPECT_TRUE(std::ranges::equal(received[0].bytes, out));
  EXPECT_TRUE(std::ranges::equal(received[1].bytes, in));
}

TEST_P(RingPortRingsRootTest, DoesNotReceiveWhatOtherSocketsOfItsMachineSend) {
  RingPort a = PortA();
  RingPort b = PortB();
  const UniqueFd sender = Connected(SOCK_DGRAM);
  ASSERT_EQ(send(sender.get(), "x", 1, 0), 1);
  ASSERT_TRUE(IsReadable(b.fd()));
  std::vector<ReceivedFrame> received(1);
  EXPECT_EQ(b.Receive(received), 1u);
  EXPECT_EQ(a.Counters().rx_frames, 0u);
  // Only the answer of the kernel in b, "port unreachable", arrives.
  ASSERT_TRUE(IsReadable(a.fd()));
  EXPECT_EQ(a.Receive(received), 1u);
  EXPECT_THAT(Describe(received[0].bytes), HasSubstr("icmp 3/3"));
  EXPECT_EQ(a.Receive(received), 0u);
}

TEST_F(RingPortRootTest, WrapsAroundInBurstsAndLendsFramesUntilTheNextReceive) {
  RingPort a = PortA();
  RingPort b = PortB({.slots = 32});
  std::vector<ReceivedFrame> received(5);
  size_t expected = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 7; ++i) SendFrame(a, Frame(fmt::format("{:04}", round * 7 + i)));
    for (size_t count = b.Receive(received); count > 0; count = b.Receive(received)) {
      for (size_t i = 0; i < count; ++i) {
        const auto payload = received[i].bytes.subspan(14);
        const std::string text(reinterpret_cast<const char*>(payload.data()), payload.size());
        EXPECT_EQ(text, fmt::format("{:04}", expected++));
      }
    }
  }
  EXPECT_EQ(expected, 350u);
}

TEST_F(RingPortRootTest, CountsWhatDidNotFitIntoTheRing) {
  RingPort a = PortA();
  RingPort b = PortB({.slots = 32});
  for (int i = 0; i < 1000; ++i) SendFrame(a, Frame("x"));
  std::vector<ReceivedFrame> received(1000);
  const size_t count = b.Receive(received);
  EXPECT_GE(count, 32u);
  EXPECT_LT(count, 1000u);
  EXPECT_EQ(count + b.Counters().rx_dropped_ring_full, 1000u);
  // Reading does not reset the counters.
  EXPECT_EQ(count + b.Counters().rx_dropped_ring_full, 1000u);
}

TEST_P(RingPortSenderRootTest, GoesOnAfterAFrameTheKernelRefuses) {
  RingPort a = PortA();
  RingPort b = PortB();
  const auto too_long = Frame(std::string(3000, 'x'));
  const auto good = Frame("good");
  const FrameToSend frames[] = {good, too_long, good};
  EXPECT_EQ(a.Transmit(frames), 3u);
  EXPECT_THAT(std::vector(a.Refused().begin(), a.Refused().end()), testing::ElementsAre(1u));
  EXPECT_EQ(a.Counters().tx_dropped_error, 1u);
  EXPECT_EQ(a.Counters().tx_frames, 2u);
  EXPECT_EQ(ReceiveDescribed(b, 2).size(), 2u);
  EXPECT_EQ(SendFrame(a, good), 1u);
  EXPECT_TRUE(a.Refused().empty());
}

TEST_P(RingPortSenderRootTest, SurvivesALinkThatGoesDownAndUp) {
  RingPort a = PortA();
  RingPort b = PortB();
  EXPECT_TRUE(a.Up());
  network_->b.Run("ip link set b0 down");  // a0 loses its carrier
  EXPECT_FALSE(a.Up());
  EXPECT_EQ(SendFrame(a, Frame("lost")), 1u);
  network_->a.Run("ip link set a0 down");
  EXPECT_EQ(SendFrame(a, Frame("lost")), 1u);
  EXPECT_EQ(a.Counters().tx_dropped_error, 2u);

  std::vector<ReceivedFrame> received(1);
  EXPECT_EQ(b.Receive(received), 0u);
  pollfd entry{b.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 0), 0) << "an error stays on the socket";

  network_->a.Run("ip link set a0 up");
  network_->b.Run("ip link set b0 up");
  EXPECT_TRUE(a.Up());
  a.Receive(received);
  EXPECT_EQ(SendFrame(a, Frame("good")), 1u);
  EXPECT_THAT(ReceiveDescribed(b, 1),
              ElementsAre("eth 02:00:00:00:00:0a > 02:00:00:00:00:0b type 88b5 / 4 bytes"));
}

TEST_P(RingPortRingsRootTest, KnowsThatALocalSendersChecksumIsPartial) {
  RingPort b = PortB({.ether_type = 0x0800});
  const UniqueFd listener = Bound(SOCK_DGRAM);
  const UniqueFd sender = Connected(SOCK_DGRAM);
  ASSERT_EQ(send(sender.get(), "hello", 5, 0), 5);
  ASSERT_TRUE(IsReadable(b.fd()));
  std::vector<ReceivedFrame> received(1);
  ASSERT_EQ(b.Receive(received), 1u);
  EXPECT_EQ(received[0].checksum, Checksum::kPartial);
  EXPECT_THAT(Describe(received[0].bytes), HasSubstr("checksum bad"));
  std::string split;
  EXPECT_TRUE(SuperFrameSplitter().Split(
      received[0], [&](std::span<std::byte> frame) { split = Describe(frame); }));
  EXPECT_THAT(split, HasSubstr("10.77.0.1 > 10.77.0.2"));
  EXPECT_THAT(split, HasSubstr("checksum good / 5 bytes"));
}

// The frames that arrive at a port until it is idle, split into frames as on a wire. The UDP
// payload is concatenated in order of arrival, the TCP payload is kept by sequence number.
struct Stream {
  size_t super_frames = 0, frames = 0, longest = 0;
  std::vector<std::string> wrong;
  std::map<uint32_t, std::string> tcp;
  std::string udp;

  void ReadAll(RingPort& port) {
    SuperFrameSplitter splitter(1514);
    std::vector<ReceivedFrame> received(8);
    // Waits up to 200 ms, because blocks arrive a little later than their frames.
    size_t count = 0;
    while ((count = port.Receive(received)) > 0 || IsReadable(port.fd(), 200)) {
      for (size_t i = 0; i < count; ++i) {
        if (received[i].gso_size != 0) ++super_frames;
        EXPECT_TRUE(splitter.Split(received[i], [&](auto frame) { Add(frame); }));
      }
    }
  }
  void Add(std::span<std::byte> frame) {
    ++frames;
    longest = std::max(longest, frame.size());
    const std::string text = Describe(frame);
    if (text.find("checksum good") == std::string::npos) wrong.push_back(text);
    const auto payload = PayloadOf(frame);
    const std::string bytes(reinterpret_cast<const char*>(payload.data()), payload.size());
    if (const auto at = text.find(" seq "); at != std::string::npos && !bytes.empty()) {
      tcp[static_cast<uint32_t>(std::stoul(text.substr(at + 5)))] = bytes;
    }
    if (text.find("/ udp") != std::string::npos) udp += bytes;
  }
};

TEST_P(RingPortRingsRootTest, CutsTcpSuperFramesIntoTheFramesOfTheWire) {
  RingPort b = PortB({.ether_type = 0x0800});
  const UniqueFd listener = Bound(SOCK_STREAM);
  const UniqueFd sender = Connected(SOCK_STREAM);
  const UniqueFd receiver(SystemCall("accept", accept(listener.get(), nullptr, nullptr)));
  std::string sent, got(300000, '\0');
  Stream stream;
  for (int i = 0; sent.size() < 200000; ++i) sent += fmt::format("{} ", i);
  for (size_t done = 0, read_so_far = 0; read_so_far < sent.size();) {
    if (done < sent.size()) {
      const size_t chunk = std::min<size_t>(sent.size() - done, 60000);
      const ssize_t n = send(sender.get(), sent.data() + done, chunk, MSG_DONTWAIT);
      if (n > 0) done += static_cast<size_t>(n);
    }
    ASSERT_TRUE(IsReadable(receiver.get()));
    read_so_far +=
        static_cast<size_t>(std::max<ssize_t>(0, recv(receiver.get(), got.data(), got.size(), 0)));
    stream.ReadAll(b);
  }
  std::string together;
  for (const auto& [sequence, bytes] : stream.tcp) together += bytes;
  EXPECT_GT(stream.super_frames, 0u) << "the sender's offloads are off: nothing was tested";
  EXPECT_EQ(stream.longest, 1514u);
  EXPECT_THAT(stream.wrong, IsEmpty());
  EXPECT_EQ(together, sent);
  EXPECT_EQ(b.Counters().rx_dropped_truncated, 0u);
}

TEST_P(RingPortRingsRootTest, CutsUdpSuperFrames) {
  RingPort b = PortB({.ether_type = 0x0800});
  const UniqueFd listener = Bound(SOCK_DGRAM);
  const UniqueFd sender = Connected(SOCK_DGRAM);
  const int segment = 1000;
  SystemCall("UDP_SEGMENT",
             setsockopt(sender.get(), SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)));
  const std::string sent = Counting(20500).bytes;
  ASSERT_EQ(send(sender.get(), sent.data(), sent.size(), 0), 20500);
  ASSERT_TRUE(IsReadable(b.fd()));
  Stream stream;
  stream.ReadAll(b);
  EXPECT_EQ(stream.super_frames, 1u);
  EXPECT_EQ(stream.frames, 21u);
  EXPECT_EQ(stream.longest, 1042u);
  EXPECT_THAT(stream.wrong, IsEmpty());
  EXPECT_EQ(stream.udp, sent);
}

TEST_F(RingPortRootTest, CountsLongFramesItHasNoRoomFor) {
  UniqueFd socket = network_->b.PacketSocket();
  const int least = 1;
  SystemCall("SO_RCVBUF", setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)));
  RingPort b(std::move(socket), {.ifindex = network_->b_index, .slot_bytes = 200});
  RingPort a = PortA();
  for (int i = 0; i < 20; ++i) SendFrame(a, Frame(std::string(1400, 'x')));
  SendFrame(a, Frame("short"));
  std::vector<ReceivedFrame> received(64);
  const size_t count = b.Receive(received);
  EXPECT_GT(count, 1u);
  EXPECT_GT(b.Counters().rx_dropped_truncated, 0u);
  EXPECT_EQ(count + b.Counters().rx_dropped_truncated, 21u);
  EXPECT_EQ(received[0].bytes.size(), 1414u);
  EXPECT_EQ(received[count - 1].bytes.size(), 19u);
}

TEST_F(RingPortRootTest, LongFramesComeInMoreThanOneBurst) {
  RingPort b = PortB({.slot_bytes = 200});
  RingPort a = PortA();
  for (int i = 0; i < 40; ++i)
    SendFrame(a, Frame(fmt::format("{:02}", i) + std::string(1400, 'x')));
  std::vector<ReceivedFrame> received(64);
  std::vector<std::string> order;
  for (size_t count = b.Receive(received); count > 0; count = b.Receive(received)) {
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(received[i].bytes.size(), 1416u);
      order.push_back({reinterpret_cast<const char*>(received[i].bytes.data()) + 14, 2});
    }
  }
  ASSERT_EQ(order.size(), 40u);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(order[i], fmt::format("{:02}", i));
}

TEST_P(RingPortRingsRootTest, PutsVlanTagsBack) {
  const auto tagged = Build(Ethernet{"02:00:00:00:00:0a", "02:00:00:00:00:0b"} /
                            Vlan{.id = 42, .priority = 5} / Ipv4{} / Udp{} / Payload{"in a slot"});
  auto long_tagged = Build(Ethernet{"02:00:00:00:00:0a", "02:00:00:00:00:0b"} /
                           Vlan{.id = 43, .tag_type = wire::ether_type::kServiceVlan} / Ipv4{} /
                           Udp{} / Counting(1300));
  RingPort a = PortA();
  RingPort b = PortB({.slot_bytes = 400});
  SendFrame(a, tagged);
  SendFrame(a, long_tagged);
  std::vector<ReceivedFrame> received(4);
  ASSERT_TRUE(IsReadable(b.fd()));
  ASSERT_EQ(b.Receive(received), 2u);
  EXPECT_EQ(Describe(received[0].bytes), Describe(tagged));
  EXPECT_TRUE(std::ranges::equal(received[0].bytes, tagged));
  EXPECT_EQ(Describe(received[1].bytes), Describe(long_tagged));
  EXPECT_TRUE(std::ranges::equal(received[1].bytes, long_tagged));
}

TEST_F(RingPortRootTest, RefusesAnInterfaceThatIsNotThere) {
  EXPECT_THROW(RingPort(network_->a.PacketSocket(), {.ifindex = 9999}), SystemError);
}

TEST_P(RingPortRingsRootTest, StampsFramesOnArrivalIfAsked) {
  RingPort a = PortA();
  RingPort b = PortB({.stamp_on_arrival = true});
  const std::string ring = GetParam() ? "AF_PACKET ring of blocks" : "AF_PACKET ring";
  EXPECT_EQ(b.Description(), ring);
  const auto now = [] {
    return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  };
  // Tries repeatedly: the kernel begins to stamp frames a little later than requested.
  std::vector<ReceivedFrame> received(8);
  for (int i = 0; i < 10000 && b.Description() == ring; ++i) {
    const int64_t before = now();
    ASSERT_EQ(SendFrame(a, Frame("one")), 1u);
    // A block that was read keeps the socket readable until it is returned to the kernel.
    size_t count = 0;
    while (count == 0) {
      ASSERT_TRUE(IsReadable(b.fd()));
      count = b.Receive(received);
    }
    ASSERT_EQ(count, 1u);
    EXPECT_GE(received[0].received.nanoseconds(), before);
    EXPECT_LE(received[0].received.nanoseconds(), now());
  }
  EXPECT_EQ(b.Description(), ring + ", frames timestamped on arrival");
}

}  // namespace
}  // namespace viaduct::io
