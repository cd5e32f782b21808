// Tests of a complete real kernel. They need an image (viaduct kernel build), but no privilege.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/wire/bytes.h"
#include "guest/embed/embedded_kernel.h"
#include "guest/test/real_guest.h"

namespace viaduct::guest {
namespace {

using testing::HasSubstr;

// A socket that records its errors.
class Errors : public SocketEvents {
 public:
  void OnBound(const agent::Endpoint&) override {}
  void OnConnected(const agent::Endpoint&, const agent::Endpoint&) override {}
  void OnAccepted(const agent::Accepted&) override {}
  void OnData(const Data&) override {}
  void OnWritten(uint64_t) override {}
  void OnEnd() override {}
  void OnBroken(int error_number) override { errors.push_back(error_number); }
  void OnFailed(agent::Code, int error_number) override { errors.push_back(error_number); }
  void OnOption(const agent::SocketOption&, std::span<const std::byte>) override {}

  std::vector<int> errors;
};

// The properties of a frame that a node sends.
struct SeenFrame {
  int64_t time;  // nanoseconds
  std::string nic;
  std::vector<std::byte> bytes;

  uint16_t ether_type() const { return wire::Load16(&bytes[12]); }
};

// A fixture with two nodes of one guest and a link of 100 Mbit/s with a delay of 10 ms between
// them.
class RealKernelTest : public testing::TestWithParam<GuestPlace>, protected RealGuest {
 protected:
  RealKernelTest() : RealGuest(Duration::Seconds(10)) {}

