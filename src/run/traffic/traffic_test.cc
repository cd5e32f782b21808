#include "run/traffic/traffic.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "base/error.h"
#include "path/spec/spec.h"

namespace viaduct::run {
namespace {

using result::FlowResult;
using testing::Contains, testing::ElementsAre, testing::HasSubstr, testing::Pair;

scenario::Scenario Line() {
  return scenario::Parse(
      "nodes: 3\nlinks: [{line: all}]\naddressing: {ipv6: '2001:db8::/48'}\n"
      "flows:\n  - {type: udp, from: n0, to: n2, rate: 1.5Mbit, duration: 4s}\n"
      "  - {type: tcp, from: n0, to: n1, duration: 3s}\n"
      "  - {type: ping, from: n2, to: n0, interval: 20ms, duration: 1s, size: 100}\n",
      "f.yaml");
}

TEST(TrafficTest, CommandsSayWhatTheFlowSays) {
  const scenario::Scenario line = Line();
  const FlowCommands udp = CommandsFor(line, 0, "load");
  EXPECT_THAT(udp.receiver,
              ElementsAre("load", "receive", "--port", "5001", "--linger", "1s", "--json"));
  EXPECT_THAT(udp.sender, ElementsAre("load", "send", "--to", "10.0.0.6:5001", "--size", "160",
                                      "--rate", "1.5Mbit", "--duration", "4s", "--json"));
  const FlowCommands tcp = CommandsFor(line, 1, "load");
  EXPECT_THAT(tcp.sender, testing::IsSupersetOf({"10.0.0.2", "5202", "3", "--json"}));
  EXPECT_THAT(tcp.needs, Contains(Pair("iperf3", "iperf3")));
  const FlowCommands ping = CommandsFor(line, 2, "load");
  EXPECT_TRUE(ping.receiver.empty());
  EXPECT_THAT(ping.sender,
              ElementsAre("load", "ping", "--to", "10.0.0.1", "--interval", "20ms", "--count", "50",
                          "--duration", "6s", "--size", "100", "--linger", "1s", "--json"));
}

TEST(TrafficTest, WhoForwardsAGroupJoinsItWhereItComesIn) {
  const auto receiver = [](const std::string& source) {
    const scenario::Scenario line = scenario::Parse(
        "nodes: 3\nlinks: [{line: all}]\nrouting: static\nmulticast:\n"
        "  - {node: n1, source: " +
            source +
            ", group: 239.1.1.1, from: n0-n1, to: all}\n"
            "flows: [{type: udp, from: n0, to: n1, group: 239.1.1.1}]\n",
        "f.yaml");
    return CommandsFor(line, 0, "load").receiver;
  };
  EXPECT_THAT(receiver("n0"), testing::IsSupersetOf({"--interface", "eth0"}));
  EXPECT_THAT(receiver("n2"), testing::Not(Contains("--interface"))) << "the route of others";
}

TEST(TrafficTest, WaitsAsLongAsThePathCanHoldPackets) {
  scenario::Scenario line = Line();
  for (auto& link : line.links) link.spec = path::ParseSpec("delay=500ms rate=1Mbit queue=300p");
  // The limits: the delays of two links, 0.5 s each, and the transmission of 301 packets of 12,144
  // bit on each link.
  EXPECT_THAT(CommandsFor(line, 0, "load").receiver, Contains("9.310688s"));
  EXPECT_THAT(CommandsFor(line, 2, "load").sender, Contains("17.621376s"));
}

TEST(TrafficTest, TcpBlocksKeepALowRate) {
  scenario::Scenario line = Line();
  const auto block = [&](int64_t rate) {
    line.flows[1].rate = rate;
    const std::vector<std::string> words = CommandsFor(line, 1, "load").sender;
    return *(std::find(words.begin(), words.end(), "--length") + 1);
  };
  EXPECT_EQ(block(100'000), "125");
  EXPECT_EQ(block(1), "1");
  EXPECT_EQ(block(10'000'000'000), "131072");
}

// Checks the durations in the commands; iperf3 reads only whole seconds.
TEST(TrafficTest, ProgramsReadTheTimesThatAreMeant) {
  scenario::Scenario line = Line();
  const auto word = [&](size_t flow, const std::string& option) {
    const std::vector<std::string> words = CommandsFor(line, flow, "load").sender;
    return *(std::find(words.begin(), words.end(), option) + 1);
  };
  line.flows[2].interval = Duration::Milliseconds(100);
  for (const int seconds : {1, 86400, 1'000'000, 31'536'000}) {
    line.flows[1].duration = line.flows[2].duration = Duration::Seconds(seconds);
    EXPECT_EQ(word(1, "--time"), std::to_string(seconds));
    EXPECT_EQ(word(2, "--count"), std::to_string(10 * seconds));
  }
}

TEST(TrafficTest, TheIntervalsOfADayAreFew) {
  scenario::Scenario line = Line();
  EXPECT_THAT(CommandsFor(line, 1, "load").receiver, Contains("0.2"));
  line.flows[1].duration = Duration::Seconds(86400);
  EXPECT_THAT(CommandsFor(line, 1, "load").receiver, Contains("17.28"));
}

TEST(TrafficTest, Ipv6AddressesAreBracketed) {
  scenario::Scenario line = Line();
  for (auto& link : line.links)
    link.addresses.erase(link.addresses.begin(), link.addresses.begin() + 2);
  EXPECT_THAT(CommandsFor(line, 0, "load").sender, Contains("[2001:db8:0:1::2]:5001"));
}

TEST(TrafficTest, EndpointsCountANodesLinks) {
  const auto endpoints = EndpointsOf(Line(), "n1-n2");
  ASSERT_EQ(endpoints.size(), 2u);
  EXPECT_EQ(endpoints[0].node + endpoints[0].interface, "n1eth1");
  EXPECT_EQ(endpoints[1].node + endpoints[1].interface, "n2eth0");
  EXPECT_THROW(EndpointsOf(Line(), "n0-n2"), UsageError);
}

// Returns a UDP flow with a duration of `seconds`.
scenario::Flow Udp(double seconds) {
  scenario::Flow flow = Line().flows[0];
  flow.duration = Duration::Nanoseconds(std::llround(seconds * 1e9));
  return flow;
}

TEST(TrafficTest, ParsesUdp) {
  const scenario::Flow flow = Udp(1);
  const FlowResult result = ParseFlow(
      flow,
      R"({"received": 90, "size": 160.0, "bit_per_s": 28800.0, "pps": 22.5, "delay_us":
          {"min": 9, "mean": 12, "p50": 10, "p99": 30, "max": 40},
          "series": {"interval_s": 0.5, "packets": [40, 50]}})",
      R"({"offered": 100, "sent": 94, "refused": {"ENETUNREACH": 6}, "interface_drops": 3})", "");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.sent, 100u);
  EXPECT_EQ(result.received, 90u);
  EXPECT_DOUBLE_EQ(*result.loss, 0.1);
  EXPECT_THAT(result.lost_at,
              ElementsAre(Pair("refused ENETUNREACH", 6), Pair("sender's interfaces", 3)));
  EXPECT_FALSE(result.cut);
  EXPECT_DOUBLE_EQ(*result.packet_rate, 22.5);
  EXPECT_DOUBLE_EQ(result.delay->min, 0.009);
  EXPECT_DOUBLE_EQ(result.delay->p99, 0.03);
  EXPECT_THAT(result.samples, ElementsAre(Pair(0.5, 40 * 1280 / 0.5), Pair(1.0, 50 * 1280 / 0.5)));
}

TEST(TrafficTest, SaysWhatASlowSenderDidNotOffer) {
  const auto not_offered = [](const std::string& sent) {
    return ParseFlow(Udp(2), R"({"received": 80, "size": 160, "bit_per_s": 1, "pps": 1,
          "series": {"interval_s": 0.5, "packets": []}})",
                     sent, "")
        .not_offered;
  };
  EXPECT_EQ(not_offered(R"({"offered": 180, "target_pps": 100, "slip_s": 0.2})"), 20u);
  EXPECT_EQ(not_offered(R"({"offered": 80, "target_pps": 100})"), 120u) << "it ended early";
  EXPECT_FALSE(not_offered(R"({"offered": 199, "target_pps": 100})"));
  EXPECT_FALSE(not_offered(R"({"offered": 80, "target_pps": null})"));
}

TEST(TrafficTest, WhatWasNotDueWhenTheRunEndedIsNotMissing) {
  const auto udp = [](const std::string& sent) {
    return ParseFlow(Udp(2), R"({"received": 80, "size": 160, "bit_per_s": 1, "pps": 1,
          "series": {"interval_s": 0.5, "packets": []}})",
                     sent, "", Ending{.with_run = true})
        .not_offered;
  };
  EXPECT_FALSE(udp(R"({"offered": 80, "target_pps": 100, "seconds": 0.802})"));
  EXPECT_EQ(udp(R"({"offered": 80, "target_pps": 100, "seconds": 1.0})"), 20u) << "too slow";
  EXPECT_EQ(udp(R"({"offered": 180, "target_pps": 100, "seconds": 9.0})"), 20u) << "of two seconds";
  // A sender that started at 10 s was stopped 0.802 s later and noticed that only 1.0 s after its
  // start.
  const auto late = [](int64_t told_ms) {
    return ParseFlow(Udp(2), R"({"received": 80, "size": 160, "bit_per_s": 1, "pps": 1,
          "series": {"interval_s": 0.5, "packets": []}})",
                     R"({"offered": 80, "target_pps": 100, "started_s": 10, "seconds": 1.0})", "",
                     {true, Instant() + Duration::Milliseconds(told_ms)})
        .not_offered;
  };
  EXPECT_FALSE(late(10'802));
  EXPECT_EQ(late(10'900), 10u) << "too slow";
  EXPECT_EQ(late(12'500), 20u) << "it stopped by itself before it was told to";
  scenario::Flow flow = Line().flows[2];  // 50 requests at intervals of 20 ms
  flow.duration = Duration::Seconds(2);
  const auto ping = [&](const std::string& seconds) {
    return ParseFlow(flow, "",
                     R"({"offered": 50, "sent": 50, "received": 50, "seconds": )" + seconds + "}",
                     "", Ending{.with_run = true})
        .not_offered;
  };
  EXPECT_FALSE(ping("0.98"));
  EXPECT_FALSE(ping("1.01"));
  EXPECT_EQ(ping("1.2"), 10u) << "too slow";
}

TEST(TrafficTest, OnePacketHasNoRate) {
  const auto rate = [](const std::string& received) {
    return ParseFlow(Line().flows[0], received, R"({"offered": 1})", "").rate;
  };
  EXPECT_FALSE(rate(R"({"received": 1, "series": {"interval_s": 0.5, "packets": [1]}})"));
  EXPECT_EQ(rate(R"({"received": 0, "series": {"interval_s": 0.5, "packets": []}})"), 0);
}

TEST(TrafficTest, LeavesOutAnIntervalCutShort) {
  const FlowResult result =
      ParseFlow(Udp(1),
                R"({"received": 90, "size": 160, "bit_per_s": 1, "pps": 1, "delay_us": null,
          "series": {"interval_s": 0.5, "packets": [40, 49, 1]}})",
                R"({"offered": 100})", "");
  EXPECT_EQ(result.samples.size(), 2u);
}

TEST(TrafficTest, SamplesCountFromTheFlowsStart) {
  const FlowResult result = ParseFlow(Udp(2.2),
                                      R"({"received": 90, "size": 160, "first_s": 11.2, "cut": true,
          "series": {"interval_s": 0.5, "packets": [40, 50]}})",
                                      R"({"offered": 100, "started_s": 10})", "");
  EXPECT_THAT(result.samples,
              ElementsAre(Pair(0.5, 0), Pair(1, 0), Pair(testing::DoubleNear(1.7, 1e-9), 102400),
                          Pair(testing::DoubleNear(2.2, 1e-9), 128000)));
  EXPECT_TRUE(result.cut);
}

TEST(TrafficTest, NothingThatCameIsShownAsNothing) {
  const auto rates = [](const std::string& received) {
    std::vector<double> rates;
    for (const auto& [end, rate] :
         ParseFlow(Udp(2), received, R"({"offered": 100, "started_s": 10})", "").samples) {
      EXPECT_NEAR(end, 0.5 * static_cast<double>(rates.size() + 1), 1e-6);
      rates.push_back(rate);
    }
    return rates;
  };
  // Tests a flow without any packet, and a flow without packets after the first interval.
  EXPECT_THAT(rates(R"({"received": 0, "series": {"interval_s": 0.5, "packets": []}})"),
              ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(rates(R"({"received": 5, "size": 100, "first_s": 10,
                        "series": {"interval_s": 0.5, "packets": [5]}})"),
              ElementsAre(8000, 0, 0, 0));
}

// Tests a flow of a day with few packets, whose report has the short intervals of a short flow.
TEST(TrafficTest, TheSilenceOfADayIsFewSamples) {
  const FlowResult result = ParseFlow(Udp(86400), R"({"received": 6, "size": 100,
      "first_s": 80000, "series": {"interval_s": 0.1, "packets": [1, 2, 3]}})",
                                      R"({"offered": 10000000000, "started_s": 0})", "");
  EXPECT_LE(result.samples.size(), result::Samples::kMost);
  EXPECT_NEAR(result.samples.back().first, 86400, 3.2);
  EXPECT_EQ(result.sent, 10'000'000'000u);
  double bits = 0;
  for (const auto& [end, rate] : result.samples) bits += rate * 3.2;
  EXPECT_NEAR(bits, 6 * 100 * 8, 1e-6);
}

