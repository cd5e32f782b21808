#include "sys/network/filter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/wire/test/packet_builder.h"

namespace viaduct::sys {
namespace {

TEST(PacketFilter, EmptyPassesEverything) {
  EXPECT_TRUE(PacketFilter::Compile("").PassesEverything());
  EXPECT_TRUE(PacketFilter::Compile("  ").PassesEverything());
}

// Checks the three instructions of "ether proto": load half word, compare, return.
TEST(PacketFilter, CompilesForEthernet) {
  const PacketFilter filter = PacketFilter::Compile("ether proto 0x88b5");
  const auto& code = filter.instructions();
  ASSERT_EQ(code.size(), 4U);
  EXPECT_EQ(code[0].code, BPF_LD | BPF_H | BPF_ABS);
  EXPECT_EQ(code[0].k, 12U);  // the offset of the EtherType
  EXPECT_EQ(code[1].code, BPF_JMP | BPF_JEQ | BPF_K);
  EXPECT_EQ(code[1].k, 0x88B5U);
  EXPECT_GT(code[2].k, 0U);
  EXPECT_EQ(code[3].k, 0U);
  const sock_fprog program = filter.Program();
  EXPECT_EQ(program.len, 4);
  EXPECT_EQ(program.filter, code.data());
}

TEST(PacketFilter, RunsWithoutASocket) {
  using namespace wire::packet;
  const PacketFilter filter = PacketFilter::Compile("udp dst port 53 or arp");
  EXPECT_TRUE(filter.Matches(wire::packet::Build(Ethernet{} / Ipv4{} / Udp{1024, 53})));
  EXPECT_FALSE(filter.Matches(wire::packet::Build(Ethernet{} / Ipv4{} / Udp{53, 1024})));
  EXPECT_TRUE(filter.Matches(wire::packet::Build(Ethernet{} / Arp{})));
  EXPECT_FALSE(filter.Matches({}));
  EXPECT_TRUE(PacketFilter::Compile("").Matches({}));
}

TEST(PacketFilter, CarriesLibpcapsWords) {
  try {
    PacketFilter::Compile("udp prot 698");
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("packet filter \"udp prot 698\": "));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("syntax"));
  }
}

// A path first checks its filters before it sets anything up, and uses them later.
TEST(PacketFilter, ALongOneIsCompiledOnce) {
  std::string hosts = "host 10.0.0.0";
  for (int i = 1; i < 600; ++i) hosts += fmt::format(" or host 10.0.{}.{}", i / 250, i % 250);
  const Instant begin = MonotonicClock::Now();
  const PacketFilter first = PacketFilter::Compile(hosts);
  const Instant middle = MonotonicClock::Now();
  const PacketFilter second = PacketFilter::Compile(hosts);
  const Instant end = MonotonicClock::Now();
  ASSERT_EQ(first.instructions().size(), second.instructions().size());
  EXPECT_LT((end - middle) * 10, middle - begin);
}

}  // namespace
}  // namespace viaduct::sys
