#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result/document.h"
#include "base/result/hub.h"
#include "base/result/losses.h"
#include "base/result/run.h"
#include "base/text/json_text.h"

namespace viaduct::result {
namespace {

using nlohmann::json;
using testing::ElementsAre, testing::HasSubstr, testing::Not, testing::Pair;

constexpr int kStatus2 = 2 << 8;  // exit status 2 in the format of waitpid(2)
constexpr int kKilled = 9;        // SIGKILL

ProgramOutcome Judged(const ProgramEnd& end, bool background = false) {
  ProgramOutcome outcome;
  outcome.program.name = "curl";
  outcome.program.background = background;
  outcome.Judge(end);
  return outcome;
}

FlowResult Ping() {
  FlowResult flow;
  flow.name = "ping";
  flow.kind = "ping";
  flow.Count(10, 9);
  flow.rtt = {1.0, 2.5, 4.0, 2.0, 3.5};
  flow.samples = {{0.0, 2.5}, {0.5, 4.0}};
  return flow;
}

TEST(RecordTest, WritesWhatIsThereAndLeavesOutWhatIsNot) {
  const json written = Ping();
  EXPECT_EQ(written["rtt_ms"]["avg"], 2.5);
  EXPECT_EQ(written["sent"], 10);
  for (const char* absent : {"error", "rate_bit_per_s", "delay_ms", "retransmits"}) {
    EXPECT_FALSE(written.contains(absent)) << absent;
  }
}

TEST(RecordTest, ReadsBackWhatItWrote) {
  const FlowResult flow = json(Ping()).get<FlowResult>();
  EXPECT_EQ(flow.rtt->min, 1.0);
  EXPECT_THAT(flow.samples, ElementsAre(Pair(0.0, 2.5), Pair(0.5, 4.0)));
  EXPECT_FALSE(flow.rate);
  EXPECT_EQ(json(flow), json(Ping()));
}

TEST(RecordTest, KeysThatAreAbsentOrNullLeaveMembersAsTheyAre) {
  const auto port = json::parse(R"({"name": null, "rx_frames": 3})").get<PortResult>();
  EXPECT_EQ(port.name, "");
  EXPECT_TRUE(port.up);
  EXPECT_EQ(port.frames.rx_frames, 3u);
}

TEST(RecordTest, KeysOfAMemberStandAmongTheTypesOwn) {
  RunResult run;
  run.simulator.routes["n0"] = 4;
  const json written = run;
  EXPECT_EQ(written["routes"]["n0"], 4);
  EXPECT_FALSE(written.contains("simulator"));
  EXPECT_EQ(written.get<RunResult>().simulator.routes.at("n0"), 4u);
}

TEST(FlowTest, CountsNoPacketTwice) {
  FlowResult flow;
  flow.Count(10, 12);  // two packets arrived twice
  EXPECT_EQ(flow.loss, 0.0);
  flow.Count(0, 0);
  EXPECT_EQ(flow.loss, 0.0);
  flow.Count(8, 6);
  EXPECT_EQ(flow.loss, 0.25);
}

TEST(ProgramTest, SucceedsWithTheStatusThatIsExpected) {
  ProgramEnd end{.started = true, .wait_status = kStatus2, .expected_status = 2};
  EXPECT_TRUE(Judged(end).program.ok);
  EXPECT_EQ(Judged(end).failure, "");
  end.expected_status = 0;
  EXPECT_FALSE(Judged(end).program.ok);
  EXPECT_EQ(Judged(end).failure, "program 'curl' ended with status 2");
}

TEST(ProgramTest, SaysWhyItFailed) {
  const ProgramEnd slow{
      .started = true, .wait_status = kKilled, .timed_out = true, .timeout = Duration::Seconds(5)};
  EXPECT_EQ(Judged(slow).failure, "program 'curl' ran longer than its timeout of 5s");
  EXPECT_EQ(Judged(slow).program.ended, "was killed by signal 9 (Killed)");
  const ProgramEnd stopped{.started = true, .wait_status = 0, .stopped = true};
  EXPECT_EQ(Judged(stopped).failure, "program 'curl' was still running at the end of the run");
  EXPECT_FALSE(Judged(stopped).program.ok);
  const ProgramEnd absent{.trouble = "no such file"};
  EXPECT_EQ(Judged(absent).failure, "program 'curl': no such file");
  EXPECT_EQ(Judged(absent).program.ended, "no such file");
}

TEST(ProgramTest, InTheBackgroundItHasOnlyToStart) {
  const ProgramEnd stopped{.started = true, .wait_status = kKilled, .stopped = true};
  EXPECT_TRUE(Judged(stopped, true).program.ok);
  EXPECT_EQ(Judged(stopped, true).failure, "");
  EXPECT_EQ(Judged(stopped, true).program.ended, "stopped at the end of the run");
  const ProgramOutcome absent = Judged({.trouble = "no such file"}, true);
  EXPECT_FALSE(absent.program.ok);
  EXPECT_EQ(absent.program.Verdict(), "FAILED");
}

// A background program that exits with an unexpected status does not count as a failure, but is not
// "ok" either.
TEST(ProgramTest, InTheBackgroundItMayEndEarly) {
  ProgramOutcome daemon = Judged({.started = true, .wait_status = kStatus2}, true);
  daemon.program.seconds = 0.02;
  EXPECT_FALSE(daemon.program.ok);
  EXPECT_EQ(daemon.failure, "");
  EXPECT_EQ(daemon.program.Verdict(), "ended early");
  EXPECT_TRUE(Judged({.started = true, .wait_status = 0}, true).program.ok);
}

TEST(ProgramTest, KeepsTheLastPartOfWhatItWrote) {
  ProgramOutcome outcome;
  outcome.SetText(std::string(5000, 'a') + "end");
  EXPECT_EQ(outcome.text.size(), 5003u);
  EXPECT_EQ(outcome.program.output.size(), 4096u);
  EXPECT_TRUE(outcome.program.output.ends_with("aend"));
}

TEST(ProgramTest, ItsLastPartBeginsWithAWholeCharacter) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "\u20ac";  // three bytes for each character
  ProgramOutcome outcome;
  outcome.SetText(text);
  EXPECT_EQ(outcome.program.output.size(), 4095u);
  EXPECT_EQ(outcome.program.output.substr(0, 3), "\u20ac");
}

TEST(JsonTextTest, WhatIsNotUtf8IsReplaced) {
  ProgramOutcome outcome;
  outcome.SetText("a\xff\xfe\x80z");
  const std::string text = JsonText(json(outcome.program));
  EXPECT_EQ(json::parse(text)["output"], "a\ufffd\ufffd\ufffdz");
  EXPECT_THROW(StrictJsonText(json(outcome.program)), UsageError);
}

TEST(TimingTest, IsVoidAboveTheLimitOnly) {
  Histogram lateness;
  for (int i = 0; i < 100; ++i) lateness.Record(50);
  Timing timing = Summarize(lateness);
  EXPECT_EQ(Judge(timing, std::nullopt), Verdict::kNotJudged);
  EXPECT_FALSE(json(timing).contains("limit_ns"));
  EXPECT_EQ(Judge(timing, Duration::Nanoseconds(50)), Verdict::kValid);
  EXPECT_EQ(Judge(timing, Duration::Nanoseconds(49)), Verdict::kVoid);
  EXPECT_EQ(json(timing)["limit_ns"], 49);
  EXPECT_EQ(json(Verdict::kVoid), "VOID");
  EXPECT_EQ(json(Verdict::kNotJudged), "not judged");
}

TEST(HubResultTest, AFailureIsTheStatusOfTheCommand) {
  HubResult hub;
  EXPECT_EQ(hub.Status(), ExitStatus::kSuccess);
  hub.verdict = Verdict::kVoid;
  EXPECT_EQ(hub.Status(), ExitStatus::kVoid);
  hub.failures = {"the forwarder died"};
  EXPECT_EQ(hub.Status(), ExitStatus::kFailure);
}

TEST(HubResultTest, IsNotValidOfEventsAlone) {
  const auto limit = Duration::Nanoseconds(50);
  HubResult hub;
  hub.events.events = 100;
  hub.events.p99_ns = 50;
  hub.Judge(0, limit);
  EXPECT_EQ(hub.verdict, Verdict::kNotJudged) << "no frame came from any client";
  hub.frames = hub.events;  // a lab also measures the timing of its own links' frames
  hub.Judge(0, limit);
  EXPECT_EQ(hub.verdict, Verdict::kNotJudged);
  hub.Judge(1, limit);
  EXPECT_EQ(hub.verdict, Verdict::kValid);
  hub.events.p99_ns = 51;
  hub.Judge(0, limit);
  EXPECT_EQ(hub.verdict, Verdict::kVoid);
}

TEST(TimingTest, WhatWasLostIsLaterThanAnyLimit) {
  Timing timing;
  EXPECT_EQ(Judge(timing, Duration::Seconds(1)), Verdict::kNotJudged) << "nothing was measured";
  timing.events = 9900;
  timing.lost = 100;
  EXPECT_EQ(Judge(timing, Duration::Seconds(1)), Verdict::kValid);
  timing.lost = 101;
  EXPECT_EQ(Judge(timing, Duration::Seconds(1)), Verdict::kVoid);
}

TEST(RunTest, AVerdictNamesWhatItCovers) {
  RunResult run;
  run.scenario.mode = "emulate";
  run.simulator.timing.emplace().events = 10;
  run.Judge(std::nullopt);
  EXPECT_EQ(run.verdict, Verdict::kNotJudged);
  EXPECT_TRUE(run.judged.empty());
  run.simulator.port_timing.emplace().events = 10;
  run.simulator.port_timing->p99_ns = 29'000'000;
  run.Judge(Duration::Milliseconds(5));
  EXPECT_EQ(run.verdict, Verdict::kVoid) << "packets waited at the ports";
  EXPECT_THAT(run.judged,
              testing::ElementsAre("the simulator's events", "frames at the simulator's ports"));
  run.simulator.port_timing->p99_ns = 10;
  run.flows.emplace_back().Lose(kSendersInterfaces, 870);
  run.Judge(Duration::Milliseconds(5));
  EXPECT_EQ(run.verdict, Verdict::kVoid) << "packets were dropped before the simulator";
  run.scenario.mode = "traditional";
  run.simulator = {};
  run.Judge(Duration::Milliseconds(5));
  EXPECT_EQ(run.verdict, Verdict::kNotJudged);
  EXPECT_THAT(run.not_judged, testing::ElementsAre("ns-3's own emulation"));
  run.data_planes["n0"].forwards_in = "kernel";
  run.Judge(Duration::Milliseconds(5));
  EXPECT_THAT(run.not_judged, testing::ElementsAre("the kernel's forwarding"));
  run.scenario.mode = "emulate";
  run.data_planes["n0"].forwards_in = "simulator";
  run.Judge(std::nullopt);
  EXPECT_TRUE(run.not_judged.empty());
  run.data_planes["n1"].forwards_in = "forwarder";
  run.Judge(std::nullopt);
  EXPECT_THAT(run.not_judged, testing::ElementsAre("the time that packets spent in the forwarder"));
  run.data_planes["n2"].forwards_in = "kernel";
  run.Judge(std::nullopt);
  EXPECT_THAT(run.not_judged, testing::ElementsAre("the kernel's forwarding",
                                                   "the time that packets spent in the forwarder"));
}

TEST(RunTest, WhatADataPlaneIsTooSlowForVoidsTheRun) {
  RunResult run;
  run.scenario.mode = "offload";
  run.simulator.timing.emplace().events = 100;
  run.data_planes["n1"].drops = {{"ttl", 700}, {"no_route", 9}};
  run.Judge(Duration::Milliseconds(5));
  EXPECT_EQ(run.verdict, Verdict::kValid);
  run.data_planes["n1"].drops["ring_full"] = 800;
  run.Judge(Duration::Milliseconds(5));
  EXPECT_EQ(run.verdict, Verdict::kVoid);
}

TEST(LossesTest, EveryLossHasAPlace) {
  RunResult run;
  run.simulator.counters["n0/eth0"].frames.rx_dropped_ring_full = 3;
  run.simulator.counters["n0/eth0"].drops = {{"rx_not_for_me", 8}, {"tx_link_down", 2}};
  run.simulator.counters["n0/programs"].drops = {{"to_program_queue_full", 4}};
  run.engine.emplace().ports.emplace_back().name = "a";
  run.engine->ports[0].frames.rx_dropped_ring_full = 153545;
  run.engine->ports[0].too_long = 6;
  run.engine->pipelines.emplace_back().fates = {{"delivered", 1}, {"no_memory", 5}, {"lost", 9}};
  run.flows.emplace_back().Lose("refused ENETUNREACH", 7);
  const auto losses = LossesOf(run);
  uint64_t packets = 0;
  for (const Loss& loss : losses) packets += loss.packets;
  EXPECT_EQ(packets, 3u + 2 + 4 + 153545 + 6 + 5 + 7);
  EXPECT_EQ(OwnLosses(losses), 3u + 4 + 153545 + 5);
}

TEST(LossesTest, WhatWasLostOnceOnTheWayToAGroupCountsOnce) {
  RunResult run;
  for (const char* to : {"n2", "n3", "n4"}) {
    FlowResult& flow = run.flows.emplace_back();
    flow.from = "n0";
    flow.to = to;
    flow.group = "239.1.1.1";
    flow.Count(100, 90);
    flow.Lose("refused ENOBUFS", 4);
    flow.Lose("receiver's buffer", 1);
  }
  uint64_t packets = 0;
  for (const Loss& loss : LossesOf(run)) packets += loss.packets;
  EXPECT_EQ(packets, 4u + 3);
  EXPECT_EQ(LostElsewhere(run), 3u);
  run.flows[1].received = 80;
  EXPECT_EQ(LostElsewhere(run), 13u);
  // Gives the second flow another sender: it no longer has the multicast stream of the first flow.
  run.flows[1].from = "n1";
  EXPECT_EQ(LostElsewhere(run), 30u - 4 - 4 - 3);
  run.engine.emplace().pipelines.emplace_back().fates = {{"delivered", 81}, {"lost", 19}};
  EXPECT_EQ(LostElsewhere(run), 0u);
}

TEST(LossesTest, WhatTheSimulatorWasTooSlowToTakeUpVoidsARun) {
  RunResult run;
  run.scenario.mode = "offload";
  run.simulator.timing.emplace().events = 1000;
  run.simulator.port_timing.emplace().events = 100;
  FlowResult& flow = run.flows.emplace_back();
  flow.from = "n0";
  flow.Count(1000, 950);
  flow.Lose(kSendersInterfaces, 50);
  run.Judge(Duration::Seconds(1));
  EXPECT_EQ(run.verdict, Verdict::kValid);
  run.data_planes["n0"].drops[kUpcallQueueFull] = 50;
  run.Judge(Duration::Seconds(1));
  EXPECT_EQ(run.verdict, Verdict::kVoid);
  const auto losses = LossesOf(run);
  ASSERT_EQ(losses.size(), 1u) << "one place";
  EXPECT_EQ(losses[0].packets, 50u);
  EXPECT_EQ(LostElsewhere(run), 0u);
}

TEST(SamplesTest, MergeNeighboursWhereThereAreTooMany) {
  Samples samples;
  for (size_t i = 0; i < Samples::kMost + 1; ++i) samples.Add(1.0 * i, i % 2 == 0 ? 0 : 4);
  EXPECT_EQ(samples.merged(), 2u);
  const auto list = samples.List();
  ASSERT_EQ(list.size(), Samples::kMost / 2 + 1);
  EXPECT_EQ(list[1], std::pair(2.5, 2.0));
  EXPECT_EQ(list.back(), std::pair(1.0 * Samples::kMost, 0.0));
}

TEST(RunTest, LateLinksVoidTheRunAndFailuresFailIt) {
  RunResult run;
  run.simulator.timing.emplace().p99_ns = 10;
  run.simulator.timing->events = 1;
  run.engine.emplace().timing.p99_ns = 2000;
  run.engine->timing.events = 1;
  run.Judge(Duration::Nanoseconds(1000));
  EXPECT_EQ(run.engine->verdict, Verdict::kVoid);
  EXPECT_EQ(run.verdict, Verdict::kVoid);
  EXPECT_EQ(run.status, static_cast<int>(ExitStatus::kVoid));
  run.failures = {"flow 'x': no route"};
  run.Judge(Duration::Nanoseconds(1000));
  EXPECT_EQ(run.status, static_cast<int>(ExitStatus::kFailure));
  run.failures.clear();
  run.Judge(Duration::Nanoseconds(3000));
  EXPECT_EQ(run.status, 0);
}

TEST(RunTest, WhatFailedIsNeverValid) {
  RunResult run;
  run.simulator.timing.emplace().events = 1;
  run.engine.emplace().timing.events = 1;
  run.Judge(Duration::Nanoseconds(1000));
  EXPECT_EQ(run.verdict, Verdict::kValid);
  run.failures = {"the forwarder died 1 times and was replaced"};
  run.Judge(Duration::Nanoseconds(1000));
  EXPECT_EQ(run.verdict, Verdict::kNotJudged);
  EXPECT_TRUE(run.judged.empty());
  EXPECT_EQ(run.engine->verdict, Verdict::kNotJudged);
  EXPECT_THAT(TimingLine(*run.simulator.timing, "", run.failures), Not(HasSubstr("VALID")));
  run.simulator.timing->p99_ns = 2000;
  run.Judge(Duration::Nanoseconds(1000));
  EXPECT_EQ(run.verdict, Verdict::kVoid);
  EXPECT_THAT(run.judged, ElementsAre("the simulator's events", "packets of links with a SPEC"));
}

TEST(RunTest, AForwardersProgramIsNoKernel) {
  RunResult run;
  run.scenario.mode = "offload";
  run.data_planes["n0"].forwards_in = "forwarder";
  run.Judge(std::nullopt);
  EXPECT_THAT(run.not_judged, ElementsAre("the time that packets spent in the forwarder"));
}

TEST(DocumentTest, NamesKeysByWhereTheyAre) {
  const std::string text = DocumentResults();
  EXPECT_THAT(text, HasSubstr("| `flows[].rtt_ms.min` | ms |"));
  EXPECT_THAT(text, HasSubstr("| `counters.*.rx_frames` |"));
  EXPECT_THAT(text, HasSubstr("| `engine.pipelines[].fates` |"));
  EXPECT_THAT(text, Not(HasSubstr("``")));
}

TEST(LossesTest, SayHowManyHaveNoPlace) {
  RunResult run;
  run.flows.resize(2);
  run.flows[0].Count(100, 40);
  run.flows[1].Count(10, 12);
  EXPECT_EQ(LostElsewhere(run), 60u);
  run.flows[0].Lose("refused ENETUNREACH", 5);
  run.simulator.counters["n1/eth0"].drops["tx_link_down"] = 4;
  run.engine.emplace();
  run.engine->pipelines.resize(1);
  run.engine->pipelines[0].fates = {{"delivered", 50}, {"lost", 20}, {"no_memory", 1}};
  run.engine->pipelines[0].corrupted = 3;
  EXPECT_EQ(LostElsewhere(run), 60u - 5 - 4 - 20 - 1 - 3);
  // The drops of the link's queue may include packets that belong to no flow.
  run.engine->pipelines[0].fates["queue_full"] = 1000;
  EXPECT_EQ(LostElsewhere(run), 0u);
}

TEST(LossesTest, CountAPacketAtOnePlace) {
  RunResult run;
  run.flows.resize(1);
  run.flows[0].Count(193, 0);
  run.engine.emplace();
  run.engine->pipelines.resize(1);
  run.engine->pipelines[0].fates = {{"refused", 104}, {"bad_fcs", 7}};
  run.engine->pipelines[0].corrupted = 7;
  run.engine->ports.resize(1);
  run.engine->ports[0].frames.tx_dropped_error = 104;
  EXPECT_EQ(LostElsewhere(run), 193u - 104 - 7);
  run.engine->pipelines[0].fates["delivered"] = 20;
  run.engine->pipelines[0].corrupted += 3;
  run.flows[0].Lose("n1: corrupted", 3);
  EXPECT_EQ(LostElsewhere(run), 193u - 104 - 7 - 3);
}

}  // namespace
}  // namespace viaduct::result
