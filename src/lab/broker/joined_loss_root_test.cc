// Tests random loss on wires over which paths are joined. Needs root.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <set>

#include "base/random.h"
#include "base/wire/test/packet_builder.h"
#include "lab/broker/test/joined_line.h"
#include "lab/broker/test/plane_comparison.h"
#include "plane/bpf/forward_program.h"

namespace viaduct::broker {
namespace {

using test::EndTap;
using test::JoinedLine;

constexpr int kSent = 2000;

class JoinedLossTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    if (const std::string why = bpf::Unavailable(); !why.empty()) GTEST_SKIP() << why;
    test::PinToOneProcessor();
  }
};

nlohmann::json WireOf(JoinedLine& line, const std::string& link, const char* direction) {
  const nlohmann::json description = line.client().Describe();
  for (const auto& wire : description["lossy_wires"]) {
    if (wire["pair"] == link && wire["direction"] == direction) return wire;
  }
  return {};
}

// The loss model of a direction of a link of the line, advanced past the frames that have arrived.
class ModelledLoss {
 public:
  ModelledLoss(JoinedLine& line, int link, const char* direction, double probability)
      : probability_(probability),
        random_(line.topology().seed, fmt::format("l{}/{} loss", link, direction)) {
    const nlohmann::json wire = WireOf(line, fmt::format("l{}", link), direction);
    for (uint64_t i = wire["arrived"]; i > 0; --i) random_.Next();
  }
  bool Loses() { return random_.Chance(probability_); }

 private:
  double probability_;
  RandomStream random_;
};

// Returns the destination ports of the UDP datagrams among the frames.
std::set<int> PortsOf(const std::vector<std::string>& frames) {
  std::set<int> ports;
  for (const std::string& text : frames) {
    const size_t udp = text.find("/ udp ");
    const size_t arrow = udp == std::string::npos ? udp : text.find("> ", udp);
    if (arrow != std::string::npos) ports.insert(std::stoi(text.substr(arrow + 2)));
  }
  return ports;
}

// Disables IPv6 on all nodes of the line, so that they send nothing but answers.
void Silence(JoinedLine& line) {
  for (int i = 0; i <= line.last(); ++i) {
    line.Run(i, "for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 > $f; done");
  }
}

TEST_F(JoinedLossTest, TheFramesAreLostThatTheModelLoses) {
  JoinedLine line(4, fib::kJoinedPlane, {{0, "loss=5%"}, {2, "loss=20%"}, {3, "loss=10%"}});
  EXPECT_FALSE(line.client().Describe().contains("engine"));
  Silence(line);
  EndTap from(line.client(), "n0"), to(line.client(), "n5");
  const uint64_t joined_before = line.Count(3, "joined");
  for (int i = 0; i < 200 && line.Count(4, "joined") == 0; ++i) {
    from.Send(line.Packet(0));
    usleep(5000);
  }
  ASSERT_GT(line.Count(4, "joined"), joined_before);
  to.Take();
  ModelledLoss first(line, 0, "up", 0.05), second(line, 2, "up", 0.2), third(line, 3, "up", 0.1);
  const uint64_t at_n2 = line.Count(2, "joined"), at_n3 = line.Count(3, "joined"),
                 at_n4 = line.Count(4, "joined");
  std::set<int> expected;
  uint64_t to_n2 = 0, to_n3 = 0, to_n4 = 0;
  for (int i = 1; i <= kSent; ++i) {
    from.Send(line.Packet(i));
    if (first.Loses()) continue;
    ++to_n2;
    if (second.Loses()) continue;
    ++to_n3;
    if (third.Loses()) continue;
    ++to_n4;
    expected.insert(2000 + i);
  }
  EXPECT_EQ(PortsOf(to.Take()), expected);
  EXPECT_EQ(line.Count(2, "joined") - at_n2, to_n2);
  EXPECT_EQ(line.Count(3, "joined") - at_n3, to_n3);
  EXPECT_EQ(line.Count(4, "joined") - at_n4, to_n4);
  const nlohmann::json wire = WireOf(line, "l2", "up");
  EXPECT_EQ(wire["spec"], "loss=20%");
  EXPECT_EQ(wire["arrived"].get<uint64_t>(),
            wire["fates"]["delivered"].get<uint64_t>() + wire["fates"]["lost"].get<uint64_t>());
  EXPECT_GT(wire["fates"]["lost"].get<uint64_t>(), to_n2 - to_n3 - 1);
  EXPECT_GT(wire["arrived_bytes"].get<uint64_t>(), wire["delivered_bytes"].get<uint64_t>());
}

// A loss of 0% must lose no frame and a loss of 100% must lose every frame, although probabilities
// are rounded.
TEST_F(JoinedLossTest, AllAndNothing) {
  JoinedLine line(2, fib::kJoinedPlane, {{1, "loss=0%"}, {2, "loss=100%"}});
  EndTap from(line.client(), "n0"), middle(line.client(), "n2"), to(line.client(), "n3");
  middle.Take();
  for (int i = 0; i < 100; ++i) from.Send(line.Packet(i));
  EXPECT_EQ(PortsOf(middle.Take()).size(), 100U);
  EXPECT_THAT(to.Take(), testing::IsEmpty());
}

// The path engine emulates a SPEC that does more than lose frames.
TEST_F(JoinedLossTest, OtherSpecsAreTheEngines) {
  JoinedLine line(2, fib::kJoinedPlane, {{1, "loss=1% delay=1us"}});
  EXPECT_TRUE(line.client().Describe().contains("engine"));
  EXPECT_THAT(line.client().Describe()["lossy_wires"], testing::IsEmpty());
}

}  // namespace
}  // namespace viaduct::broker
