#include "cli/path_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "path/spec/spec.h"

namespace viaduct::cli {
namespace {

using testing::ElementsAre, testing::HasSubstr;

std::string Refusal(const OrderedArguments& arguments) {
  try {
    PairsFromArguments(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PathArgumentsTest, TwoInterfaces) {
  const auto config = PairsFromArguments(
      {{"between", "a"}, {"between", "b"}, {"up", "delay=10ms"}, {"down", "loss=1%"}});
  EXPECT_THAT(config.ports, ElementsAre("a", "b"));
  ASSERT_EQ(config.pairs.size(), 1u);
  EXPECT_EQ(config.pairs[0].name, "a-b");
  EXPECT_EQ(config.pairs[0].up, path::ParseSpec("delay=10ms"));
  EXPECT_EQ(config.pairs[0].down, path::ParseSpec("loss=1%"));
}

TEST(PathArgumentsTest, APairThatIsThereAlreadyComesFirst) {
  engine::Config config;
  config.ports = {"a", "b"};
  config.pairs = {{"own", {0, {}, {}}, {1, {}, {}}, {}, {}, {}}};
  config = PairsFromArguments(
      {{"up", "delay=1ms"}, {"down", "delay=2ms"}, {"class", "dns=udp port 53"}, {"up", "loss=5%"}},
      config);
  ASSERT_EQ(config.pairs.size(), 1u);
  EXPECT_EQ(config.pairs[0].up, path::ParseSpec("delay=1ms"));
  EXPECT_EQ(config.pairs[0].down, path::ParseSpec("delay=2ms"));
  ASSERT_EQ(config.pairs[0].classes.size(), 1u);
  EXPECT_EQ(config.pairs[0].classes[0].up, path::ParseSpec("loss=5%"));
}

TEST(PathArgumentsTest, SpecsBelongToThePairBeforeThem) {
  const auto config = PairsFromArguments({{"up", "delay=1ms"},
                                          {"pair", "a:vlan=10,a:vlan=20"},
                                          {"pair", "far=a:mpls=100,b:vlan=5"},
                                          {"up", "delay=2ms"},
                                          {"down", "delay=3ms"}});
  EXPECT_THAT(config.ports, ElementsAre("a", "b"));
  ASSERT_EQ(config.pairs.size(), 2u);
  EXPECT_EQ(config.pairs[0].name, "a:vlan=10-a:vlan=20");
  EXPECT_EQ(config.pairs[0].a.vlan, 10);
  EXPECT_EQ(config.pairs[0].b.port, 0u);
  EXPECT_EQ(config.pairs[0].up, path::ParseSpec("delay=1ms")) << "the default";
  EXPECT_TRUE(config.pairs[0].down.IsPlainWire());
  EXPECT_EQ(config.pairs[1].name, "far");
  EXPECT_EQ(config.pairs[1].a.mpls, 100u);
  EXPECT_EQ(config.pairs[1].up, path::ParseSpec("delay=2ms"));
  EXPECT_EQ(config.pairs[1].down, path::ParseSpec("delay=3ms"));
}

TEST(PathArgumentsTest, ClassesBelongToThePairBeforeThem) {
  const auto config = PairsFromArguments({{"between", "a"},
                                          {"between", "b"},
                                          {"up", "delay=1ms"},
                                          {"class", "dns=udp port 53"},
                                          {"up", "loss=5%"},
                                          {"class", "web=tcp port 80 and (ip[0] & 0xf) = 5"},
                                          {"down", "rate=1Mbit"}});
  const engine::Pair& pair = config.pairs.at(0);
  EXPECT_EQ(pair.up, path::ParseSpec("delay=1ms"));
  ASSERT_EQ(pair.classes.size(), 2u);
  EXPECT_EQ(pair.classes[0].name, "dns");
  EXPECT_EQ(pair.classes[0].up, path::ParseSpec("loss=5%"));
  EXPECT_TRUE(pair.classes[0].down.IsPlainWire());
  EXPECT_EQ(pair.classes[1].filter, "tcp port 80 and (ip[0] & 0xf) = 5");
  EXPECT_EQ(pair.classes[1].down, path::ParseSpec("rate=1Mbit"));
}

TEST(PathArgumentsTest, MistakesAreNamed) {
  EXPECT_THAT(Refusal({}), HasSubstr("no path"));
  EXPECT_THAT(Refusal({{"between", "a"}}), HasSubstr("two interfaces"));
  EXPECT_THAT(Refusal({{"between", "a"}, {"up", ""}}), HasSubstr("two interfaces"));
  EXPECT_THAT(Refusal({{"pair", "a"}}), HasSubstr("--pair a: a pair consists of two ends"));
  EXPECT_THAT(Refusal({{"pair", "a,b,c"}}), HasSubstr("two ends"));
  EXPECT_THAT(Refusal({{"pair", "a:vlan=4095,b"}}), HasSubstr("a:vlan=4095"));
  EXPECT_THAT(Refusal({{"pair", "a:mpls=3,b"}}), HasSubstr("a:mpls=3"));
  EXPECT_THAT(Refusal({{"pair", "a:vxlan=3,b"}}), HasSubstr("not an end of a pair"));
  EXPECT_THAT(Refusal({{"pair", "a,averyverylongname"}}), HasSubstr("not a valid interface name"));
  EXPECT_THAT(Refusal({{"class", "x=ip"}}), HasSubstr("belongs to a pair"));
  const std::pair<std::string, std::string> pair = {"pair", "a,b"};
  EXPECT_THAT(Refusal({pair, {"class", "x"}}), HasSubstr("NAME=FILTER"));
  EXPECT_THAT(Refusal({pair, {"up", "loss=120%"}}), HasSubstr("--up \"loss=120%\""));
  EXPECT_THAT(Refusal({pair, {"up", "loss=1%"}, {"up", "loss=2%"}}),
              HasSubstr("already specified"));
}

}  // namespace
}  // namespace viaduct::cli
