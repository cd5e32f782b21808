#include "run/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/units.h"
#include "result/load.h"
#include "scenario/addresses.h"

namespace viaduct::run {
namespace {

using nlohmann::json;
using result::FlowResult;
using scenario::Flow;

constexpr int kFirstUdpPort = 5001;
constexpr int kFirstTcpPort = 5201;  // iperf3's own

std::string Seconds(Duration duration) { return fmt::format("{:g}", duration.ToSeconds()); }

FlowCommands UdpCommands(const Flow& flow, const std::string& address, int port,
                         const std::string& load) {
  FlowCommands commands;
  const bool ipv6 = address.find(':') != std::string::npos;
  commands.receiver = {load, "receive", "--port", std::to_string(port), "--json"};
  commands.sender = {
      load,         "send",
      "--to",       fmt::format(fmt::runtime(ipv6 ? "[{}]:{}" : "{}:{}"), address, port),
      "--size",     std::to_string(flow.size),
      "--rate",     flow.rate ? FormatRate(*flow.rate) : "max",
      "--duration", FormatDuration(flow.duration),
      "--json"};
  commands.ready = "listening";
  return commands;
}

FlowCommands TcpCommands(const Flow& flow, const std::string& address, int port) {
  FlowCommands commands;
  commands.receiver = {"iperf3",       "--server", "--one-off",
                       "--forceflush", "--port",   std::to_string(port)};
  commands.sender = {"iperf3",
                     "--client",
                     address,
                     "--port",
                     std::to_string(port),
                     "--json",
                     "--time",
                     Seconds(flow.duration),
                     "--interval",
                     "0.2",
                     "--connect-timeout",
                     "5000"};
  if (flow.rate) {
    commands.sender.insert(commands.sender.end(), {"--bitrate", std::to_string(*flow.rate)});
  }
  commands.ready = "Server listening";
  commands.needs = {{"iperf3", "iperf3"}};
  return commands;
}

FlowCommands PingCommands(const Flow& flow, const std::string& address) {
  const int64_t count = std::max<int64_t>(1, flow.duration / flow.interval);
  // Not -w: with it ping ends at the first ICMP error, as when a link goes down.
  FlowCommands commands;
  commands.sender = {"ping", "-n",
                     "-i",   Seconds(flow.interval),
                     "-c",   std::to_string(count),
                     "-s",   std::to_string(flow.size),
                     "-W",   "1",
                     address};
  commands.needs = {{"ping", "iputils-ping"}};
  return commands;
}

std::string FirstLine(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.empty() ? "it printed nothing" : line;
}

result::Times TimesOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
    return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
  };
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  result::Times times;
  times.min = values.front();
  times.max = values.back();
  times.mean = sum / static_cast<double>(values.size());
  times.p50 = quantile(0.5);
  times.p99 = quantile(0.99);
  return times;
}

void ParseUdp(FlowResult& result, const Flow& flow, const std::string& receiver,
              const std::string& sender) {
  const json receiver_report = json::parse(receiver);
  const json sender_report = json::parse(sender);
  receiver_report.at("received");  // a report without its figures must not be read as a loss
  sender_report.at("sent");
  const auto received = receiver_report.get<result::LoadReceived>();
  // The end marker may have been lost like other packets, so the sender's count is used.
  result.Count(sender_report.get<result::LoadSent>().sent, received.received);
  result.rate = received.rate;
  result.packet_rate = received.packet_rate;
  if (const auto& us = received.delay) {
    result.delay = {{}, us->mean / 1e3, us->max / 1e3, us->p50 / 1e3, us->p99 / 1e3};
  }
  const auto& [interval, counts] = received.series;
  for (const uint64_t packets : counts) {
    result.samples.emplace_back(interval * static_cast<double>(result.samples.size() + 1),
                                static_cast<double>(packets) * received.size * 8 / interval);
  }
  // The receiver's end truncates the last interval after the sender's end.
  if (!result.samples.empty() &&
      result.samples.back().first > flow.duration.ToSeconds() + interval / 2) {
    result.samples.pop_back();
  }
}

