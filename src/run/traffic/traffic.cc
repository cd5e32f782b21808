#include "run/traffic/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/result/load.h"
#include "base/units.h"
#include "scenario/addresses.h"
#include "scenario/drain.h"
#include "scenario/multicast.h"
#include "scenario/scenario.h"

namespace viaduct::run {
namespace {

using nlohmann::json;
using result::FlowResult;
using scenario::Flow;

// The additional time within which a delayed ping must have sent all its requests.
constexpr Duration kPingGrace = Duration::Seconds(5);

// The interfaces of a flow to a multicast group. `leaves`: the sender's interface through which
// packets leave. `comes`: the receiver's interface through which packets arrive. Empty: any
// interface.
struct GroupWay {
  std::string leaves, comes;
};

FlowCommands UdpCommands(const Flow& flow, const std::string& address, int port,
                         const std::string& load, const GroupWay& way,
                         const scenario::Drain& drain) {
  FlowCommands commands;
  const bool ipv6 = address.find(':') != std::string::npos;
  commands.receiver = {
      load,    "receive", "--port", std::to_string(port), "--linger", FormatDuration(drain.quiet),
      "--json"};
  commands.sender = {
      load,         "send",
      "--to",       fmt::format(fmt::runtime(ipv6 ? "[{}]:{}" : "{}:{}"), address, port),
      "--size",     std::to_string(flow.size),
      "--rate",     flow.rate ? FormatRate(*flow.rate) : "max",
      "--duration", FormatDuration(flow.duration),
      "--json"};
  if (!flow.group.empty()) {
    commands.receiver.insert(commands.receiver.end(), {"--group", flow.group});
    commands.sender.insert(commands.sender.end(), {"--interface", way.leaves});
    if (!way.comes.empty()) {
      commands.receiver.insert(commands.receiver.end(), {"--interface", way.comes});
    }
  }
  commands.ready = "listening";
  commands.clock = "--clock-ahead";
  return commands;
}

// Returns the reporting interval for iperf3, in seconds. It is longer for a long flow, because
// iperf3's server keeps the text of all intervals in memory until its end; iperf3 accepts at most a
// minute.
double TcpInterval(const Flow& flow) {
  constexpr double kMaxIntervals = 5000;
  return std::clamp(flow.duration.ToSeconds() / kMaxIntervals, 0.2, 60.0);
}

// Returns the block length for iperf3, in bytes. iperf3 sends whole blocks: with the default of 128
// KiB a flow of 100 kbit/s would send the data of ten seconds at once. Blocks of 10 ms keep the
// rate; at high rates the block has the default length.
int64_t TcpBlock(int64_t rate) {
  constexpr int64_t kBlocksPerSecond = 100, kIperf3s = 128 << 10;
  return std::clamp<int64_t>(rate / 8 / kBlocksPerSecond, 1, kIperf3s);
}

FlowCommands TcpCommands(const Flow& flow, const std::string& address, int port) {
  FlowCommands commands;
  const std::string interval = fmt::format("{:g}", TcpInterval(flow));
  commands.receiver = {"iperf3",     "--server",
                       "--one-off",  "--forceflush",
                       "--port",     std::to_string(port),
                       "--interval", interval,
                       "--format",   "k"};
  commands.sender = {"iperf3",
                     "--client",
                     address,
                     "--port",
                     std::to_string(port),
                     "--json",
                     "--time",
                     std::to_string(flow.duration / Duration::Seconds(1)),
                     "--interval",
                     "0",
                     "--get-server-output",
                     "--connect-timeout",
                     "5000"};
  if (flow.rate) {
    commands.sender.insert(commands.sender.end(),
                           {"--bitrate", std::to_string(*flow.rate), "--length",
                            std::to_string(TcpBlock(*flow.rate))});
  }
  commands.ready = "Server listening";
  commands.needs = {{"iperf3", "iperf3"}};
  return commands;
}

FlowCommands PingCommands(const Flow& flow, const std::string& address, const std::string& load,
                          const scenario::Drain& drain) {
  FlowCommands commands;
  commands.sender = {load,         "ping",
                     "--to",       address,
                     "--interval", FormatDuration(flow.interval),
                     "--count",    std::to_string(scenario::PingsOf(flow)),
                     "--duration", FormatDuration(flow.duration + kPingGrace),
                     "--size",     std::to_string(flow.size),
                     "--linger",   FormatDuration(drain.quiet),
                     "--json"};
  return commands;
}

// Returns the commands of a flow whose sender must use the address `source`, if any.
FlowCommands From(const std::optional<wire::IpAddress>& source, FlowCommands commands) {
  if (source) commands.sender.insert(commands.sender.end(), {"--bind", source->ToString()});
  return commands;
}

std::string FirstLine(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.empty() ? "no output" : line;
}

// Returns the number of packets that were due at `rate` in `seconds` and that the sender did not
// offer: packets that were not offered are not included in the loss, which is a share of the
// offered packets. A sender may be a few milliseconds behind its schedule at any time
// (run/load/pacer.h), also at its end.
std::optional<uint64_t> Missing(double rate, double seconds, uint64_t offered) {
  constexpr double kBehind = 0.005;  // seconds
  const double missing = rate * seconds - static_cast<double>(offered);
  if (missing < 1 + rate * kBehind) return std::nullopt;
  return static_cast<uint64_t>(std::llround(missing));
}

// Returns the number of seconds for which the sender had to send. If the sender was stopped at the
// end of the run, this is the time between the start that the sender reports and the stop.
// Otherwise it is the duration of the flow, even if the sender ended earlier. A sender that is not
// running at the moment of the stop ends later.
template <class Sent>
double SecondsAsked(const Flow& flow, const Ending& ending, const Sent& sent) {
  const double whole = flow.duration.ToSeconds();
  if (!ending.with_run) return whole;
  const double told =
      ending.at ? static_cast<double>(ending.at->nanoseconds()) / 1e9 - sent.started : sent.seconds;
  return std::max(std::min({whole, sent.seconds, told}), 0.0);
}

// Adds the numbers of packets of a UDP flow to the result: the packets that the sender offered, and
// the packets that were lost at known places.
void CountUdp(FlowResult& result, const Flow& flow, const Ending& ending,
              const result::LoadSent& sent, const result::LoadReceived& received) {
  result.Count(sent.offered, received.received);
  result.Repeat(received.duplicates);
  result.not_offered =
      Missing(sent.target_pps.value_or(0), SecondsAsked(flow, ending, sent), sent.offered);
  for (const auto& [error, packets] : sent.refused) result.Lose("refused " + error, packets);
  result.Lose(result::kSendersInterfaces, sent.interface_drops);
  result.Lose("receiver's buffer", received.dropped_here);
  if (received.cut) result.cut = true;
}

// Merges neighbouring intervals of the series, by adding up their packets, until the duration of
// the flow has at most result::Samples::kMost intervals. Returns the series.
result::LoadSeries Coarsened(result::LoadSeries series, Duration flow) {
  while (flow.ToSeconds() > series.interval * result::Samples::kMost) {
    const size_t before = series.packets.size();
    for (size_t i = 0; i < before; i += 2) {
      series.packets[i / 2] = series.packets[i] + (i + 1 < before ? series.packets[i + 1] : 0);
    }
    series.packets.resize((before + 1) / 2);
    series.interval *= 2;
  }
  return series;
}

// Adds the rate that was received in each interval since the flow's start: zero in the `silence`
// (seconds) before its first packet, and after its last packet.
void SampleUdp(FlowResult& result, const Flow& flow, double silence, double bytes,
               const result::LoadSeries& measured) {
  if (measured.interval <= 0) return;  // the report has no series
  const auto [interval, packets] = Coarsened(measured, flow.duration);
  const double whole = flow.duration.ToSeconds() + 1e-6;
  const auto silent = static_cast<int>(silence / interval + 1e-6);
  for (int i = 1; i <= silent; ++i) result.samples.emplace_back(i * interval, 0);
  double end = silence;
  for (const uint64_t count : packets) {
    end += interval;
    result.samples.emplace_back(end, static_cast<double>(count) * bytes * 8 / interval);
  }
  // Removes the last interval if it is after the sender's end, because the receiver's end cuts it
  // short.
  if (!packets.empty() && end > whole + interval / 2) result.samples.pop_back();
  while ((end += interval) <= whole) result.samples.emplace_back(end, 0);
}

void TakeGaps(FlowResult& result, const result::LoadSent& sent,
              const result::LoadReceived& received) {
  const auto since_start = [&](double time) { return std::max(time - sent.started, 0.0); };
  result.gaps = received.gaps;
  for (result::Gap& gap : result.gaps) {
    gap.from = since_start(gap.from);
    if (gap.to) gap.to = since_start(*gap.to);
  }
  // Adds a last gap if no end marker arrived: in this case the receiver only knows the sequence
  // numbers of packets that arrived.
  if (!received.sent && result.loss > 0.0) {
    uint64_t known = received.received + received.gaps_omitted;
    for (const result::Gap& gap : result.gaps) known += gap.lost;
    if (sent.offered > known) {
      const double last = received.first.value_or(sent.started) + received.seconds;
      result.gaps.push_back({since_start(last), std::nullopt, known, sent.offered - known});
    }
  }
  if (received.gaps_omitted > 0) result.gaps_omitted = received.gaps_omitted;
}

void ParsePing(FlowResult& result, const Flow& flow, const Ending& ending,
               const std::string& sender) {
  const json report = json::parse(sender);
  report.at("offered");  // throws if the report is incomplete
  report.at("received");
  const auto pinged = report.get<result::LoadPinged>();
  if (pinged.sent == 0 && !pinged.refused.empty()) {
    result.error = fmt::format("the kernel of the sender refused all {} requests: {}",
                               pinged.offered, pinged.refused.begin()->first);
    return;
  }
  result.Count(pinged.offered, pinged.received);
  result.Repeat(pinged.duplicates);
  const uint64_t asked = scenario::PingsOf(flow);
  if (ending.with_run) {
    result.not_offered =
        Missing(1 / flow.interval.ToSeconds(), SecondsAsked(flow, ending, pinged), pinged.offered);
  } else if (pinged.offered < asked) {
    result.not_offered = asked - pinged.offered;
  }
  for (const auto& [error, requests] : pinged.refused) result.Lose("refused " + error, requests);
  result.Lose("sender's buffer", pinged.dropped_here);
  if (const auto& us = pinged.rtt) {
    result.rtt = {us->min / 1e3, us->mean / 1e3, us->max / 1e3, us->p50 / 1e3, us->p99 / 1e3};
  }
  result.samples = pinged.samples;
  if (pinged.samples_merged > 1) result.samples_merged = pinged.samples_merged;
  result.gaps = pinged.gaps;
  if (pinged.gaps_omitted > 0) result.gaps_omitted = pinged.gaps_omitted;
}

void ParseUdp(FlowResult& result, const Flow& flow, const Ending& ending,
              const std::string& receiver, const std::string& sender) {
  const json receiver_report = json::parse(receiver);
  const json sender_report = json::parse(sender);
  // Throws if a report is incomplete: missing numbers must not appear as a loss.
  receiver_report.at("received");
  sender_report.at("offered");
  const auto received = receiver_report.get<result::LoadReceived>();
  const auto sent = sender_report.get<result::LoadSent>();
  CountUdp(result, flow, ending, sent, received);
  if (received.received != 1) {  // a single packet has no duration for a rate
    result.rate = received.rate;
    result.packet_rate = received.packet_rate;
  }
  if (const auto& us = received.delay) {
    result.delay = {us->min / 1e3, us->mean / 1e3, us->max / 1e3, us->p50 / 1e3, us->p99 / 1e3};
  }
  const double silence = received.received > 0
                             ? std::max(received.first.value_or(sent.started) - sent.started, 0.0)
                             : flow.duration.ToSeconds();
  TakeGaps(result, sent, received);
  SampleUdp(result, flow, silence, received.size, received.series);
}

// Adds the rate at which the receiver received in each interval. (The sender's intervals only show
// how much data the sender's kernel accepted.) Example: "[  5]   0.00-0.20   sec  2.51 MBytes
// 105262 Kbits/sec"; the last line is about the complete flow, and the last interval may be
// shorter.
void SampleTcp(FlowResult& result, const Flow& flow, const std::string& server) {
  std::istringstream lines(server);
  for (std::string line; std::getline(lines, line);) {
    double begin = 0, end = 0, kilobits = 0;
    if (line.find("receiver") == std::string::npos &&
        std::sscanf(line.c_str(), "[%*d] %lf-%lf sec %*f %*s %lf Kbits/sec", &begin, &end,
                    &kilobits) == 3 &&
        end - begin > TcpInterval(flow) / 2) {
      result.samples.emplace_back(end, kilobits * 1e3);
    }
  }
}

// Parses the output of an interrupted flow. An interrupted sender exchanges no results with the
// receiver, so the result is the data that the receiver had received when the flow was interrupted.
void ParseInterruptedTcp(FlowResult& result, const Flow& flow, const std::string& receiver) {
  SampleTcp(result, flow, receiver);
  if (result.samples.empty()) {
    result.error = "iperf3 was interrupted before its first measurement";
    return;
  }
  double sum = 0;
  for (const auto& [end, rate] : result.samples) sum += rate;
  result.rate = sum / static_cast<double>(result.samples.size());
}

void ParseTcp(FlowResult& result, const Flow& flow, const std::string& receiver,
              const std::string& sender) {
  const json report = json::parse(sender);
  if (report.value("error", "").starts_with("interrupt")) {
    return ParseInterruptedTcp(result, flow, receiver);
  }
  if (report.contains("error")) {
    result.error = "iperf3: " + report["error"].get<std::string>();
    return;
  }
  result.rate = report.at("end").at("sum_received").at("bits_per_second").get<double>();
  const json& sum_sent = report.at("end").at("sum_sent");
  if (sum_sent.contains("retransmits")) {
    result.retransmits = sum_sent["retransmits"].get<uint64_t>();
  }
  SampleTcp(result, flow, report.value("server_output_text", ""));
}

}  // namespace

std::vector<lab::Endpoint> EndpointsOf(const scenario::Scenario& scenario, const std::string& link,
                                       RemoteHosts remotes) {
  const auto is_elsewhere = [&](const std::string& name) {
    const auto node = std::ranges::find(scenario.nodes, name, &scenario::NodeSettings::name);
    return remotes == RemoteHosts::kAreElsewhere && node->remote && node->host;
  };
  std::map<std::string, int> interfaces;
  for (const scenario::LinkSettings& candidate : scenario.links) {
    std::vector<lab::Endpoint> endpoints;
    for (const std::string& node : candidate.nodes) {
      const std::string name = fmt::format("eth{}", interfaces[node]++);
      endpoints.push_back({node, candidate.interface.empty() ? name : candidate.interface});
    }
    if (candidate.name != link) continue;
    std::erase_if(endpoints, [&](const lab::Endpoint& end) { return is_elsewhere(end.node); });
    return endpoints;
  }
  throw UsageError(fmt::format("there is no link '{}'", link));
}

namespace {

std::string InterfaceOf(const scenario::Scenario& scenario, const std::string& node,
                        const std::string& link) {
  const std::vector<lab::Endpoint> ends = EndpointsOf(scenario, link);
  return std::ranges::find(ends, node, &lab::Endpoint::node)->interface;
}

// Whether a flow's packets have the source address `source`: an address of the sender on the link
// by which the packets leave the sender.
bool IsSource(const scenario::Scenario& scenario, const Flow& flow, const std::string& source) {
  const auto& link = *std::ranges::find(scenario.links, flow.link, &scenario::LinkSettings::name);
  for (size_t i = 0; i < link.addresses.size(); ++i) {
    const bool is_senders = link.nodes[i % link.nodes.size()] == flow.from;
    if (is_senders && link.addresses[i].address == wire::IpAddress::Parse(source)) return true;
  }
  return false;
}

// Returns the interfaces of a flow to a multicast group. A receiver that forwards the packets by a
// static route receives them on the route's interface.
GroupWay WayOf(const scenario::Scenario& scenario, const Flow& flow) {
  GroupWay way;
  if (flow.group.empty()) return way;
  way.leaves = InterfaceOf(scenario, flow.from, flow.link);
  const wire::IpAddress group = wire::IpAddress::Parse(flow.group);
  for (const scenario::MulticastRoute& route : scenario.multicast) {
    if (route.node != flow.to || wire::IpAddress::Parse(route.group) != group) continue;
    if (!IsSource(scenario, flow, route.source)) continue;
    way.comes = InterfaceOf(scenario, flow.to, route.from);
  }
  return way;
}

}  // namespace

FlowCommands CommandsFor(const scenario::Scenario& scenario, size_t index,
                         const std::string& load) {
  const Flow& flow = scenario.flows.at(index);
  const std::string address = scenario::AddressOf(scenario, flow).ToString();
  const auto source = scenario::SourceOf(scenario, flow);
  const scenario::Drain drain = scenario::DrainOf(scenario, flow);
  const int port = scenario::PortOf(flow, scenario::StreamOf(scenario, index));
  switch (flow.kind) {
    case Flow::Kind::kUdp:
      return UdpCommands(flow, address, port, load, WayOf(scenario, flow), drain);
    case Flow::Kind::kTcp:
      return From(source, TcpCommands(flow, address, port));
    case Flow::Kind::kPing:
      break;
  }
  return From(source, PingCommands(flow, address, load, drain));
}

FlowResult FailedFlow(const Flow& flow, const std::string& error) {
  FlowResult result;
  result.name = flow.name;
  result.kind = scenario::KindName(flow.kind);
  result.from = flow.from;
  result.to = flow.to;
  result.group = flow.group;
  result.error = error;
  return result;
}

FlowResult ParseFlow(const Flow& flow, const std::string& receiver_output,
                     const std::string& sender_output, const std::string& sender_error,
                     const Ending& ending) {
  FlowResult result = FailedFlow(flow, "");
  try {
    if (flow.kind == Flow::Kind::kUdp) {
      ParseUdp(result, flow, ending, receiver_output, sender_output);
    }
    if (flow.kind == Flow::Kind::kPing) ParsePing(result, flow, ending, sender_output);
    if (flow.kind == Flow::Kind::kTcp) ParseTcp(result, flow, receiver_output, sender_output);
  } catch (const json::exception&) {
    const std::string& said = sender_error.empty() ? sender_output : sender_error;
    return FailedFlow(flow, "the flow's programs printed no result: " + FirstLine(said));
  }
  return result.error.empty() ? result : FailedFlow(flow, result.error);
}

void AddLosses(const std::vector<std::map<std::string, uint64_t>>& lost_at,
               std::vector<result::FlowResult>* flows) {
  for (size_t i = 0; i < std::min(lost_at.size(), flows->size()); ++i) {
    result::FlowResult& flow = (*flows)[i];
    if (!flow.error.empty()) continue;
    for (const auto& [place, packets] : lost_at[i]) flow.Lose(place, packets);
  }
}

}  // namespace viaduct::run
