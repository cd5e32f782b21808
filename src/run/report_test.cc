#include "run/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/plot.h"
#include "run/table.h"

namespace viaduct::run {
namespace {

using nlohmann::json;
using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::Not;

json Results(const std::string& mode) {
  return {{"scenario",
           {{"name", "a<b"},
            {"mode", mode},
            {"seed", 3},
            {"hash", "abc"},
            {"effective", "nodes: 2\n"},
            {"nodes", {"n0", "n1"}},
            {"links", json::array({{{"name", "n0-n1"}, {"nodes", {"n0", "n1"}}}})}}},
          {"environment", {{"kernel", "Linux 6"}}},
          {"convergence", {{"seconds", 2.5}, {"reachable", 2}, {"pairs", 2}}},
          {"flows", json::array({{{"name", "udp, fast"},
                                  {"kind", "udp"},
                                  {"from", "n0"},
                                  {"to", "n1"},
                                  {"sent", 10},
                                  {"received", 9},
                                  {"loss", 0.1},
                                  {"rate_bit_per_s", 1.57e9},
                                  {"packets_per_s", 1000.0},
                                  {"samples", {{0.1, 1e6}, {0.2, 2e6}}}},
                                 {{"name", "ping"}, {"kind", "ping"}, {"error", "no route"}}})},
          {"programs", json::array({{{"name", "curl"},
                                     {"node", "n0"},
                                     {"seconds", 1.5},
                                     {"ended", "ended with status 7"},
                                     {"ok", false}}})},
          {"captures", json::array()},
          {"failures", {"program 'curl' ended with status 7"}},
          {"timing", {{"p50_ns", 1200}, {"p99_ns", 8000}, {"max_ns", 310000}, {"events", 42}}},
          {"loop", {{"events", 1.0}, {"waiting", 3.0}}},
          {"verdict", "VALID"}};
}

TEST(TableTest, AlignsNumbersRightAndTextLeft) {
  EXPECT_EQ(FormatTable({{"flow", "sent"}, {"a", "10"}, {"long name", "5"}}),
            "flow       sent\n---------------\na            10\nlong name     5\n");
}

TEST(TableTest, HumanUnits) {
  EXPECT_EQ(HumanRate(1.57e9), "1.57 Gbit/s");
  EXPECT_EQ(HumanRate(64000), "64.0 kbit/s");
  EXPECT_EQ(HumanRate(999999), "1.00 Mbit/s");
  EXPECT_EQ(HumanPercent(0), "0%");
  EXPECT_EQ(HumanPercent(0.00012), "0.012%");
  EXPECT_EQ(HumanPercent(0.5), "50.0%");
}

TEST(TableTest, ShowsResultsAndVerdict) {
  EXPECT_THAT(ResultTable(Results("offload")),
              AllOf(HasSubstr("udp, fast"), HasSubstr("1.57 Gbit/s"), HasSubstr("10.0%"),
                    HasSubstr("failed: no route"), HasSubstr("FAILED: ended with status 7"),
                    HasSubstr("lateness 1.2/8.0/310.0 us over 42 events: VALID (no limit set)")));
  json late = Results("emulate");
  late["verdict"] = "VOID";
  late["timing"]["limit_ns"] = 5000;
  EXPECT_THAT(TimingLine(late), HasSubstr("VOID (limit p99 5.0 us exceeded)"));
  late.erase("timing");
  EXPECT_EQ(TimingLine(late), "");
}

TEST(TableTest, ComparesModes) {
  const std::string table = ComparisonTable({Results("traditional"), Results("offload")});
  EXPECT_THAT(table, AllOf(HasSubstr("traditional"), HasSubstr("offload"), HasSubstr("1.0 kpps"),
                           HasSubstr("(10.0% lost)"), HasSubstr("failed")));
}

TEST(ReportTest, PageIsSelfContained) {
  const std::string page = RenderHtml({Results("traditional"), Results("offload")});
  EXPECT_THAT(page, AllOf(HasSubstr("<title>a&lt;b</title>"), Not(HasSubstr("a<b")),
                          Not(HasSubstr("http://")), Not(HasSubstr("https://")),
                          Not(HasSubstr("<script src"))));
  EXPECT_THAT(page, AllOf(HasSubstr("Throughput"), HasSubstr("polyline"), HasSubstr("SHA-256 abc"),
                          HasSubstr("Linux 6"), HasSubstr("Where the simulator"),
                          HasSubstr("program &#39;curl&#39; ended with status 7")));
}

TEST(ReportTest, CsvHasALineAFlow) {
  const std::string csv = FlowsCsv({Results("offload")});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_THAT(csv, HasSubstr("offload,\"udp, fast\",udp,n0,n1,10,9,0.1,1570000000"));
  EXPECT_THAT(SamplesCsv({Results("offload")}), HasSubstr("offload,\"udp, fast\",0.1,1e+06\n"));
}

TEST(PlotTest, TicksAreRoundAndCoverTheTop) {
  EXPECT_THAT(Ticks(10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(Ticks(0.9, 3), ElementsAre(0, 0.5, 1.0));
  EXPECT_EQ(Ticks(0, 5).back(), 1);
}

TEST(PlotTest, PicturesNameTheirNodes) {
  const std::string picture = TopologyPicture({"a", "b", "c"}, {{"lan", {"a", "b", "c"}}});
  EXPECT_THAT(picture, AllOf(HasSubstr(">a<"), HasSubstr(">c<"), HasSubstr("lan")));
  EXPECT_EQ(LinePlot({{"none", {}}}, "x", "y"), "");
}

}  // namespace
}  // namespace viaduct::run
