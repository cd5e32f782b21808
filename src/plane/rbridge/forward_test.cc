#include "plane/rbridge/forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "base/wire/ethernet.h"
#include "base/wire/test/packet_builder.h"
#include "plane/rbridge/isis.h"
#include "plane/rbridge/test_network.h"

namespace viaduct::rbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::MacAddress;
using wire::packet::FromHex;

struct Frame {
  PortIndex port;
  Octets bytes;
  friend bool operator==(const Frame&, const Frame&) = default;
};

class ForwardTest : public testing::Test {
 protected:
  std::vector<Frame> Run(PortIndex port, const Octets& frame) {
    Forward(*tables_, port, frame, decision_);
    std::vector<Frame> out;
    for (const Output& output : decision_.sends()) {
      Octets bytes(output.head().begin(), output.head().end());
      bytes.insert(bytes.end(), frame.begin() + output.strip, frame.end());
      out.push_back({output.port, bytes});
    }
    return out;
  }
  Outcome outcome() const { return decision_.outcome; }

  // The tables of RBridge B, the middle one of the line, and its decision about a frame.
  std::unique_ptr<Tables> tables_ = test::LineOfThree(2);
  Decision decision_;
};

const Octets kNative = FromHex("02000000cc01 02000000bb01 88b5 010203");
const Octets kBroadcast = FromHex("ffffffffffff 02000000bb01 88b5 010203");
constexpr std::string_view kTag = "8100 0001";

TEST_F(ForwardTest, AKnownTerminalsFrameIsEncapsulated) {
  tables_->terminals.Set(MakeKey({{2, 0, 0, 0, 0xcc, 1}}, 1), {.rbridge = 2, .port = kNone}, 0);
  EXPECT_THAT(Run(2, kNative),
              ElementsAre(Frame{1, FromHex("020000000300 020000000201 22f3 003f 0003 0002"
                                           "02000000cc01 02000000bb01 8100 0001 88b5 010203")}));
  EXPECT_EQ(outcome(), Outcome::kForwarded);
  ASSERT_TRUE(decision_.seen);
  EXPECT_EQ(decision_.seen->location, (Location{.rbridge = 0, .port = 2}));
  EXPECT_EQ(MacOf(decision_.seen->key), (MacAddress{{2, 0, 0, 0, 0xbb, 1}}));
}

TEST_F(ForwardTest, UnknownAndBroadcastTakeTheTree) {
  for (const Octets& frame : {kNative, kBroadcast}) {
    const auto sent = Run(2, frame);
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[0].port, 0);
    EXPECT_EQ(sent[1].port, 1);
    Octets expected = FromHex("018000000040 020000000200 22f3 083f 0001 0002");
    expected[2] = std::byte{0xc2};
    EXPECT_EQ(Octets(sent[0].bytes.begin(), sent[0].bytes.begin() + 20), expected);
    EXPECT_EQ(sent[0].bytes.size(), frame.size() + kOverhead);
  }
}

TEST_F(ForwardTest, OtherPortsTerminalsGetAFloodToo) {
  tables_->ports[3] = {.mac = {{2, 0, 0, 0, 2, 3}}, .exists = true, .serves_terminals = true};
  const auto sent = Run(2, kBroadcast);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0], (Frame{3, kBroadcast}));
}

TEST_F(ForwardTest, LocalTerminalsNeedNoRBridge) {
  tables_->ports[3] = {.mac = {{2, 0, 0, 0, 2, 3}}, .exists = true, .serves_terminals = true};
  tables_->terminals.Set(MakeKey({{2, 0, 0, 0, 0xcc, 1}}, 1), {.rbridge = 0, .port = 3}, 0);
  EXPECT_THAT(Run(2, kNative), ElementsAre(Frame{3, kNative}));
  EXPECT_THAT(Run(3, kNative), IsEmpty());
  EXPECT_EQ(outcome(), Outcome::kNoReceiver) << "on the link where it came from";
}

TEST_F(ForwardTest, TagsStayAndVlansAreApart) {
  tables_->terminals.Set(MakeKey({{2, 0, 0, 0, 0xcc, 1}}, 1), {.rbridge = 2, .port = kNone}, 0);
  tables_->terminals.Set(MakeKey({{2, 0, 0, 0, 0xcc, 1}}, 7), {.rbridge = 1, .port = kNone}, 0);
  const auto tagged = Run(2, FromHex("02000000cc01 02000000bb01 8100 6007 88b5 010203"));
  EXPECT_THAT(tagged,
              ElementsAre(Frame{0, FromHex("020000000101 020000000200 22f3 003f 0001 0002"
                                           "02000000cc01 02000000bb01 8100 6007 88b5 010203")}));
  // A frame with a priority tag belongs to the default VLAN.
  const auto priority = Run(2, FromHex("02000000cc01 02000000bb01 8100 6000 88b5 010203"));
  ASSERT_EQ(priority.size(), 1u);
  EXPECT_EQ(priority[0].port, 1);
  EXPECT_EQ(Octets(priority[0].bytes.begin() + 32, priority[0].bytes.end()),
            FromHex("8100 6001 88b5 010203"));
}