TEST(TrafficTest, ParsesTcpAndItsErrors) {
  const scenario::Flow flow = Line().flows[1];
  const FlowResult result = ParseFlow(
      flow, "",
      R"({"server_output_text": "Accepted\n)"
      R"([  5]   0.00-0.20   sec  1.10 GBytes  7000 Kbits/sec   \n)"
      R"([  5]   0.20-0.21   sec  0.00 Bytes  0.00 Kbits/sec   \n)"
      R"([  5]   0.00-0.21   sec  1.10 GBytes  6900 Kbits/sec                  receiver\n",
          "intervals": [{"sum": {"end": 0.2, "bits_per_second": 9e9}}],
          "end": {"sum_sent": {"retransmits": 3}, "sum_received": {"bits_per_second": 6e6}}})",
      "");
  EXPECT_DOUBLE_EQ(*result.rate, 6e6);
  EXPECT_EQ(result.retransmits, 3u);
  // The samples are from the receiver's output, because the sender's intervals count the data that
  // its kernel accepted.
  EXPECT_THAT(result.samples, ElementsAre(Pair(0.2, 7e6)));
  EXPECT_EQ(ParseFlow(flow, "", R"({"error": "unable to connect"})", "").error,
            "iperf3: unable to connect");
  EXPECT_THAT(ParseFlow(flow, "", "", "killed").error, HasSubstr("killed"));
}