void ParseTcp(FlowResult& result, const std::string& sender) {
  const json report = json::parse(sender);
  if (report.contains("error")) {
    result.error = "iperf3: " + report["error"].get<std::string>();
    return;
  }
  result.rate = report.at("end").at("sum_received").at("bits_per_second").get<double>();
  const json& sum_sent = report.at("end").at("sum_sent");
  if (sum_sent.contains("retransmits")) {
    result.retransmits = sum_sent["retransmits"].get<uint64_t>();
  }
  for (const json& interval : report.at("intervals")) {
    const json& sum = interval.at("sum");
    result.samples.emplace_back(sum.at("end").get<double>(),
                                sum.at("bits_per_second").get<double>());
  }
}

// iputils: "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.052 ms", and at the end
// "3 packets transmitted, 3 received, 0% packet loss, time 2003ms" ("+1 duplicates," and the like
// may stand between).
void ParsePing(FlowResult& result, const Flow& flow, const std::string& output,
               const std::string& error) {
  std::istringstream lines(output);
  std::set<int> seen;
  std::vector<double> times;
  for (std::string line; std::getline(lines, line);) {
    const size_t sequence = line.find("icmp_seq="), time = line.find("time=");
    int number = 0;
    double milliseconds = 0;
    if (sequence != std::string::npos && time != std::string::npos) {
      if (std::sscanf(line.c_str() + sequence, "icmp_seq=%d", &number) == 1 &&
          std::sscanf(line.c_str() + time, "time=%lf", &milliseconds) == 1 &&
          seen.insert(number).second) {
        times.push_back(milliseconds);
        result.samples.emplace_back((number - 1) * flow.interval.ToSeconds(), milliseconds);
      }
      continue;
    }
    unsigned long transmitted = 0;
    if (std::sscanf(line.c_str(), "%lu packets transmitted", &transmitted) == 1) {
      result.sent = transmitted;
    }
  }
  if (!result.sent) {
    result.error = FirstLine(error);
    return;
  }
  result.Count(*result.sent, times.size());
  if (!times.empty()) result.rtt = TimesOf(times);
}

}  // namespace

std::vector<lab::Endpoint> EndpointsOf(const scenario::Scenario& scenario,
                                       const std::string& link) {
  std::map<std::string, int> interfaces;
  for (const scenario::LinkSettings& candidate : scenario.links) {
    std::vector<lab::Endpoint> endpoints;
    for (const std::string& node : candidate.nodes) {
      endpoints.push_back({node, fmt::format("eth{}", interfaces[node]++)});
    }
    if (candidate.name == link) return endpoints;
  }
  throw UsageError(fmt::format("there is no link '{}'", link));
}

FlowCommands CommandsFor(const scenario::Scenario& scenario, size_t index,
                         const std::string& load) {
  const Flow& flow = scenario.flows.at(index);
  const std::string address = scenario::AddressOf(scenario, flow.to).ToString();
  const int offset = static_cast<int>(index);
  switch (flow.kind) {
    case Flow::Kind::kUdp:
      return UdpCommands(flow, address, kFirstUdpPort + offset, load);
    case Flow::Kind::kTcp:
      return TcpCommands(flow, address, kFirstTcpPort + offset);
    case Flow::Kind::kPing:
      break;
  }
  return PingCommands(flow, address);
}

FlowResult FailedFlow(const Flow& flow, const std::string& error) {
  FlowResult result;
  result.name = flow.name;
  result.kind = scenario::KindName(flow.kind);
  result.from = flow.from;
  result.to = flow.to;
  result.error = error;
  return result;
}

FlowResult ParseFlow(const Flow& flow, const std::string& receiver_output,
                     const std::string& sender_output, const std::string& sender_error) {
  FlowResult result = FailedFlow(flow, "");
  try {
    if (flow.kind == Flow::Kind::kUdp) ParseUdp(result, flow, receiver_output, sender_output);
    if (flow.kind == Flow::Kind::kTcp) ParseTcp(result, sender_output);
    if (flow.kind == Flow::Kind::kPing) ParsePing(result, flow, sender_output, sender_error);
  } catch (const json::exception&) {
    const std::string& said = sender_error.empty() ? sender_output : sender_error;
    return FailedFlow(flow, "its programs gave no result: " + FirstLine(said));
  }
  return result.error.empty() ? result : FailedFlow(flow, result.error);
}

}  // namespace viaduct::run
