#include "run/report/link_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/error.h"

namespace viaduct::run {
namespace {

using testing::HasSubstr;

std::map<std::string, LinkHistory> Read(const std::string& text) {
  std::istringstream log(text);
  return ReadLinkLog(log, "link.log");
}

TEST(LinkGraphTest, ALastLineThatAFullDiskHasCutIsLeftOut) {
  EXPECT_EQ(Read("0.000000 + 1000 p/up\n0.1").at("p/up").intervals.at(0).arrived, 1000);
  EXPECT_THROW(Read("0.1\n0.000000 + 1000 p/up\n"), UsageError);
}

TEST(LinkGraphTest, ReadsWhatArrivedLeftAndWasDropped) {
  const auto links = Read(
      "# a comment\n"
      "0.000000 + 1000 p/up\n"
      "0.400000 + 500 p/up\n"
      "0.500000 + 60 p/a class/down\n"
      "0.500000 d 1 500 queue-full p/up\n"
      "2.250000 - 1000 2.250000 p/up\n"
      "2.750000 - 1000 4.250000 p/up\n");
  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links.at("p/a class/down").intervals.at(0).arrived, 60);
  const LinkHistory& up = links.at("p/up");
  ASSERT_EQ(up.intervals.size(), 3U);
  EXPECT_EQ(up.intervals[0].arrived, 1500);
  EXPECT_EQ(up.intervals[0].dropped, 500);
  EXPECT_EQ(up.intervals[1].left, 0);
  EXPECT_EQ(up.intervals[2].left, 2000);
  EXPECT_EQ(up.intervals[2].delays, 6.5);
  EXPECT_EQ(up.intervals[2].longest_delay, 4.25);
}

TEST(LinkGraphTest, IntervalsBecomeWiderAndLoseNothing) {
  LinkHistory link;
  double packets = 0;
  for (double time = 0; time < 100000; time += 3.5) {
    link.At(time).packets += 1;
    ++packets;
  }
  EXPECT_EQ(link.width, 256);
  EXPECT_LE(link.intervals.size(), 400U);
  double sum = 0;
  for (const auto& interval : link.intervals) sum += interval.packets;
  EXPECT_EQ(sum, packets);
  EXPECT_NEAR(link.intervals[10].packets, 256 / 3.5, 1);
}

TEST(LinkGraphTest, NamesTheLineThatIsNone) {
  for (const char* line : {"nonsense", "1 x 5 p", "1 + p", "-1 + 5 p", "1 - 5 p", "1 + 5"}) {
    try {
      Read("0 + 5 p\n" + std::string(line) + "\n");
      ADD_FAILURE() << line;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("link.log:2: this line is not from a link log"));
    }
  }
}

TEST(LinkGraphTest, DrawsAPanelOfThroughputAndOneOfDelay) {
  const std::string svg =
      LinkGraph(Read("0 + 1000 a<b/up\n1 - 1000 1 a<b/up\n1 + 10 p/down\n"), "cell & link");
  EXPECT_THAT(svg, HasSubstr("xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr("a&lt;b/up: throughput"));
  EXPECT_THAT(svg, HasSubstr("a&lt;b/up: delay"));
  EXPECT_THAT(svg, HasSubstr("p/down: throughput"));
  EXPECT_THAT(svg, HasSubstr("cell &amp; link"));
  EXPECT_THAT(svg, HasSubstr("arriving"));
  EXPECT_THAT(svg, testing::Not(HasSubstr("dropped")));
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

// Draws a log without packets, for which there are no panels.
TEST(LinkGraphTest, AnEmptyLogIsAnEmptyPicture) {
  EXPECT_THAT(LinkGraph(Read(""), "nothing"), HasSubstr("nothing"));
}

}  // namespace
}  // namespace viaduct::run
