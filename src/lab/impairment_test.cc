#include "lab/impairment.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace viaduct::lab {
namespace {

using ::testing::HasSubstr;

Impairment From(const char* spec) {
  return Impairment::FromSpec(path::ParseSpec(spec), 1500, "link a-b");
}

template <class E>
std::string ErrorOf(const char* spec) {
  try {
    From(spec);
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

TEST(Impairment, RateIsATokenBucketWithAQueue) {
  const Impairment impairment = From("rate=10Mbit queue=50p");
  EXPECT_FALSE(impairment.netem);
  ASSERT_TRUE(impairment.token_bucket);
  EXPECT_EQ(impairment.token_bucket->rate, 10000000);
  // The burst is two frames, because 250 us at this rate are only 312 bytes.
  EXPECT_EQ(impairment.token_bucket->burst, 2 * 1514);
  EXPECT_EQ(impairment.queue_packets, 50U);
}

TEST(Impairment, QueueUnits) {
  EXPECT_EQ(From("rate=10Mbit").queue_packets, 100U);
  EXPECT_FALSE(From("rate=10Mbit queue=64kB").queue_packets);
  EXPECT_EQ(From("rate=10Mbit queue=64kB").token_bucket->limit, 64000);
  EXPECT_EQ(From("rate=10Mbit queue=20ms").token_bucket->limit, 25000);
  EXPECT_EQ(From("rate=100Gbit queue=10s").token_bucket->limit, 125000000000);
}

TEST(Impairment, BurstGrowsWithTheRate) {
  EXPECT_EQ(From("rate=1Gbit").token_bucket->burst, 31250);
}

TEST(Impairment, TheRestIsNetem) {
  const Impairment impairment = From("delay=10ms jitter=1ms loss=1% dup=0.5% reorder=2%");
  EXPECT_FALSE(impairment.token_bucket);
  ASSERT_TRUE(impairment.netem);
  EXPECT_EQ(impairment.netem->delay, Duration::Milliseconds(10));
  EXPECT_EQ(impairment.netem->jitter, Duration::Milliseconds(1));
  EXPECT_DOUBLE_EQ(impairment.netem->loss, 0.01);
  EXPECT_DOUBLE_EQ(impairment.netem->duplicate, 0.005);
  EXPECT_DOUBLE_EQ(impairment.netem->reorder, 0.02);
}

TEST(Impairment, RefusesWhatHasNoMeaning) {
  EXPECT_THAT(ErrorOf<UsageError>("aqm=codel rate=1Mbit queue=3p"), HasSubstr("not both"));
}

TEST(Impairment, RefusesWhatNoQdiscDoes) {
  EXPECT_THAT(ErrorOf<EnvironmentError>("ber=1e-9"), HasSubstr("link a-b: ber="));
  EXPECT_THAT(ErrorOf<EnvironmentError>("rate=1Mbit aqm=red"), HasSubstr("aqm=red"));
  EXPECT_THAT(ErrorOf<EnvironmentError>("delay=1ms loss=1%:corr=25%"),
              HasSubstr("link a-b: loss=1%:corr=25% cannot be emulated"));
  EXPECT_THAT(ErrorOf<EnvironmentError>("rate=1Mbit aqm=codel:ecn"), HasSubstr("aqm=codel:ecn"));
}

TEST(Impairment, PhysicalInterfacesHaveAQdisc) {
  Topology topology;
  topology.nodes.resize(1);
  topology.nodes[0].name = "n0";
  topology.nodes[0].interfaces.resize(2);
  topology.nodes[0].interfaces[0].name = "eth0";
  topology.nodes[0].interfaces[1].name = topology.nodes[0].interfaces[1].physical.emplace("enp1s0");
  EXPECT_FALSE(HasQdisc(topology, {"n0", "eth0"}));
  EXPECT_TRUE(HasQdisc(topology, {"n0", "enp1s0"}));
}

}  // namespace
}  // namespace viaduct::lab
