#include "run/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "base/text/text_table.h"
#include "run/report/plot.h"
#include "run/report/table.h"

namespace viaduct::run {
namespace {

using nlohmann::json;
using result::RunResult;
using testing::AllOf, testing::ElementsAre, testing::HasSubstr, testing::MatchesRegex, testing::Not;

RunResult Results(const std::string& mode) {
  const json results = {
      {"scenario",
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
                              {"start", 2},
                              {"gaps", {{{"from", 0.1}, {"to", 0.3}, {"first", 4}, {"lost", 1}}}},
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
  return results.get<RunResult>();
}

TEST(TableTest, AlignsNumbersRightAndTextLeft) {
  EXPECT_EQ(result::FormatTable({{"flow", "sent"}, {"a", "10"}, {"long name", "5"}}),
            "flow       sent\n---------------\na            10\nlong name     5\n");
}

TEST(TableTest, HeadsStandOverTheirNumbers) {
  EXPECT_EQ(result::FormatTable({{"", "slow mode", "fast"}, {"rate", "1 Mbit/s", "20 Gbit/s"}}),
            "      slow mode       fast\n--------------------------\nrate   1 Mbit/s  20 Gbit/s\n");
  EXPECT_THAT(
      result::NumberColumns({{"a", "b", "c"}, {"x", "-", "7"}, {"y", "12", "none"}, {"remark"}}),
      ElementsAre(false, true, false));
}

TEST(TableTest, HumanUnits) {
  EXPECT_EQ(HumanCount(97907), "97.9k");
  EXPECT_EQ(HumanCount(950), "950");
  EXPECT_EQ(HumanRate(1.57e9), "1.57 Gbit/s");
  EXPECT_EQ(HumanRate(64000), "64.0 kbit/s");
  EXPECT_EQ(HumanRate(999999), "1.00 Mbit/s");
  EXPECT_EQ(HumanPercent(0), "0%");
  EXPECT_EQ(HumanPercent(0.00012), "0.012%");
  EXPECT_EQ(HumanPercent(0.5), "50.0%");
}

TEST(TableTest, ShowsResultsAndVerdict) {
  EXPECT_THAT(
      ResultTable(Results("offload")),
      AllOf(HasSubstr("udp, fast"), HasSubstr("1.57 Gbit/s"), HasSubstr("10.0%"),
            HasSubstr("failed: no route"), HasSubstr("FAILED: ended with status 7"),
            HasSubstr("lateness 1.2/8.0/310.0 us over 42 events: not judged (no limit set)")));
  RunResult late = Results("emulate");
  late.Judge(Duration::Microseconds(5));
  EXPECT_THAT(ResultTable(late), HasSubstr("VOID (limit p99 5.0 us exceeded)"));
  EXPECT_THAT(ResultTable(late), HasSubstr("verdict: VOID, of the simulator's events\n"));
  late.simulator.timing.reset();
  EXPECT_THAT(ResultTable(late), Not(HasSubstr("timing")));
}

TEST(TableTest, SaysWhatWasRunAndWhichNodesSeveralLinksJoin) {
  RunResult run = Results("offload");
  run.scenario.duration = 0.5;
  EXPECT_THAT(ResultTable(run), HasSubstr("\nrun: 2 nodes, 1 link, seed 3, 0.5 s of traffic\n"));
  run.scenario.mode = "simulate";
  EXPECT_THAT(ResultTable(run), HasSubstr("traffic; virtual time: no lateness\n"));
  // Adds two links that join n0 and n1, one in each order of the nodes. The links of three nodes
  // must not count as links between two nodes.
  const auto join = [&run](const std::vector<std::string>& nodes) {
    run.scenario.links.emplace_back().nodes = nodes;
  };
  run.scenario.links.clear();
  join({"n0", "n1"});
  join({"n1", "n0"});
  join({"n0", "n1", "n2"});
  join({"n0", "n1", "n2"});
  EXPECT_THAT(ResultTable(run), HasSubstr("4 links (n0 and n1 have 2 between them), seed 3"));
  run.scenario.links.clear();
  for (const char* other : {"n1", "n2", "n3", "n4", "n5"}) {
    for (int i = 0; i < 3; ++i) join({"n0", other});
  }
  EXPECT_THAT(ResultTable(run),
              HasSubstr("15 links (n0 and n1 have 3, n0 and n2 have 3, n0 and n3 "
                        "have 3 between them; 2 more pairs have parallel links), seed 3"));
}

TEST(TableTest, ShowsTheReadingOfRoutesIfItTakesMuchTime) {
  RunResult run = Results("offload");
  run.simulator.route_polls = {.polls = 100, .seconds = 0.2, .interval = 0.1};
  EXPECT_THAT(ResultTable(run), Not(HasSubstr("routes read")));
  run.simulator.route_polls = {.polls = 50, .seconds = 2, .interval = 0.8};
  EXPECT_THAT(ResultTable(run), HasSubstr("routes read 50 times, 40.000 ms each, every 0.80 s\n"));
  run.simulator.route_polls->interval = 2;
  run.Judge(std::nullopt);
  EXPECT_THAT(ResultTable(run), AllOf(HasSubstr("every 2.00 s: VOID (limit 1 s exceeded)"),
                                      HasSubstr("verdict: VOID, of the reading of routes")));
}

TEST(TableTest, LossesOfTheStacksHavePlaces) {
  RunResult run = Results("emulate");
  run.neighbour_discards = 12;
  run.simulator.counters["n1/stack"].drops["no_route"] = 3;
  run.flows[0].Lose("n1: ttl_expired", 2);
  EXPECT_THAT(
      ResultTable(run),
      AllOf(HasSubstr("lost at kernels' neighbour tables: 12 packets (too many packets waited"),
            HasSubstr("lost at n1/stack: 3 packets (no_route)\n"),
            HasSubstr(": 2 packets (n1: ttl_expired)\n")));
}

TEST(TableTest, SaysWhatNoSocketCouldCarryAndWhatKernelsRefused) {
  RunResult results = Results("offload");
  results.simulator.unsupported = {"n1 eth0: IP protocol 2: refused"};
  results.simulator.exceeded = {"1560 neighbours"};
  results.simulator.refused = {"n2: 1 of 3 routes refused: 10.9.0.0/16 dev eth0: no"};
  EXPECT_THAT(ResultTable(results),
              AllOf(HasSubstr("not supported: n1 eth0: IP protocol 2: refused\n"),
                    HasSubstr("limit: 1560 neighbours\n"),
                    HasSubstr("refused: n2: 1 of 3 routes refused: 10.9.0.0/16 dev eth0: no\n")));
}

TEST(TableTest, ComparesModes) {
  const std::string table = ComparisonTable({Results("traditional"), Results("offload")});
  EXPECT_THAT(table, AllOf(HasSubstr("traditional"), HasSubstr("offload"), HasSubstr("1.0 kpps"),
                           HasSubstr("(10.0% lost)"), HasSubstr("failed")));
}

TEST(TableTest, ExplainsTheLossOfEachMode) {
  RunResult emulate = Results("emulate"), offload = Results("offload"), none = Results("simulate");
  emulate.simulator.counters["n0/eth0"].drops["rx_queue_full"] = 7;
  emulate.flows[0].cut = true;
  offload.flows[0].Lose("refused ENETUNREACH", 4);
  offload.flows[0].not_offered = 3;
  offload.engine.emplace();
  offload.engine->pipelines.resize(2);
  for (auto& pipeline : offload.engine->pipelines) {
    pipeline.arrived = 5;
    pipeline.fates = {{"delivered", 4}, {"lost", 1}};
  }
  none.flows[0].Count(10, 10);
  const std::string table = ComparisonTable({none, emulate, offload});
  EXPECT_THAT(
      table,
      AllOf(HasSubstr("\nemulate: lost at n0/eth0: 7 packets (rx_queue_full)\n"),
            HasSubstr("\nemulate: flow 'udp, fast': some packets had not arrived"),
            HasSubstr("\noffload: lost at flow 'udp, fast': 4 packets (refused ENETUNREACH)"),
            HasSubstr("\noffload: flow 'udp, fast': the sender sent 3 packets too few"),
            HasSubstr("\noffload: links: 10 packets arrived, 8 delivered, 2 lost\n")));
  EXPECT_THAT(table, Not(HasSubstr("simulate: ")));
  offload.flows[0].Count(100, 50);
  none.flows[0].Count(10, 7);
  EXPECT_THAT(
      ComparisonTable({none, offload}),
      AllOf(HasSubstr("\noffload: lost elsewhere: at least 44 packets of flows, at places where "
                      "there is no counter, such as a next hop that does not answer\n"),
            HasSubstr("\nsimulate: lost elsewhere: at least 3 packets of flows, at places where "
                      "the simulator has no counter\n")));
}

TEST(TableTest, SaysWhatAModeDoesNotReport) {
  RunResult traditional = Results("traditional");
  traditional.simulator.timing.reset();
  traditional.Judge(std::nullopt);
  const std::string table = ComparisonTable({traditional, Results("offload")});
  EXPECT_THAT(table, AllOf(HasSubstr("not judged"), HasSubstr("1.2 us")));
  EXPECT_THAT(RenderHtml({traditional}), HasSubstr("ns-3 does not report lateness"));
  RunResult simulate = Results("simulate");
  simulate.simulator.timing.reset();
  EXPECT_THAT(ComparisonTable({simulate, simulate}), Not(HasSubstr("verdict\n")));
}

TEST(ReportTest, NamesPairsThatDoNotReach) {
  RunResult run = Results("offload");
  EXPECT_THAT(RenderHtml({run}), HasSubstr("<td>none</td>"));
  run.convergence.unreachable = {{"n0", "n1"}, {"n1", "n0"}};
  EXPECT_THAT(RenderHtml({run}), HasSubstr("n0-&gt;n1, n1-&gt;n0"));
}

TEST(ReportTest, PictureHasABarAModeAndItsValue) {
  const std::string picture = ResultPicture({Results("traditional"), Results("offload")});
  EXPECT_THAT(picture, AllOf(HasSubstr("xmlns="), HasSubstr(">traditional<"),
                             HasSubstr(">offload<"), HasSubstr("1k packets/s, 10.0% lost"),
                             HasSubstr(">failed<"), HasSubstr("a&lt;b"), Not(HasSubstr("a<b"))));
}

TEST(ReportTest, PageIsSelfContained) {
  const std::string page = RenderHtml({Results("traditional"), Results("offload")});
  EXPECT_THAT(page, AllOf(HasSubstr("<title>a&lt;b</title>"), Not(HasSubstr("a<b")),
                          Not(HasSubstr(" src=")), Not(HasSubstr("href=\"http")),
                          Not(HasSubstr("@import")), Not(HasSubstr("url("))));
  EXPECT_THAT(
      page, AllOf(HasSubstr("Flows over time"), HasSubstr("id=\"data\""), HasSubstr("SHA-256 abc"),
                  HasSubstr("Linux 6"), HasSubstr("How the simulator spent its time"),
                  HasSubstr("program &#39;curl&#39; ended with status 7")));
}

TEST(ReportTest, CsvHasALineAFlow) {
  const std::string csv = FlowsCsv({Results("offload")});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_THAT(csv, HasSubstr("offload,\"udp, fast\",udp,n0,n1,10,9,0.1,1570000000"));
  EXPECT_THAT(SamplesCsv({Results("offload")}),
              HasSubstr("offload,\"udp, fast\",0.1,2.1,,1e+06\n"));
}

TEST(ReportTest, GapsAreInRunTime) {
  EXPECT_THAT(GapsCsv({Results("offload")}), HasSubstr("offload,\"udp, fast\",2.1,2.3,4,1\n"));
}

TEST(ReportTest, EveryColumnHasItsUnit) {
  for (const std::string& csv : {FlowsCsv({}), SamplesCsv({}), GapsCsv({})}) {
    std::istringstream head(csv);
    for (std::string column; std::getline(head, column, ',');) {
      EXPECT_THAT(column,
                  MatchesRegex("(mode|flow|kind|from|to|error\n?)|.*(_s|_ms|_share|_packets|"
                               "_number|_segments|_bit_per_s|_per_s)\n?"));
    }
  }
}

TEST(ReportTest, SaysWhenFlowsRecovered) {
  RunResult run = Results("offload");
  EXPECT_THAT(RenderHtml({run}), Not(HasSubstr("Events and recovery")));
  run.reconvergence = {{"n0-n1", "down", 5, 2.5, {{"ping", 31, 3.1, 3.2}, {"udp", 1, 0.5, {}}}},
                       {"n0-n1", "up", 15, {}, {}}};
  EXPECT_THAT(RenderHtml({run}),
              AllOf(HasSubstr("<td>+2.500 s</td><td>ping</td>"), HasSubstr("+3.200 s"),
                    HasSubstr("not before the next event"), HasSubstr("<td>none</td>")));
}

TEST(ReportTest, LinksToFilesThatAreThere) {
  const std::filesystem::path folder = testing::TempDir() + "report-links";
  std::filesystem::create_directories(folder / "programs");
  WriteFile(folder / "programs/curl.txt", "x");
  WriteFile(folder / "a.pcap", "x");
  RunResult run = Results("offload");
  run.simulator.captures = {{"a", (folder / "a.pcap").string(), 7, 0, {}, ""},
                            {"b", "/elsewhere/b.pcap", 7, 2, 3, "disk full"}};
  EXPECT_THAT(RenderHtml({run}, folder.string()),
              AllOf(HasSubstr("<a href=\"a.pcap\">"), HasSubstr("href=\"programs/curl.txt\""),
                    HasSubstr("/elsewhere/b.pcap; 7 frames, 2 missing, 3 larger than the MTU or "
                              "without a checksum: disk full"),
                    Not(HasSubstr("href=\"/elsewhere"))));
  std::filesystem::remove_all(folder);
}

TEST(ReportTest, DataCannotEndItsElement) {
  RunResult run = Results("offload");
  run.scenario.effective = "</script><script>alert(1)</script><!--";
  const std::string page = RenderHtml({run});
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("<!--"))));
}

TEST(PlotTest, TicksAreRoundAndCoverTheTop) {
  EXPECT_THAT(Ticks(10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(Ticks(0.9, 3), ElementsAre(0, 0.5, 1.0));
  EXPECT_EQ(Ticks(0, 5).back(), 1);
}

TEST(PlotTest, LogTicksCoverBothEnds) {
  EXPECT_THAT(LogTicks(30, 4e4), ElementsAre(10, 100, 1000, 10000, 100000));
  EXPECT_THAT(LogTicks(3, 4), ElementsAre(2, 5));
  EXPECT_THAT(LogTicks(1, 10), ElementsAre(1, 2, 5, 10));
  EXPECT_THAT(LogTicks(7, 7), ElementsAre(5, 10));
  EXPECT_THAT(LogTicks(1, 1), ElementsAre(1, 2));
}

}  // namespace
}  // namespace viaduct::run
