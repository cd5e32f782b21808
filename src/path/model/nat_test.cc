#include "path/model/nat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/wire/port_fields.h"
#include "base/wire/test/packet_builder.h"
#include "path/test_pipeline.h"

namespace viaduct::path {
namespace {

using namespace wire::packet;
using test::AtMs;
using testing::HasSubstr;

constexpr char kClient[] = "10.0.0.1", kServer[] = "10.0.0.2";
using Frame = std::vector<std::byte>;

Frame SentFrom(uint16_t port, const std::string& from = kClient) {
  return Build(Ethernet{} / Ipv4{.source = from, .destination = kServer} /
               Udp{.source = port, .destination = 443} / Payload{"hello"});
}
Frame AnswerTo(uint16_t port, const std::string& to = kClient) {
  return Build(Ethernet{} / Ipv4{.source = kServer, .destination = to} /
               Udp{.source = 443, .destination = port} / Payload{"world"});
}
uint16_t SourceOf(const Frame& frame) { return wire::FindPorts(frame)->SourcePort(frame); }
uint16_t DestinationOf(const Frame& frame) {
  return wire::FindPorts(frame)->DestinationPort(frame);
}

// A network behind a NAT; frames of the direction up leave the network.
class Home {
 public:
  explicit Home(const std::string& spec = "port", uint64_t seed = 1) : nat_(seed, "pair") {
    nat_.Set(Direction::kUp, ParseNat(spec), std::nullopt);
    nat_.Begin(AtMs(0));
  }
  Nat& nat() { return nat_; }
  // Returns the port that the server sees for the client port `port`; nothing when the frame is
  // dropped.
  std::optional<uint16_t> Out(uint16_t port, Instant at, const std::string& from = kClient) {
    Frame frame = SentFrom(port, from);
    if (!nat_.Translate(Direction::kUp, frame, at)) return std::nullopt;
    EXPECT_THAT(wire::packet::Describe(frame), HasSubstr("checksum good"));
    return SourceOf(frame);
  }
  // Returns the client port that an answer to the port `port` reaches; nothing when the frame is
  // dropped.
  std::optional<uint16_t> In(uint16_t port, Instant at, const std::string& to = kClient) {
    Frame frame = AnswerTo(port, to);
    if (!nat_.Translate(Direction::kDown, frame, at)) return std::nullopt;
    EXPECT_THAT(wire::packet::Describe(frame), HasSubstr("checksum good"));
    return DestinationOf(frame);
  }

