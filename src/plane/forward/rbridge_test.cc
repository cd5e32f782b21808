#include "plane/forward/rbridge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>

#include "base/error.h"
#include "base/fd.h"
#include "base/wire/test/packet_builder.h"
#include "plane/forward/test_carrier.h"
#include "plane/rbridge/test_network.h"
#include "sys/descriptors.h"

namespace viaduct::forward {
namespace {

using rbridge::MakeKey;
using rbridge::Tables;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::packet::FromHex;

constexpr size_t kRBridgePorts = 4;

std::vector<PortInfo> FourPorts() {
  std::vector<PortInfo> ports(kRBridgePorts);
  for (size_t i = 0; i < ports.size(); ++i) ports[i].name = "eth" + std::to_string(i);
  return ports;
}

// The program of RBridge B of rbridge::test::LineOfThree(), with its tables in memory as the
// control plane shares them.
class RBridgeProgramTest : public testing::Test {
 protected:
  RBridgeProgramTest() { writer_.Publish(*tables_); }

  std::string_view Take(size_t port, std::vector<std::byte> frame) {
    carrier_.frames.clear();
    const size_t outcome = program_->Take({port, frame, {}}, outbox_);
    outbox_.EndBurst();
    return RBridge::kOutcomes[outcome];
  }
  std::vector<TerminalSeen> Seen() {
    std::vector<TerminalSeen> all;
    reader_.Answer();
    while (const auto event = reader_.Read()) all.push_back(TerminalSeen::FromEvent(*event));
    return all;
  }
  bool Rings() const {
    pollfd wait{bell_.second.get(), POLLIN, 0};
    return poll(&wait, 1, 0) == 1;
  }

