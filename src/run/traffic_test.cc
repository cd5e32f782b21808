#include "run/traffic.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THAT(ping.sender, ElementsAre("ping", "-n", "-D", "-i", "0.02", "-c", "50", "-s", "100",
                                       "-W", "1", "10.0.0.1"));
}

TEST(TrafficTest, WaitsAsLongAsThePathCanHoldPackets) {
  scenario::Scenario line = Line();
  for (auto& link : line.links) link.spec = path::ParseSpec("delay=500ms rate=1Mbit queue=300p");
  // Two links of half a second, and 301 packets of 12,144 bit each.
  EXPECT_THAT(CommandsFor(line, 0, "load").receiver, Contains("9.310688s"));
  EXPECT_THAT(CommandsFor(line, 2, "load").sender, Contains("17.6214"));
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

TEST(TrafficTest, TheIntervalsOfADayAreFew) {
  scenario::Scenario line = Line();
  EXPECT_THAT(CommandsFor(line, 1, "load").sender, Contains("0.2"));
  line.flows[1].duration = Duration::Seconds(86400);
  EXPECT_THAT(CommandsFor(line, 1, "load").sender, Contains("17.28"));
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

TEST(TrafficTest, ParsesUdp) {
  const scenario::Flow flow = Line().flows[0];
  const FlowResult result = ParseFlow(
      flow,
      R"({"received": 90, "size": 160.0, "bit_per_s": 28800.0, "pps": 22.5, "delay_us":
          {"mean": 12, "p50": 10, "p99": 30, "max": 40},
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
  EXPECT_DOUBLE_EQ(result.delay->p99, 0.03);
  EXPECT_THAT(result.samples, ElementsAre(Pair(0.5, 40 * 1280 / 0.5), Pair(1.0, 50 * 1280 / 0.5)));
}

TEST(TrafficTest, SaysWhatASlowSenderDidNotOffer) {
  const auto parse = [](const std::string& received, const std::string& sent) {
    return ParseFlow(Line().flows[0], received, sent, "");
  };
  const std::string received = R"({"received": 80, "size": 160, "bit_per_s": 1, "pps": 1,
          "series": {"interval_s": 0.5, "packets": []}})";
  EXPECT_EQ(parse(received, R"({"offered": 80, "target_pps": 100, "slip_s": 0.2})").not_offered,
            20u);
  EXPECT_FALSE(parse(received, R"({"offered": 80, "target_pps": 100})").not_offered);
  EXPECT_FALSE(parse(received, R"({"offered": 80, "target_pps": null})").not_offered);
}

TEST(TrafficTest, OnePacketHasNoRate) {
  const auto rate = [](const std::string& received) {
    return ParseFlow(Line().flows[0], received, R"({"offered": 1})", "").rate;
  };
  EXPECT_FALSE(rate(R"({"received": 1, "series": {"interval_s": 0.5, "packets": [1]}})"));
  EXPECT_EQ(rate(R"({"received": 0, "series": {"interval_s": 0.5, "packets": []}})"), 0);
}

TEST(TrafficTest, LeavesOutAnIntervalCutShort) {
  scenario::Flow flow = Line().flows[0];
  flow.duration = Duration::Seconds(1);
  const FlowResult result =
      ParseFlow(flow,
                R"({"received": 90, "size": 160, "bit_per_s": 1, "pps": 1, "delay_us": null,
          "series": {"interval_s": 0.5, "packets": [40, 49, 1]}})",
                R"({"offered": 100})", "");
  EXPECT_EQ(result.samples.size(), 2u);
}

TEST(TrafficTest, SamplesCountFromTheFlowsStart) {
  const FlowResult result = ParseFlow(Line().flows[0],
                                      R"({"received": 90, "size": 160, "first_s": 11.2, "cut": true,
          "series": {"interval_s": 0.5, "packets": [40, 50]}})",
                                      R"({"offered": 100, "started_s": 10})", "");
  EXPECT_THAT(result.samples,
              ElementsAre(Pair(0.5, 0), Pair(1, 0), Pair(testing::DoubleNear(1.7, 1e-9), 102400),
                          Pair(testing::DoubleNear(2.2, 1e-9), 128000)));
  EXPECT_TRUE(result.cut);
}