constexpr const char* kPing = R"({"role": "ping", "offered": 50, "sent": 47, "errors": 3,
    "refused": {"ENETUNREACH": 3}, "received": 40, "dropped_here": 2,
    "rtt_us": {"min": 100, "mean": 300, "p50": 200, "p99": 490, "max": 500},
    "samples": [[0.25, 0.5], [0.27, 0.1]], "samples_merged": 1,
    "gaps": [{"from": 0.1, "to": 0.25, "first": 3, "lost": 10}], "gaps_omitted": 0})";

TEST(TrafficTest, ParsesPing) {
  const scenario::Flow flow = Line().flows[2];
  const FlowResult result = ParseFlow(flow, "", kPing, "");
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.sent, 50u) << "what the kernel refused is lost, too";
  EXPECT_EQ(result.received, 40u);
  EXPECT_DOUBLE_EQ(*result.loss, 0.2);
  EXPECT_FALSE(result.not_offered);
  EXPECT_THAT(result.lost_at,
              ElementsAre(Pair("refused ENETUNREACH", 3), Pair("sender's buffer", 2)));
  EXPECT_DOUBLE_EQ(result.rtt->min, 0.1);
  EXPECT_DOUBLE_EQ(result.rtt->p99, 0.49);
  EXPECT_THAT(result.samples, ElementsAre(Pair(0.25, 0.5), Pair(0.27, 0.1)));
  EXPECT_FALSE(result.samples_merged);
  ASSERT_EQ(result.gaps.size(), 1u);
  EXPECT_EQ(result.gaps[0].lost, 10u);
}