TEST_F(ForwardTest, TransitChangesHopCountAndAddresses) {
  const std::string rest = " 0003 0001 02000000cc01 02000000aa01 8100 0001 88b5 010203";
  EXPECT_THAT(Run(0, FromHex("020000000200 020000000101 22f3 0005" + rest)),
              ElementsAre(Frame{1, FromHex("020000000300 020000000201 22f3 0004" + rest)}));
  EXPECT_FALSE(decision_.seen) << "only where frames leave, terminals are learnt";
}

TEST_F(ForwardTest, EgressGivesTheTerminalItsFrame) {
  const Octets frame = FromHex(
      "020000000200 020000000101 22f3 0005 0002 0001 02000000bb01 02000000aa01 8100 0001 88b5 01");
  // The destination is unknown, so the frame is sent to all terminals.
  EXPECT_THAT(Run(0, frame), ElementsAre(Frame{2, FromHex("02000000bb01 02000000aa01 88b5 01")}));
  ASSERT_TRUE(decision_.seen);
  EXPECT_EQ(decision_.seen->location, (Location{.rbridge = 1, .port = kNone}));
  // The terminal is known and was reported in this epoch: it is not reported again.
  tables_->terminals.Set(decision_.seen->key, decision_.seen->location, tables_->epoch);
  Run(0, frame);
  EXPECT_FALSE(decision_.seen);
  ++tables_->epoch;
  Run(0, frame);
  EXPECT_TRUE(decision_.seen) << "once in each epoch";
}

constexpr std::string_view kFromA =
    "0180c2000040 020000000101 22f3 0805 0001 0001 ffffffffffff 02000000aa01 8100 0001 88b5 01";

TEST_F(ForwardTest, ATreesFrameGoesOnAndToTerminals) {
  EXPECT_THAT(Run(0, FromHex(kFromA)),
              ElementsAre(Frame{1, FromHex("0180c2000040 020000000201 22f3 0804 0001 0001"
                                           "ffffffffffff 02000000aa01 8100 0001 88b5 01")},
                          Frame{2, FromHex("ffffffffffff 02000000aa01 88b5 01")}));
}

TEST_F(ForwardTest, ReversePathCheck) {
  Octets frame = FromHex(kFromA);
  // The frame arrives from C, but frames whose ingress is A must arrive from A along the tree.
  std::ranges::copy(FromHex("020000000300"), frame.begin() + 6);
  EXPECT_THAT(Run(1, frame), IsEmpty());
  EXPECT_EQ(outcome(), Outcome::kWrongPath);
}

TEST_F(ForwardTest, WhatIsRefused) {
  const auto refused = [&](PortIndex port, std::string_view hex) {
    EXPECT_THAT(Run(port, FromHex(hex)), IsEmpty()) << hex;
    return outcome();
  };
  const std::string inner = " 02000000cc01 02000000aa01 8100 0001 88b5 01";
  const std::string from_a = "020000000200 020000000101 22f3 ";
  EXPECT_EQ(refused(0, from_a + "0000 0003 0001" + inner), Outcome::kHopCount);
  EXPECT_EQ(refused(0, from_a + "0005 0009 0001" + inner), Outcome::kNoRoute) << "egress";
  EXPECT_EQ(refused(0, from_a + "0005 0003 0009" + inner), Outcome::kNoRoute) << "ingress";
  EXPECT_EQ(refused(0, from_a + "0005 0003 0002" + inner), Outcome::kNoRoute) << "its own";
  EXPECT_EQ(refused(0, from_a + "0805 0003 0001" + inner), Outcome::kMalformed) << "M, unicast";
  EXPECT_EQ(refused(0, from_a + "4005 0003 0001" + inner), Outcome::kMalformed) << "version";
  EXPECT_EQ(refused(0, from_a + "0005 00"), Outcome::kMalformed) << "short";
  EXPECT_EQ(refused(0, from_a + "0005 0002 0001 02000000cc01 02000000aa01 88b5 01"),
            Outcome::kMalformed)
      << "no inner tag";
  EXPECT_EQ(refused(0, "020000000200 020000000999 22f3 0005 0003 0001" + inner),
            Outcome::kNoAdjacency);
  EXPECT_EQ(refused(0, "020000000300 020000000101 22f3 0005 0003 0001" + inner),
            Outcome::kNotForUs);
  EXPECT_EQ(refused(0, "02000000cc01 02000000aa01 88b5 01"), Outcome::kNotServed);
  EXPECT_EQ(refused(9, "02000000cc01 02000000aa01 88b5 01"), Outcome::kNotServed) << "no port";
  EXPECT_EQ(refused(2, "0180c200000e 02000000aa01 88cc 01"), Outcome::kLinkLocal);
  EXPECT_EQ(refused(2, "020000000202 02000000aa01 88b5 01"), Outcome::kNotForUs) << "itself";
  EXPECT_EQ(refused(2, "02000000cc01 03000000aa01 88b5 01"), Outcome::kMalformed)
      << "a group as source";
  EXPECT_EQ(refused(2, "02000000cc01 02000000aa01 8100 0f"), Outcome::kMalformed);
  EXPECT_EQ(refused(2, "0200"), Outcome::kMalformed);
  EXPECT_EQ(refused(0, "0180c2000041 020000000101 22f4 83"), Outcome::kControl);
}