  std::unique_ptr<Tables> tables_ = rbridge::test::LineOfThree(2);
  std::vector<Word> memory_ = std::vector<Word>(rbridge_tables::kWords);
  std::vector<Word> ring_ = std::vector<Word>(event_ring::kWords);
  std::pair<UniqueFd, UniqueFd> bell_ = sys::MakeSocketPair(SOCK_STREAM);
  RBridgeTablesWriter writer_{memory_};
  EventWriter events_{ring_, bell_.first.get()};
  EventReader reader_{ring_, bell_.second.get()};
  NeighbourTable neighbours_;
  Node node_{"b", FourPorts(), memory_, &neighbours_, &events_};
  std::unique_ptr<RBridge> program_ = std::make_unique<RBridge>(node_);
  FakeCarrier carrier_;
  Outbox outbox_{kRBridgePorts, carrier_};
};

const auto kUnicast = FromHex("02000000cc01 02000000bb01 88b5 010203");
const auto kTo = wire::MacAddress{{2, 0, 0, 0, 0xcc, 1}};
const auto kFrom = wire::MacAddress{{2, 0, 0, 0, 0xbb, 1}};

TEST_F(RBridgeProgramTest, NewTablesCountFromTheNextFrameOn) {
  EXPECT_EQ(Take(2, kUnicast), "forwarded");
  EXPECT_EQ(carrier_.frames.size(), 2u) << "unknown: along the tree";
  tables_->terminals.Set(MakeKey(kTo, 1), {.rbridge = 2, .port = rbridge::kNone}, 0);
  writer_.Publish(*tables_);
  EXPECT_EQ(Take(2, kUnicast), "forwarded");
  ASSERT_EQ(carrier_.frames.size(), 1u);
  EXPECT_THAT(carrier_.frames[1],
              ElementsAre(FromHex("020000000300 020000000201 22f3 003f 0003 0002"
                                  "02000000cc01 02000000bb01 8100 0001 88b5 010203")));
}

TEST_F(RBridgeProgramTest, FramesThatDoNotGrowAreChangedInPlace) {
  const auto transit = FromHex(
      "020000000200 020000000101 22f3 0005 0003 0001 02000000cc01 02000000bb01 8100 0001 88b5 01");
  EXPECT_EQ(Take(0, transit), "forwarded");
  EXPECT_THAT(carrier_.frames[1],
              ElementsAre(FromHex("020000000300 020000000201 22f3 0004 0003 0001"
                                  "02000000cc01 02000000bb01 8100 0001 88b5 01")));
  const auto arriving = FromHex(
      "020000000200 020000000101 22f3 0005 0002 0001 02000000cc01 02000000bb01 8100 0001 88b5 01");
  EXPECT_EQ(Take(0, arriving), "forwarded");
  EXPECT_THAT(carrier_.frames[2], ElementsAre(FromHex("02000000cc01 02000000bb01 88b5 01")));
}

TEST_F(RBridgeProgramTest, TerminalsAreToldOnceForEachVersionOfTheTables) {
  Take(2, kUnicast);
  Take(2, kUnicast);
  EXPECT_TRUE(Rings());
  EXPECT_THAT(Seen(), ElementsAre(TerminalSeen{MakeKey(kFrom, 1), 0, 2}));
  EXPECT_FALSE(Rings());
  Take(2, kUnicast);
  EXPECT_THAT(Seen(), IsEmpty());
  writer_.Publish(*tables_);  // a new version, in which the terminal is still absent
  Take(2, kUnicast);
  EXPECT_THAT(Seen(), ElementsAre(TerminalSeen{MakeKey(kFrom, 1), 0, 2}));
}

TEST_F(RBridgeProgramTest, OthersTerminalsAreToldByTheNickname) {
  Take(0, FromHex("020000000200 020000000101 22f3 0005 0002 0001"
                  "02000000cc01 02000000aa01 8100 0001 88b5 01"));
  EXPECT_THAT(Seen(),
              ElementsAre(TerminalSeen{MakeKey({{2, 0, 0, 0, 0xaa, 1}}, 1), 1, rbridge::kNone}));
}

TEST_F(RBridgeProgramTest, WhatFindsNoRoomIsToldLater) {
  for (size_t i = 0; i < event_ring::kEvents; ++i) EXPECT_TRUE(events_.Write({i, 0}));
  EXPECT_FALSE(events_.Write({1, 1}));
  Take(2, kUnicast);
  EXPECT_EQ(Seen().size(), event_ring::kEvents);
  Take(2, kUnicast);
  EXPECT_THAT(Seen(), ElementsAre(TerminalSeen{MakeKey(kFrom, 1), 0, 2}));
}

// A hostile forwarder may shut the doorbell's socket down: the reader's end would then be readable
// for ever.
TEST_F(RBridgeProgramTest, ADoorbellThatIsShutDownIsNoticed) {
  EXPECT_TRUE(reader_.Answer()) << "nothing is there to be read";
  EXPECT_TRUE(events_.Write({1, 2}));
  ASSERT_EQ(shutdown(bell_.first.get(), SHUT_RDWR), 0);
  EXPECT_TRUE(reader_.Answer()) << "what it had rung before";
  EXPECT_TRUE(Rings());
  EXPECT_FALSE(reader_.Answer());
  EXPECT_EQ(reader_.Read(), (Event{1, 2}));
}

TEST_F(RBridgeProgramTest, AnyWordsInTheRingAreBounded) {
  ring_[event_ring::kRead] = ~uint64_t{0} - 5;
  ring_[event_ring::kWritten] = 12345;
  EXPECT_EQ(Seen().size(), event_ring::kEvents);
}

TEST_F(RBridgeProgramTest, AnotherForwarderFindsTheTables) {
  program_ = std::make_unique<RBridge>(node_);
  EXPECT_EQ(Take(2, kUnicast), "forwarded");
}

TEST_F(RBridgeProgramTest, WithoutTablesNothingIsForwarded) {
  memory_ = std::vector<Word>(rbridge_tables::kWords);
  node_.table = memory_;
  EXPECT_THROW(RBridge{node_}, UsageError);
  RBridgeTablesWriter{memory_};
  program_ = std::make_unique<RBridge>(node_);
  EXPECT_EQ(Take(2, kUnicast), "not_served");
  EXPECT_THAT(carrier_.frames, IsEmpty());
}

TEST_F(RBridgeProgramTest, AWriterThatDiedIsReplaced) {
  // State of the memory: the writer has begun version 2, and has written half of it.
  memory_[rbridge_tables::kBegun] = 2;
  memory_[rbridge_tables::kHeaderWords] = ~uint64_t{0};
  EXPECT_EQ(Take(2, kUnicast), "forwarded") << "by version 1";
  RBridgeTablesWriter other(memory_);
  tables_->nickname = 0;
  other.Publish(*tables_);
  EXPECT_EQ(Take(2, kUnicast), "no_route");
}

TEST_F(RBridgeProgramTest, AReaderHasOneVersionOnly) {
  RBridgeTablesReader reader(memory_);
  EXPECT_EQ(reader.Read().nickname, 2);
  EXPECT_EQ(reader.Version(), 1u);
  writer_.Publish(*tables_);
  // State of the memory: version 4 is being written over version 2, which the reader would copy.
  memory_[rbridge_tables::kBegun] = 4;
  EXPECT_EQ(reader.Read().nickname, 2);
  EXPECT_EQ(reader.Version(), 1u) << "as it was";
}

}  // namespace
}  // namespace viaduct::forward