 private:
  Nat nat_;
};

TEST(NatTest, AnswersComeBack) {
  Home home;
  const uint16_t seen = home.Out(5000, AtMs(1)).value();
  EXPECT_NE(seen, 5000);
  EXPECT_GE(seen, 1024);
  EXPECT_EQ(home.Out(5000, AtMs(2)), seen);
  EXPECT_EQ(home.In(seen, AtMs(3)), 5000);
  const uint16_t other = home.Out(5001, AtMs(4)).value();
  EXPECT_NE(other, seen);
  EXPECT_EQ(home.In(other, AtMs(5)), 5001);
}

TEST(NatTest, WhatNobodyAskedForIsDropped) {
  Home home;
  EXPECT_EQ(home.In(5000, AtMs(1)), std::nullopt);
  const uint16_t seen = home.Out(5000, AtMs(2)).value();
  EXPECT_EQ(home.In(seen, AtMs(3), "10.0.0.9"), std::nullopt);  // 10.0.0.9 has no binding
  EXPECT_EQ(home.In(5000, AtMs(3)), std::nullopt);
}

TEST(NatTest, AFragmentThatEndsBeforeTheChecksumIsDropped) {
  Home home;
  const auto first = [](const char* from, const char* to, size_t bytes) {
    return Build(Ethernet{} /
                 Ipv4{.source = from,
                      .destination = to,
                      .more_fragments = true,
                      .protocol = wire::ip_protocol::kTcp} /
                 Counting(bytes));
  };
  Frame tiny = first(kClient, kServer, 16), answer = first(kServer, kClient, 16);
  EXPECT_FALSE(home.nat().Translate(Direction::kUp, tiny, AtMs(1)));
  EXPECT_FALSE(home.nat().Translate(Direction::kDown, answer, AtMs(1)));
  Frame whole = first(kClient, kServer, 24);
  EXPECT_TRUE(home.nat().Translate(Direction::kUp, whole, AtMs(1)));
}

TEST(NatTest, HostsHaveTheirOwnPorts) {
  Home home;
  const uint16_t one = home.Out(5000, AtMs(1)).value();
  const uint16_t two = home.Out(5000, AtMs(1), "10.0.0.7").value();
  EXPECT_EQ(home.In(one, AtMs(2)), 5000);
  EXPECT_EQ(home.In(two, AtMs(2), "10.0.0.7"), 5000);
}

TEST(NatTest, RebindsAtItsInstants) {
  Home home("port:rebind=100ms,first=30ms");
  std::vector<uint16_t> seen;
  for (const int64_t ms : {0, 29, 30, 129, 130, 229, 230}) {
    seen.push_back(home.Out(5000, AtMs(ms)).value());
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[1], seen[2]);
  EXPECT_EQ(seen[2], seen[3]);
  EXPECT_NE(seen[3], seen[4]);
  EXPECT_EQ(seen[4], seen[5]);
  EXPECT_NE(seen[5], seen[6]);
  EXPECT_EQ(home.In(seen[5], AtMs(230)), std::nullopt);
  EXPECT_EQ(home.In(seen[6], AtMs(230)), 5000);
  // A frame of the direction down that is due at 229 ms, before the rebinding at 230 ms, is
  // translated by the bindings before the rebinding.
  EXPECT_EQ(home.In(seen[5], AtMs(229)), 5000);
  EXPECT_EQ(home.In(seen[6], AtMs(229)), std::nullopt);
}

TEST(NatTest, AfterALongSilenceNothingIsBound) {
  Home home("port:rebind=10ms");
  const uint16_t seen = home.Out(5000, AtMs(1)).value();
  EXPECT_EQ(home.In(seen, AtMs(86400000)), std::nullopt);
  const uint16_t later = home.Out(5000, AtMs(86400001)).value();
  EXPECT_EQ(home.In(later, AtMs(86400009)), 5000);
  EXPECT_EQ(home.In(later, AtMs(86400010)), std::nullopt);
}

TEST(NatTest, ALiveChangeRebinds) {
  Home home;
  const uint16_t seen = home.Out(5000, AtMs(1)).value();
  home.nat().Set(Direction::kUp, ParseNat("port:id=2"), AtMs(5));
  EXPECT_EQ(home.In(seen, AtMs(5)), std::nullopt);
  EXPECT_NE(home.Out(5000, AtMs(6)), seen);
  home.nat().Set(Direction::kUp, std::nullopt, AtMs(7));
  EXPECT_EQ(home.Out(5000, AtMs(8)), 5000);
  EXPECT_EQ(home.In(5000, AtMs(8)), 5000);
}

TEST(NatTest, TheSeedDrawsThePorts) {
  const auto ports = [](uint64_t seed) {
    Home home("port", seed);
    std::vector<uint16_t> seen;
    for (uint16_t port = 5000; port < 5020; ++port) seen.push_back(*home.Out(port, AtMs(1)));
    return seen;
  };
  EXPECT_EQ(ports(1), ports(1));
  EXPECT_NE(ports(1), ports(2));
}

TEST(NatTest, HasRoomForSoManyAndNoMore) {
  Home home;
  std::set<uint16_t> seen;
  for (size_t i = 0; i < NatTable::kMaxBindings; ++i) {
    seen.insert(home.Out(static_cast<uint16_t>(i), AtMs(1)).value());
  }
  EXPECT_EQ(seen.size(), NatTable::kMaxBindings);
  EXPECT_EQ(home.Out(60000, AtMs(2)), std::nullopt);
  EXPECT_TRUE(home.Out(0, AtMs(2)));
}

// A host behind the NAT recognizes an ICMP error by the port from which the host sent.
TEST(NatTest, ErrorsReachTheirSender) {
  Home home;
  Frame sent = SentFrom(5000);
  ASSERT_TRUE(home.nat().Translate(Direction::kUp, sent, AtMs(1)));
  const std::string quoted(reinterpret_cast<const char*>(sent.data()) + 14, 28);
  Frame error = Build(Ethernet{} / Ipv4{.source = kServer, .destination = kClient} /
                      Icmp{.type = 3, .code = 3} / Payload{quoted});
  ASSERT_TRUE(home.nat().Translate(Direction::kDown, error, AtMs(2)));
  EXPECT_EQ(wire::FindQuotedPorts(error)->SourcePort(error), 5000);
  EXPECT_THAT(wire::packet::Describe(error), HasSubstr("checksum good"));
}

TEST(NatTest, ErrorsAboutAnswersNameThePortThatTheServerKnows) {
  Home home;
  const uint16_t seen = home.Out(5000, AtMs(1)).value();
  const Frame answer = AnswerTo(5000);  // the answer that the client received
  const std::string quoted(reinterpret_cast<const char*>(answer.data()) + 14, 28);
  Frame error = Build(Ethernet{} / Ipv4{.source = kClient, .destination = kServer} /
                      Icmp{.type = 3, .code = 3} / Payload{quoted});
  ASSERT_TRUE(home.nat().Translate(Direction::kUp, error, AtMs(2)));
  EXPECT_EQ(wire::FindQuotedPorts(error)->DestinationPort(error), seen);
}

TEST(NatTest, GroupsAndOtherProtocolsPass) {
  Home home;
  for (const auto& sent :
       {Ethernet{.destination = "ff:ff:ff:ff:ff:ff"} / Ipv4{.destination = "10.0.0.255"} /
            Udp{.source = 698, .destination = 698},
        Ethernet{} / Arp{}, Ethernet{} / Ipv4{} / Icmp{}}) {
    const Frame before = Build(sent);
    for (const Direction direction : {Direction::kUp, Direction::kDown}) {
      Frame frame = before;
      EXPECT_TRUE(home.nat().Translate(direction, frame, AtMs(1)));
      EXPECT_EQ(frame, before);
    }
  }
  Frame none;
  EXPECT_TRUE(home.nat().Translate(Direction::kUp, none, AtMs(1)));
}

TEST(NatTest, APairHasOne) {
  Home home;
  EXPECT_THROW(home.nat().Check(Direction::kDown, ParseNat("port")), UsageError);
  EXPECT_NO_THROW(home.nat().Check(Direction::kUp, ParseNat("port:id=1")));
  EXPECT_NO_THROW(home.nat().Check(Direction::kDown, std::nullopt));
}

TEST(NatSpecTest, ReadsWhatItWrites) {
  for (const char* text : {"port", "port:rebind=5s", "port:rebind=5s,first=1s", "port:id=7"}) {
    EXPECT_EQ(FormatNat(ParseNat(text)), text);
  }
  EXPECT_THROW(ParseNat("address"), UsageError);
  EXPECT_THROW(ParseNat("port:rebind=0s"), UsageError);
  EXPECT_THROW(ParseNat("port:first=1s").Check(), UsageError);
}

// Both directions of a pair; the first direction leaves through the NAT.
class NatPipelineTest : public testing::Test {
 protected:
  PipelineOptions Options(Direction direction, bool is_class = false) {
    PipelineOptions options;
    options.nat = nat_;
    options.direction = direction;
    options.is_class = is_class;
    return options;
  }
  Frame Through(Pipeline& pipeline, const Frame& frame, Instant at) {
    pipeline.Push(frames_.Add(frame), static_cast<uint32_t>(frame.size()), at);
    Departure out[1];
    if (pipeline.Pop(pipeline.NextEvent(), out) == 0) return {};
    const auto bytes = frames_.Bytes(out[0].frame);
    return {bytes.begin(), bytes.end()};
  }

