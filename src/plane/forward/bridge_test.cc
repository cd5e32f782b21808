#include "plane/forward/bridge.h"

#include <gtest/gtest.h>

#include "plane/forward/hub.h"
#include "plane/forward/test_carrier.h"

namespace viaduct::forward {
namespace {

using wire::packet::Build;
using wire::packet::Ethernet;
using wire::packet::Ipv4;

template <class Program>
class ProgramTest : public testing::Test {
 protected:
  std::string_view Take(size_t port, const std::string& source, const std::string& destination) {
    std::vector<std::byte> frame =
        Build(Ethernet{.source = source, .destination = destination} / Ipv4{});
    const size_t outcome = program_.Take({port, frame, now_}, outbox_);
    outbox_.EndBurst();
    return Program::kOutcomes[outcome];
  }
  // Returns the number of frames that each port has sent so far.
  std::vector<size_t> Sent() {
    return {carrier_.sent[0].size(), carrier_.sent[1].size(), carrier_.sent[2].size()};
  }

  Node node_;
  Program program_{node_};
  FakeCarrier carrier_;
  Outbox outbox_{3, carrier_};
  Instant now_;
};

using BridgeTest = ProgramTest<Bridge>;
using HubTest = ProgramTest<Hub>;
using Counts = std::vector<size_t>;

TEST_F(BridgeTest, FloodsUntilItHasLearnt) {
  EXPECT_EQ(Take(0, "02:00:00:00:00:01", "02:00:00:00:00:02"), "flooded");
  EXPECT_EQ(Sent(), (Counts{0, 1, 1}));
  EXPECT_EQ(Take(1, "02:00:00:00:00:02", "02:00:00:00:00:01"), "forwarded");
  EXPECT_EQ(Sent(), (Counts{1, 1, 1}));
  EXPECT_EQ(Take(0, "02:00:00:00:00:01", "02:00:00:00:00:02"), "forwarded");
  EXPECT_EQ(Sent(), (Counts{1, 2, 1}));
  EXPECT_EQ(Take(0, "02:00:00:00:00:01", "ff:ff:ff:ff:ff:ff"), "flooded");
  EXPECT_EQ(Sent(), (Counts{1, 3, 2}));
}

TEST_F(BridgeTest, AStationMayMove) {
  Take(0, "02:00:00:00:00:01", "02:00:00:00:00:09");
  Take(2, "02:00:00:00:00:01", "02:00:00:00:00:09");
  EXPECT_EQ(Take(1, "02:00:00:00:00:02", "02:00:00:00:00:01"), "forwarded");
  EXPECT_EQ(Sent(), (Counts{1, 2, 2}));
}

TEST_F(BridgeTest, FiltersWhatStaysOnItsLink) {
  Take(0, "02:00:00:00:00:01", "02:00:00:00:00:09");
  const Counts before = Sent();
  EXPECT_EQ(Take(0, "02:00:00:00:00:02", "02:00:00:00:00:01"), "filtered");
  EXPECT_EQ(Take(0, "02:00:00:00:00:02", "01:80:c2:00:00:0e"), "reserved");
  EXPECT_EQ(Take(0, "03:00:00:00:00:02", "02:00:00:00:00:01"), "malformed");
  EXPECT_EQ(Sent(), before);
}

TEST_F(BridgeTest, ForgetsWhoIsSilent) {
  Take(0, "02:00:00:00:00:01", "02:00:00:00:00:09");
  now_ += Bridge::kAgeing + Duration::Seconds(1);
  program_.Tick(now_, outbox_);
  EXPECT_EQ(program_.Stations(), 0u);
  EXPECT_EQ(Take(1, "02:00:00:00:00:02", "02:00:00:00:00:01"), "flooded");
}

TEST_F(BridgeTest, RemembersAtMostSoManyStations) {
  Frame frame{0, {}, now_};
  std::vector<std::byte> bytes = Build(Ethernet{.source = "02:00:00:00:00:01"} / Ipv4{});
  frame.bytes = bytes;
  for (uint32_t i = 0; i < Bridge::kMaxStations + 10; ++i) {
    wire::Store32(&bytes[8], i);
    program_.Take(frame, outbox_);
    outbox_.EndBurst();
    carrier_ = {};
  }
  EXPECT_EQ(program_.Stations(), Bridge::kMaxStations);
}

TEST_F(HubTest, RepeatsToAllOtherPorts) {
  Take(1, "02:00:00:00:00:01", "02:00:00:00:00:02");
  EXPECT_EQ(Sent(), (Counts{1, 0, 1}));
}

}  // namespace
}  // namespace viaduct::forward