TEST(TrafficTest, APingThatTheKernelNeverTookFails) {
  const char* const refused = R"({"offered": 5, "sent": 0, "refused": {"ENETUNREACH": 5},
                                  "received": 0})";
  EXPECT_EQ(ParseFlow(Line().flows[2], "", refused, "").error,
            "the kernel of the sender refused all 5 requests: ENETUNREACH");
}

TEST(TrafficTest, APingThatEndedEarlyOfferedLess) {
  scenario::Flow flow = Line().flows[2];
  flow.duration = Duration::Milliseconds(1110);  // 56 requests
  EXPECT_EQ(ParseFlow(flow, "", kPing, "").not_offered, 6u);
}

TEST(TrafficTest, AnswersThatCameAgainCountOnce) {
  const char* const again = R"({"offered": 5, "sent": 5, "received": 5, "duplicates": 3})";
  const result::FlowResult twice = ParseFlow(Line().flows[2], "", again, "");
  EXPECT_EQ(twice.duplicates, 3u);
  EXPECT_EQ(twice.received, 5u);
  EXPECT_FALSE(ParseFlow(Line().flows[2], "", kPing, "").duplicates);
}

TEST(TrafficTest, APingWithoutFiguresHasNoResult) {
  const scenario::Flow flow = Line().flows[2];
  EXPECT_THAT(ParseFlow(flow, "", "", "viaduct-load: ICMP echo needs CAP_NET_RAW\n").error,
              HasSubstr("CAP_NET_RAW"));
  EXPECT_FALSE(ParseFlow(flow, "", R"({"role": "ping", "sent": 3})", "").error.empty());
}

TEST(TrafficTest, FlowsWithoutAResultSayWhy) {
  const FlowResult failed = FailedFlow(Line().flows[0], "why");
  EXPECT_EQ(failed.error, "why");
  EXPECT_EQ(failed.name, "udp n0->n2");
}

}  // namespace
}  // namespace viaduct::run