  void SetUp() override {
    try {
      MakeGuest("guest (a, b)", GetParam());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void Boot() {
    AddNode("a", 1);
    AddNode("b", 2);
    Connect(*nodes_["a"].nic, *nodes_["b"].nic);
    Connect(*nodes_["b"].nic, *nodes_["a"].nic);
    calendar_.Boot();
  }

  struct Node {
    uint32_t number = 0;
    Nic* nic = nullptr;
    int ifindex = 0;
  };

  void AddNode(const std::string& name, uint8_t last) {
    Node& node = nodes_[name];
    const wire::MacAddress mac{{2, 0, 0, 0, 0, last}};
    node.nic = &guest_->AddNic(mac);
    node.number = agent_->CreateNode(name);
    agent_->MoveInterface(node.number, mac, "eth0", [this, &node, last](const auto& interface) {
      node.ifindex = interface.ifindex;
      agent_->SetMtu(node.number, node.ifindex, mtu_);
      agent_->SetUp(node.number, node.ifindex, true);
      agent_->AddAddress(node.number, node.ifindex,
                         wire::IpPrefix::Parse("10.0.0." + std::to_string(last) + "/24"));
      agent_->AddAddress(node.number, node.ifindex,
                         wire::IpPrefix::Parse("fd00::" + std::to_string(last) + "/64"));
    });
  }

  void Connect(Nic& from, Nic& to) {
    from.SetTransmit([this, &from, &to](std::span<const std::byte> frame, Nic::Token token) {
      const Instant now = calendar_.Present();
      if (calendar_.booting()) return from.TransmitDone(token);
      const auto size = static_cast<int64_t>(frame.size());
      Instant& busy = busy_until_[&from];
      busy = std::max(busy, now) + Duration::Nanoseconds(size * 80);
      seen_.push_back(
          {now.nanoseconds(), std::to_string(from.number()), {frame.begin(), frame.end()}});
      calendar_.Schedule(busy, [&from, token] { from.TransmitDone(token); });
      calendar_.Schedule(
          busy + Duration::Milliseconds(10),
          [&to, copy = std::vector(frame.begin(), frame.end())] { to.Deliver(copy); });
    });
  }

  // Opens a UDP socket on a node and sends a datagram of `size` zero bytes to port 9 of the address
  // `to`.
  void SendDatagram(const std::string& node, const std::string& to, uint64_t size) {
    const uint32_t socket = agent_->NewSocket(&socket_);
    const auto destination = wire::IpAddress::Parse(to);
    const uint16_t family = destination.family == wire::Family::kIpv4 ? AF_INET : AF_INET6;
    const agent::OpenSocket open{nodes_[node].number, family, SOCK_DGRAM, 0, 0, 1 << 20};
    agent_->Tell(agent::Code::kOpenSocket, socket, {agent::BytesOf(open)});
    agent_->Tell(agent::Code::kSend, socket,
                 {agent::BytesOf(agent::ToEndpoint(destination, 9)), agent::BytesOf(size)},
                 agent::kToEndpoint | agent::kZeros);
  }

  uint32_t mtu_ = 1500;
  std::map<std::string, Node> nodes_;
  std::map<Nic*, Instant> busy_until_;
  Errors socket_;
  std::vector<SeenFrame> seen_;
};

// Returns the frames of one EtherType, which excludes the multicast reports of the idle kernel.
std::vector<SeenFrame> OfType(const std::vector<SeenFrame>& seen, uint16_t ether_type) {
  std::vector<SeenFrame> result;
  for (const SeenFrame& frame : seen) {
    if (frame.ether_type() == ether_type) result.push_back(frame);
  }
  return result;
}

constexpr int64_t kDelay = 10'000'000;
int64_t Serialisation(size_t bytes) { return static_cast<int64_t>(bytes) * 80; }

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

INSTANTIATE_TEST_SUITE_P(Places, RealKernelTest, testing::ValuesIn(kPlaces), PlaceName);

TEST_P(RealKernelTest, AnswersAfterExactlyTheLinksTime) {
  Boot();
  EXPECT_EQ(agent_->release(), options_.image.release);
  queue_.Schedule(AtMs(1000), [&] { SendDatagram("a", "10.0.0.2", 56); });
  queue_.RunUntil(AtMs(2000));
  const auto arp = OfType(seen_, 0x0806);
  const auto ip = OfType(seen_, 0x0800);
  ASSERT_EQ(arp.size(), 2U);
  ASSERT_EQ(ip.size(), 2U) << "a datagram, and that its port is closed";
  EXPECT_EQ(arp[0].time, 1'000'000'000);
  EXPECT_EQ(arp[1].time - arp[0].time, kDelay + Serialisation(arp[0].bytes.size()));
  EXPECT_EQ(ip[0].time - arp[1].time, kDelay + Serialisation(arp[1].bytes.size()));
  EXPECT_EQ(ip[0].bytes.size(), 98U);
  EXPECT_EQ(ip[1].time - ip[0].time, kDelay + Serialisation(98));
}

TEST_P(RealKernelTest, JumboFramesAreCarried) {
  mtu_ = 9000;
  Boot();
  queue_.Schedule(AtMs(1000), [&] { SendDatagram("a", "10.0.0.2", 8972); });
  queue_.RunUntil(AtMs(2000));
  const auto ip = OfType(seen_, 0x0800);
  ASSERT_EQ(ip.size(), 2U);
  EXPECT_EQ(ip[0].bytes.size(), 9014U);
  EXPECT_EQ(ip[1].time - ip[0].time, kDelay + Serialisation(9014));
}

TEST_P(RealKernelTest, SpeaksIpv6) {
  Boot();
  queue_.Schedule(AtMs(1000), [&] { SendDatagram("a", "fd00::2", 56); });
  queue_.RunUntil(AtMs(2000));
  std::vector<SeenFrame> datagrams, unreachables;
  for (const SeenFrame& frame : OfType(seen_, 0x86dd)) {
    if (frame.bytes[20] == std::byte{17}) datagrams.push_back(frame);
    if (frame.bytes[20] == std::byte{58} && frame.bytes[54] == std::byte{1}) {
      unreachables.push_back(frame);
    }
  }
  ASSERT_EQ(datagrams.size(), 1U);
  ASSERT_EQ(unreachables.size(), 1U);
  EXPECT_EQ(datagrams[0].bytes.size(), 118U);
  EXPECT_EQ(unreachables[0].time - datagrams[0].time, kDelay + Serialisation(118));
}

TEST_P(RealKernelTest, LinkDownStopsFramesAndUpLetsThemGo) {
  Boot();
  Nic& nic = *nodes_["a"].nic;
  queue_.Schedule(AtMs(1000), [&] { nic.SetLink(false); });
  queue_.Schedule(AtMs(2000), [&] { SendDatagram("a", "10.0.0.2", 56); });
  queue_.RunUntil(AtMs(3000));
  EXPECT_THAT(OfType(seen_, 0x0806), testing::IsEmpty());
  queue_.Schedule(AtMs(3000), [&] { nic.SetLink(true); });
  queue_.Schedule(AtMs(5000), [&] { SendDatagram("a", "10.0.0.2", 56); });
  queue_.RunUntil(AtMs(6000));
  EXPECT_THAT(OfType(seen_, 0x0800), testing::Not(testing::IsEmpty()));
}

// Checks that a failed start of an embedded kernel releases the addresses and descriptors for the
// next start.
TEST(EmbeddedKernelTest, FailedStartLeavesNothing) {
  embed::KernelOptions options;
  try {
    options.file = FindImage("").file;
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  options.memory = uint64_t{64} << 20;
  options.folder = "/no/such/folder";
  const auto file = options.file;
  const std::string why = embed::Unavailable(file, options.memory);
  if (!why.empty()) GTEST_SKIP() << why;
  const size_t open_before = OpenDescriptors();
  options.output.reset(SystemCall("open /dev/null", open("/dev/null", O_WRONLY | O_CLOEXEC)));
  EXPECT_THROW(embed::EmbeddedKernel kernel(std::move(options)), SystemError);
  EXPECT_EQ(embed::Unavailable(file, uint64_t{64} << 20), "");
  EXPECT_EQ(OpenDescriptors(), open_before);
}

TEST_P(RealKernelTest, KilledGuestIsOneErrorThatNamesIt) {
  Boot();
  queue_.RunUntil(AtMs(500));
  guest_->Signal(SIGKILL);
  try {
    queue_.RunUntil(AtMs(100'000));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel guest (a, b) was killed by signal 9"));
  }
}

}  // namespace
}  // namespace viaduct::guest