  std::shared_ptr<Nat> nat_ = std::make_shared<Nat>(1, "pair");
  test::Frames frames_;
};

TEST_F(NatPipelineTest, BothDirectionsAndTheirClassesPassIt) {
  Pipeline up(ParseSpec("nat=port delay=5ms"), frames_, Options(Direction::kUp));
  Pipeline down(ParseSpec("delay=5ms"), frames_, Options(Direction::kDown));
  Pipeline class_up(ParseSpec("delay=1ms"), frames_, Options(Direction::kUp, true));
  Pipeline class_down(Spec(), frames_, Options(Direction::kDown, true));
  const Frame seen = Through(up, SentFrom(5000), AtMs(1));
  EXPECT_EQ(SourceOf(Through(class_up, SentFrom(5000), AtMs(8))), SourceOf(seen));
  EXPECT_EQ(DestinationOf(Through(down, AnswerTo(SourceOf(seen)), AtMs(9))), 5000);
  EXPECT_EQ(DestinationOf(Through(class_down, AnswerTo(SourceOf(seen)), AtMs(20))), 5000);
}

// An answer that is in flight when the NAT rebinds arrives too late.
TEST_F(NatPipelineTest, FramesUnderWayMeetTheNewBindings) {
  Pipeline up(ParseSpec("nat=port:rebind=100ms"), frames_, Options(Direction::kUp));
  Pipeline down(ParseSpec("delay=30ms"), frames_, Options(Direction::kDown));
  up.Begin(AtMs(0));
  down.Begin(AtMs(0));
  const uint16_t seen = SourceOf(Through(up, SentFrom(5000), AtMs(1)));
  EXPECT_EQ(DestinationOf(Through(down, AnswerTo(seen), AtMs(69))), 5000);
  EXPECT_EQ(Through(down, AnswerTo(seen), AtMs(70)), Frame());
  EXPECT_EQ(down.counters().of(Fate::kNoBinding), 1U);
  EXPECT_EQ(down.counters().arrived, 2U);
  EXPECT_EQ(down.waiting(), 0U);
}

TEST_F(NatPipelineTest, RefusesWhatCannotHaveOne) {
  const Spec spec = ParseSpec("nat=port");
  EXPECT_THROW(Pipeline(spec, frames_, {}), UsageError);
  EXPECT_THROW(Pipeline(spec, frames_, Options(Direction::kUp, true)), UsageError);
  Pipeline up(spec, frames_, Options(Direction::kUp));
  Pipeline down(Spec(), frames_, Options(Direction::kDown));
  EXPECT_THROW(down.Change(spec, AtMs(1)), UsageError);
  up.Change(Spec(), AtMs(2));
  EXPECT_NO_THROW(down.Change(spec, AtMs(3)));
}

}  // namespace
}  // namespace viaduct::path
