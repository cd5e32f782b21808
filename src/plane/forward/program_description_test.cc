#include "plane/forward/program_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "plane/forward/hub.h"

namespace viaduct::forward {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Full {
  static constexpr std::array<std::string_view, 2> kOutcomes = {"forwarded", "lost"};
  static constexpr std::array<std::string_view, 1> kLosses = {"lost"};
  static constexpr std::string_view kFilter = "ether dst {mac} or {own}";
  static constexpr bool kPromiscuous = false;
  static constexpr uint16_t kControlType = 0x88b5;
  static constexpr size_t kTableWords = 5, kOverhead = 30;
  explicit Full(const Node&) {}
  size_t Take(const Frame& frame, Outbox&) { return frame.port; }
  void Tick(Instant, Outbox&) {}
};

TEST(ProgramKindTest, HasWhatTheClassHas) {
  constexpr ProgramKind kFull = KindOf<Full>("full");
  EXPECT_TRUE(kFull.ticks);
  const ProgramDescription full = DescribeProgram(kFull, "full");
  EXPECT_EQ(full.name, "full");
  EXPECT_THAT(full.outcomes, ElementsAre("forwarded", "lost"));
  EXPECT_THAT(full.losses, ElementsAre("lost"));
  EXPECT_FALSE(full.is_promiscuous);
  EXPECT_EQ(full.control_type, 0x88b5);
  EXPECT_EQ(full.table_words, 5u);
  EXPECT_EQ(full.overhead, 30u);
  const ProgramDescription hub = DescribeKnown("hub");
  EXPECT_TRUE(hub.is_promiscuous);
  EXPECT_EQ(hub.control_type + hub.table_words + hub.overhead + hub.losses.size(), 0u);
}

TEST(ProgramKindTest, AnOutcomeThatIsNoneIsAnError) {
  struct Nowhere final : Carrier {
    void Transmit(size_t, std::span<const wire::ConstBytes>) override {}
    void SendAsOwn(wire::Family, wire::ConstBytes, uint32_t) override {}
    void SendIcmpv6(const wire::IpAddress&, wire::ConstBytes, uint32_t) override {}
    void PassUp(size_t, wire::ConstBytes, uint32_t) override {}
  } nowhere;
  std::vector<Word> words(Counters::WordsFor(3));
  Counters counters(words);
  Outbox outbox(3, nowhere);
  const auto program = KindOf<Full>("full").make({});
  std::vector<std::byte> bytes(60);
  const std::array lost{Frame{1, bytes, {}}}, none{Frame{2, bytes, {}}};
  program->TakeBurst(lost, outbox, counters);
  EXPECT_EQ(Counters::Read(words, 1).frames[1], 1u);
  EXPECT_THROW(program->TakeBurst(none, outbox, counters), std::out_of_range);
  EXPECT_THROW(outbox.Send(3, bytes), std::out_of_range);
}

TEST(ProgramDescriptionTest, FilterLeavesTheProtocolsFramesOut) {
  const wire::MacAddress mac{{2, 0, 0, 0, 0, 1}};
  ProgramDescription description = DescribeProgram(KindOf<Full>("full"), "full");
  EXPECT_EQ(description.FilterOf(mac, "dst host 10.0.0.1"),
            "(ether dst 02:00:00:00:00:01 or dst host 10.0.0.1) and (not ether proto 0x88b5)");
  description.filter = "udp";
  EXPECT_EQ(description.FilterOf(mac, ""),
            "(udp) and (ether dst 02:00:00:00:00:01 or ether multicast) and (not ether proto "
            "0x88b5)");
  description.filter = "";
  description.is_promiscuous = true;
  EXPECT_EQ(description.FilterOf(mac, ""), "not ether proto 0x88b5");
  description.control_type = 0;
  EXPECT_EQ(description.FilterOf(mac, ""), "");
}

std::string Refusal(void (*change)(ProgramDescription&)) {
  ProgramDescription description = DescribeProgram(KindOf<Full>("full"), "full");
  change(description);
  try {
    description.Check();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ProgramDescriptionTest, WhatContradictsItselfIsRefused) {
  using D = ProgramDescription;
  EXPECT_EQ(Refusal([](D&) {}), "");
  EXPECT_THAT(Refusal([](D& d) { d.outcomes = {}; }), HasSubstr("must be \"forwarded\""));
  EXPECT_THAT(Refusal([](D& d) { d.outcomes = {"lost"}; }), HasSubstr("must be \"forwarded\""));
  EXPECT_THAT(Refusal([](D& d) { d.outcomes.resize(D::kMaxOutcomes + 1); }),
              HasSubstr("outcomes, but at most"));
  for (const char* name : {"", "Lost", "a b", "\033[31m", "lost\n", "forwarded", "not-sent"}) {
    static std::string added;
    added = name;
    EXPECT_NE(Refusal([](D& d) { d.outcomes.push_back(added); }), "") << name;
  }
  EXPECT_THAT(Refusal([](D& d) { d.losses = {"forwarded"}; }), HasSubstr("cannot be a loss"));
  EXPECT_THAT(Refusal([](D& d) { d.control_type = 0x0800; }), HasSubstr("frames of hosts"));
  EXPECT_THAT(Refusal([](D& d) { d.losses = {"gone"}; }), HasSubstr("the loss \"gone\""));
  EXPECT_THAT(Refusal([](D& d) { d.filter.resize(D::kMaxFilter + 1, 'x'); }), HasSubstr("filter"));
  EXPECT_THAT(Refusal([](D& d) { d.table_words = D::kMaxTableWords + 1; }), HasSubstr("words"));
  EXPECT_THAT(Refusal([](D& d) { d.overhead = D::kMaxOverhead + 1; }), HasSubstr("overhead"));
  EXPECT_THAT(Refusal([](D& d) { d.control_type = 0x5ff; }), HasSubstr("is not an EtherType"));
}

TEST(ProgramDescriptionTest, KnownNames) {
  EXPECT_EQ(&LoadProgram("bridge"), FindProgram("bridge"));
  EXPECT_EQ(&LoadProgram("hub"), FindProgram("hub"));
  EXPECT_THROW(LoadProgram("router"), UsageError);  // refused: a node of this program needs routes
  EXPECT_THROW(LoadProgram("rbridge"), UsageError);
  EXPECT_THROW(LoadProgram(""), UsageError);
  EXPECT_THROW(LoadProgram("/nowhere/none.so"), UsageError);
  EXPECT_TRUE(IsProgramLibrary("libmine.so"));
  EXPECT_FALSE(IsProgramLibrary("mine.bpf.o"));
}

}  // namespace
}  // namespace viaduct::forward
