#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "run/watch/screen.h"
#include "run/watch/snapshot.h"
#include "run/watch/table.h"

namespace viaduct::watch {
namespace {

using testing::HasSubstr, testing::Not;

Snapshot OneHub(double seconds, uint64_t frames, double wait_ms) {
  result::ClientResult client;
  client.node = "n1";
  client.client = "192.0.2.7";
  client.rx_frames = frames;
  client.rx_bytes = 100 * frames;
  client.drops = {{"overload", frames / 10}};
  client.wait_ms = wait_ms;
  HubView hub;
  hub.name = "h";
  hub.state = "running";
  hub.pid = 7;
  hub.statistics.emplace();
  hub.statistics->seconds = seconds;
  hub.statistics->clients = {client};
  Snapshot snapshot;
  snapshot.hubs = {hub};
  return snapshot;
}

Snapshot OnePath(const std::string& name, uint64_t arrived, uint64_t lost) {
  result::PipelineResult link;
  link.pair = "a-b";
  link.direction = "up";
  link.arrived = arrived;
  link.arrived_bytes = 1000 * arrived;
  link.delivered_bytes = 1000 * (arrived - lost);
  link.fates = {{"delivered", arrived - lost}, {"loss", lost}};
  PathView path;
  path.name = name;
  path.state = "running";
  path.statistics.emplace();
  path.statistics->seconds = static_cast<double>(arrived) / 100;
  path.statistics->pipelines = {link};
  Snapshot snapshot;
  snapshot.paths = {path};
  return snapshot;
}

TEST(SnapshotTest, RatesAreThoseBetweenTwoSnapshots) {
  Snapshot now = OneHub(12, 3000, 2);
  SetRates(OneHub(10, 1000, 1), &now);
  ASSERT_EQ(now.hubs[0].rates.size(), 1u);
  const Rates& rates = now.hubs[0].rates[0];
  EXPECT_DOUBLE_EQ(rates.in_packets, 1000);
  EXPECT_DOUBLE_EQ(rates.in_bits, 800000);
  EXPECT_DOUBLE_EQ(rates.lost_packets, 100);
  EXPECT_DOUBLE_EQ(rates.delay_ms.value_or(-1), 2.5);  // (3000 * 2 ms - 1000 * 1 ms) / 2000

  Snapshot later = OnePath("p", 400, 40);
  SetRates(OnePath("p", 200, 20), &later);
  ASSERT_EQ(later.paths[0].rates.size(), 1u);
  EXPECT_DOUBLE_EQ(later.paths[0].rates[0].in_packets, 100);
  EXPECT_DOUBLE_EQ(later.paths[0].rates[0].out_bits, 8 * 90 * 1000);
  EXPECT_DOUBLE_EQ(later.paths[0].rates[0].lost_packets, 10);
}

TEST(SnapshotTest, AnotherOneOfTheSameNameHasNoRates) {
  Snapshot now = OneHub(12, 3000, 2), restarted = OneHub(1, 10, 2);
  Snapshot before = OneHub(10, 1000, 1);
  before.hubs[0].pid = 8;
  SetRates(before, &now);
  EXPECT_TRUE(now.hubs[0].rates.empty());
  SetRates(OneHub(10, 1000, 1), &restarted);  // the hub's time has decreased
  EXPECT_TRUE(restarted.hubs[0].rates.empty());
}

TEST(SnapshotTest, ATextSaysWhatIsThere) {
  Snapshot now = OneHub(12, 3000, 2);
  now.paths = OnePath("p", 400, 40).paths;
  now.paths.emplace_back().name = "closed";
  now.paths.back().trouble = "another user's\x1b[2J";
  SetRates(OneHub(10, 1000, 1), &now);
  const std::string text = SnapshotText(now, false);
  EXPECT_THAT(text, HasSubstr("192.0.2.7"));
  EXPECT_THAT(text, HasSubstr("300 overload"));
  EXPECT_THAT(text, HasSubstr("40 loss"));
  EXPECT_THAT(text, HasSubstr("2.500"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << "no name commands a terminal";
  EXPECT_THAT(text, Not(HasSubstr("LABS")));
}

TEST(SnapshotTest, TheBusiestComeFirstWhereThatIsAskedFor) {
  Snapshot snapshot = OneHub(12, 3000, 2);
  auto& clients = snapshot.hubs[0].statistics->clients;
  clients.push_back(clients[0]);
  clients[1].node = "busy";
  snapshot.hubs[0].rates = {Rates{.in_bits = 1}, Rates{.out_bits = 5}};
  const auto comes_first = [&](bool busiest_first) {
    const std::string text = SnapshotText(snapshot, busiest_first);
    return text.find("busy") < text.find("n1");
  };
  EXPECT_TRUE(comes_first(true));
  EXPECT_FALSE(comes_first(false));
}

TEST(MetricsTest, NoSeriesIsThereTwice) {
  Snapshot snapshot = OneHub(12, 3000, 2);
  snapshot.hubs.push_back(snapshot.hubs[0]);
  snapshot.paths = OnePath("p", 400, 40).paths;
  snapshot.paths.push_back(snapshot.paths[0]);
  const std::string text = MetricsText(snapshot);
  std::vector<std::string> series;
  for (size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos;
       start = end + 1) {
    const std::string line = text.substr(start, end - start);
    series.push_back(line[0] == '#' ? line : line.substr(0, line.rfind(' ')));
  }
  std::sort(series.begin(), series.end());
  EXPECT_EQ(std::adjacent_find(series.begin(), series.end()), series.end());
  EXPECT_THAT(text, HasSubstr("viaduct_path_packets_total{path=\"p\",pair=\"a-b\",class=\"\","
                              "direction=\"up\",fate=\"loss\"} 40\n"));
  EXPECT_THAT(text, HasSubstr("viaduct_hub_wait_seconds_sum{hub=\"h\",node=\"n1\"} 6\n"));
}

TEST(ScreenTest, TextIsClippedToTheTerminal) {
  EXPECT_EQ(Clip("one\ntwo\nthree\n", {3, 80}), "one\ntwo\nthree");
  EXPECT_EQ(Clip("one\ntwo\nthree\n", {2, 80}), "one\n... 2 more lines");
  EXPECT_EQ(Clip("abcdef\nx\n", {9, 3}), "abc\nx");
  EXPECT_EQ(Clip("\u00e4\u00f6\u00fcx\n", {9, 3}), "\u00e4\u00f6\u00fc");
  EXPECT_EQ(Clip("", {9, 3}), "");
}

}  // namespace
}  // namespace viaduct::watch