TEST(TrafficTest, ParsesTcpAndItsErrors) {
  const scenario::Flow flow = Line().flows[1];
  const FlowResult result =
      ParseFlow(flow, "",
                R"({"intervals": [{"sum": {"end": 1.0, "bits_per_second": 7e6}}],
          "end": {"sum_sent": {"retransmits": 3}, "sum_received": {"bits_per_second": 6e6}}})",
                "");
  EXPECT_DOUBLE_EQ(*result.rate, 6e6);
  EXPECT_EQ(result.retransmits, 3u);
  EXPECT_THAT(result.samples, ElementsAre(Pair(1.0, 7e6)));
  EXPECT_EQ(ParseFlow(flow, "", R"({"error": "unable to connect"})", "").error,
            "iperf3: unable to connect");
  EXPECT_THAT(ParseFlow(flow, "", "", "killed").error, HasSubstr("killed"));
}

constexpr const char* kPing = R"(PING 10.0.0.1 (10.0.0.1) 100(128) bytes of data.
[1000.250500] 108 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.500 ms
[1000.270100] 108 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=0.100 ms
[1000.270200] 108 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=0.200 ms (DUP!)
[1000.290000] From 10.0.0.9 icmp_seq=3 Destination Net Unreachable

--- 10.0.0.1 ping statistics ---
4 packets transmitted, 2 received, +1 duplicates, +1 errors, 50% packet loss, time 2003ms
rtt min/avg/max/mdev = 0.100/0.300/0.500/0.200 ms
)";

FlowResult ParsePing(const std::string& output, const std::string& error) {
  PingReader reader(Instant() + Duration::Seconds(1000));
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) reader.Line(line);
  return PingResult(Line().flows[2], reader, error);
}

TEST(TrafficTest, ParsesPing) {
  const FlowResult result = ParsePing(kPing, "");
  EXPECT_EQ(result.sent, 4u);
  EXPECT_EQ(result.received, 2u);
  EXPECT_DOUBLE_EQ(*result.loss, 0.5);
  EXPECT_DOUBLE_EQ(result.rtt->mean, 0.3);
  EXPECT_DOUBLE_EQ(*result.rtt->min, 0.1);
  // When they were sent, not when they should have been.
  EXPECT_THAT(result.samples, ElementsAre(Pair(testing::DoubleNear(0.25, 1e-6), 0.5),
                                          Pair(testing::DoubleNear(0.27, 1e-6), 0.1)));
  EXPECT_FALSE(result.samples_merged);
  EXPECT_EQ(ParsePing("", "ping: connect: Network is unreachable\n").error,
            "ping: connect: Network is unreachable");
}

TEST(TrafficTest, TakesPingsOwnSummary) {
  // The lines of answers have three digits.
  const FlowResult result = ParsePing(
      "[1000.240431] 64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=40.4 ms\n"
      "[1000.340475] 64 bytes from 10.0.0.1: icmp_seq=2 ttl=64 time=40.5 ms\n"
      "2 packets transmitted, 2 received, 0% packet loss, time 101ms\n"
      "rtt min/avg/max/mdev = 40.431/40.453/40.475/0.022 ms, pipe 2\n",
      "");
  EXPECT_DOUBLE_EQ(*result.rtt->min, 40.431);
  EXPECT_DOUBLE_EQ(result.rtt->mean, 40.453);
  EXPECT_DOUBLE_EQ(result.rtt->max, 40.475);
  EXPECT_LE(result.rtt->p99, 40.475);
  EXPECT_GE(result.rtt->p50, 40.431);
}

TEST(TrafficTest, APingOfADayIsWholeAndSmall) {
  constexpr uint64_t kPings = 864000;  // ten a second; 16 bits of sequence number begin anew often
  PingReader reader(Instant() + Duration::Seconds(1'700'000'000));
  for (uint64_t i = 0; i < kPings; ++i) {
    reader.Line(fmt::format("[{:.6f}] 64 bytes from 10.0.0.1: icmp_seq={} ttl=64 time=1.000 ms",
                            1.7e9 + static_cast<double>(i) / 10 + 0.001, (i + 1) % 65536));
  }
  reader.Line(fmt::format("{0} packets transmitted, {0} received, 0% packet loss", kPings));
  const FlowResult result = PingResult(Line().flows[2], reader, "");
  EXPECT_EQ(result.received, kPings);
  EXPECT_EQ(result.loss, 0.0);
  EXPECT_LE(result.samples.size(), result::Samples::kMost);
  EXPECT_EQ(result.samples_merged, 32u);
  EXPECT_NEAR(result.samples.back().first, 86400, 4);
  EXPECT_NEAR(result.samples.back().second, 1, 1e-9);
}

TEST(TrafficTest, FlowsWithoutAResultSayWhy) {
  const FlowResult failed = FailedFlow(Line().flows[0], "why");
  EXPECT_EQ(failed.error, "why");
  EXPECT_EQ(failed.name, "udp n0->n2");
}

}  // namespace
}  // namespace viaduct::run