TEST_F(ForwardTest, Options) {
  const std::string inner = " 02000000cc01 02000000aa01 8100 0001 88b5 01";
  // The frame has one word of options (Op-Length 1): if no option is critical, the frame is
  // forwarded.
  const std::string head = "020000000200 020000000101 22f3 0045 ";
  EXPECT_EQ(Run(0, FromHex(head + "0003 0001 00000000" + inner)).size(), 1u);
  Run(0, FromHex(head + "0003 0001 80000000" + inner));
  EXPECT_EQ(outcome(), Outcome::kOption) << "critical for every hop";
  EXPECT_EQ(Run(0, FromHex(head + "0003 0001 40000000" + inner)).size(), 1u);
  Run(0, FromHex(head + "0002 0001 40000000" + inner));
  EXPECT_EQ(outcome(), Outcome::kOption) << "critical for the egress";
  EXPECT_EQ(Run(0, FromHex(head + "0002 0001 00000000" + inner)),
            (std::vector{Frame{2, FromHex("02000000cc01 02000000aa01 88b5 01")}}));
}

// The tables of two RBridges contradict each other, so a frame is sent back and forth until its hop
// count is 0.
TEST_F(ForwardTest, ALoopEnds) {
  const auto a = test::LineOfThree(1), b = test::LineOfThree(2);
  b->rbridges[b->by_nickname[3]].next_hop = 0;  // in B's tables C is behind A
  a->rbridges[a->by_nickname[3]].next_hop = 1;
  a->terminals.Set(MakeKey({{2, 0, 0, 0, 0xcc, 1}}, 1), {.rbridge = 2, .port = kNone}, 0);
  Octets frame = kNative;
  PortIndex port = 2;
  int hops = 0;
  for (; hops < 1000; ++hops) {
    tables_ = hops % 2 == 0 ? std::make_unique<Tables>(*a) : std::make_unique<Tables>(*b);
    const auto sent = Run(port, frame);
    if (sent.empty()) break;
    frame = sent.front().bytes;
    port = sent.front().port == 1 ? 0 : 1;
    // Changes the ingress of the frame to C, because A discards a frame whose ingress is A as the
    // result of a loop.
    frame[18] = std::byte{0};
    frame[19] = std::byte{3};
  }
  EXPECT_EQ(outcome(), Outcome::kHopCount);
  EXPECT_EQ(hops, TrillHeader::kMaxHops + 1);
}

TEST_F(ForwardTest, NothingIsForwardedWithoutANickname) {
  tables_->nickname = kNoNickname;
  EXPECT_THAT(Run(2, kBroadcast), IsEmpty());
  EXPECT_EQ(outcome(), Outcome::kNoRoute);
}

TEST_F(ForwardTest, AnyTablesAreSafe) {
  std::memset(static_cast<void*>(tables_.get()), 0x7f, sizeof(Tables));
  tables_->ports[2].exists = true;
  for (const Octets& frame : {kNative, kBroadcast, FromHex(kFromA)}) Run(2, frame);
}

TEST_F(ForwardTest, TheFirstBytesAreEnough) {
  Octets longest(1514, std::byte{0x11});
  std::ranges::copy(kNative, longest.begin());
  const auto whole = Run(2, longest);
  Forward(*tables_, 2, wire::ConstBytes(longest).first(kMaxHeaders), decision_);
  ASSERT_EQ(decision_.count, whole.size());
}

TEST(TablesTest, AdjacenciesAreFoundByPortAndAddress) {
  auto tables = std::make_unique<Tables>();
  tables->Clear();
  const auto mac = [](size_t i) {
    return MacAddress{{2, 0, 0, 0, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)}};
  };
  EXPECT_EQ(tables->FindAdjacency(0, mac(0)), kNone);
  for (AdjacencyIndex i = 0; i < kMaxAdjacencies; ++i) {
    tables->SetAdjacency(i, {.mac = mac(i / 2), .port = static_cast<PortIndex>(i % 2)});
  }
  for (AdjacencyIndex i = 0; i < kMaxAdjacencies; ++i) {
    EXPECT_EQ(tables->FindAdjacency(i % 2, mac(i / 2)), i);
  }
  EXPECT_EQ(tables->FindAdjacency(2, mac(0)), kNone);
  tables->SetAdjacency(4, {.mac = {}, .port = kNone});
  EXPECT_EQ(tables->FindAdjacency(0, mac(2)), kNone);
  EXPECT_EQ(tables->FindAdjacency(1, mac(2)), 5) << "others stay";
}

}  // namespace
}  // namespace viaduct::rbridge
