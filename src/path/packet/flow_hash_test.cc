#include "path/packet/flow_hash.h"

#include <gtest/gtest.h>

#include <set>

#include "base/wire/test/packet_builder.h"

namespace viaduct::path {
namespace {

namespace p = wire::packet;

uint64_t Hash(const p::Packet& packet, uint64_t seed = 1) {
  return HashFlow(p::Build(packet), seed);
}

TEST(HashFlow, IsTheSameForAFlowWhateverItCarries) {
  EXPECT_EQ(Hash(p::Ethernet{} / p::Ipv4{.ttl = 3, .tos = 2, .id = 7} / p::Tcp{.sequence = 1}),
            Hash(p::Ethernet{} / p::Ipv4{} / p::Tcp{.sequence = 2} / p::Payload{"more"}));
  EXPECT_EQ(Hash(p::Ethernet{} / p::Ipv6{.hop_limit = 3} / p::Udp{} / p::Payload{"a"}),
            Hash(p::Ethernet{} / p::Ipv6{.traffic_class = 3} / p::Udp{} / p::Payload{"bcd"}));
}

TEST(HashFlow, DependsOnEachOfTheFive) {
  const std::set<uint64_t> hashes = {
      Hash(p::Ethernet{} / p::Ipv4{} / p::Tcp{}),
      Hash(p::Ethernet{} / p::Ipv4{.source = "10.0.0.9"} / p::Tcp{}),
      Hash(p::Ethernet{} / p::Ipv4{.destination = "10.0.0.9"} / p::Tcp{}),
      Hash(p::Ethernet{} / p::Ipv4{.source = "10.0.0.2", .destination = "10.0.0.1"} / p::Tcp{}),
      Hash(p::Ethernet{} / p::Ipv4{} / p::Udp{.source = 1024, .destination = 80}),
      Hash(p::Ethernet{} / p::Ipv4{} / p::Tcp{.source = 1025}),
      Hash(p::Ethernet{} / p::Ipv4{} / p::Tcp{.destination = 81}),
      Hash(p::Ethernet{} / p::Ipv6{} / p::Tcp{}),
      Hash(p::Ethernet{} / p::Ipv6{.source = "2001:db8::9"} / p::Tcp{}),
      Hash(p::Ethernet{} / p::Ipv6{.destination = "2001:db9::2"} / p::Tcp{}),
      Hash(p::Ethernet{} / p::Vlan{.id = 1} / p::Ipv4{} / p::Tcp{}),
      Hash(p::Ethernet{} / p::Vlan{.id = 2} / p::Ipv4{} / p::Tcp{}),
      Hash(p::Ethernet{} / p::Arp{}),
      Hash(p::Ethernet{.source = "02:00:00:00:00:09"} / p::Arp{}),
  };
  EXPECT_EQ(hashes.size(), 14u);
}

TEST(HashFlow, FragmentsStayTogether) {
  const p::Ipv4 first{.id = 7, .more_fragments = true}, second{.id = 7, .fragment_offset = 100};
  EXPECT_EQ(Hash(p::Ethernet{} / first / p::Udp{.source = 1, .destination = 2}),
            Hash(p::Ethernet{} / second / p::Udp{.source = 3, .destination = 4}));
}

TEST(HashFlow, DependsOnTheSeed) {
  const p::Packet packet = p::Ethernet{} / p::Ipv4{} / p::Tcp{};
  EXPECT_EQ(Hash(packet, 1), Hash(packet, 1));
  EXPECT_NE(Hash(packet, 1), Hash(packet, 2));
}

TEST(HashFlow, TakesAnyBytes) {
  const std::set<uint64_t> hashes = {HashFlow({}, 1), HashFlow(p::FromHex("0203"), 1),
                                     HashFlow(p::FromHex("020000000001 020000000002 8100 00"), 1)};
  EXPECT_EQ(hashes.size(), 3u);
}

// 64,000 flows that differ in one port are hashed to 1024 queues: 62.5 flows each. Chi-square with
// 1023 degrees of freedom has mean 1023 and standard deviation 45; a value 5 standard deviations
// above occurs by chance once in 10^6.
TEST(HashFlow, SpreadsFlowsEvenly) {
  for (const uint64_t seed : {1, 2, 3}) {
    std::vector<int> queues(1024);
    auto frame = p::Build(p::Ethernet{} / p::Ipv4{} / p::Udp{});
    for (int port = 0; port < 64000; ++port) {
      wire::Store16(frame.data() + 34, static_cast<uint16_t>(port));
      ++queues[HashFlow(frame, seed) >> 54];
    }
    double chi_square = 0;
    for (const int n : queues) chi_square += (n - 62.5) * (n - 62.5) / 62.5;
    EXPECT_LT(chi_square, 1023 + 5 * 45) << seed;
    EXPECT_GT(chi_square, 1023 - 5 * 45) << seed;
  }
}

}  // namespace
}  // namespace viaduct::path
