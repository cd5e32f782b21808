#include "run/load/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace viaduct::load {
namespace {

const char* NameOf(ReceiveResult::End end) {
  switch (end) {
    case ReceiveResult::End::kSender:
      return "sender";
    case ReceiveResult::End::kDuration:
      return "duration";
    case ReceiveResult::End::kSignal:
      break;
  }
  return "signal";
}

// Returns the name of an errno: "ENETUNREACH".
std::string ErrorName(int error) {
  const char* name = strerrorname_np(error);
  return name != nullptr ? name : std::to_string(error);
}

double Ratio(double part, uint64_t whole) {
  return whole > 0 ? part / static_cast<double>(whole) : 0;
}

std::string TimesText(const std::optional<result::LoadTimes>& times) {
  if (!times) return "none";
  return fmt::format("p50 {:.1f} us, p99 {:.1f} us, max {:.1f} us", times->p50, times->p99,
                     times->max);
}

// Returns the number of sent packets that did not reach this program's socket.
uint64_t LostBefore(uint64_t sent, uint64_t received, uint64_t dropped_here) {
  return sent - std::min(sent, received + dropped_here);
}

}  // namespace

result::LoadSent Report(const SendOptions& options, const SendResult& result) {
  result::LoadSent report;
  report.flow = result.flow;
  report.size = options.size;
  report.started = result.started.nanoseconds() / 1e9;
  report.offered = result.offered;
  report.sent = result.sent;
  report.errors = result.offered - result.sent;
  for (const auto& [error, packets] : result.refused) report.refused[ErrorName(error)] = packets;
  report.interface_drops = result.interface_drops;
  report.seconds = result.elapsed.ToSeconds();
  report.target_pps = options.rate;
  report.offered_pps = report.seconds > 0 ? result.offered / report.seconds : 0;
  report.offered_rate = report.offered_pps * options.size * 8;
  report.late = result::LoadTimes::Of(result.late);
  report.slip_seconds = result.slip.ToSeconds();
  return report;
}

result::LoadReceived Report(const ReceiveOptions& options, const ReceiveResult& result) {
  const Tally& tally = result.tally;
  // Uses the highest sequence number if the end marker is missing.
  const uint64_t sent = result.sent.value_or(std::max(tally.sequences_seen(), result.received));
  result::LoadReceived report;
  report.ended_by = NameOf(result.end);
  report.cut = result.cut;
  if (tally.received() > 0) report.first = tally.first().nanoseconds() / 1e9;
  report.sent = result.sent;
  report.received = result.received;
  report.lost = LostBefore(sent, result.received, result.dropped_here);
  report.loss = Ratio(static_cast<double>(report.lost), sent);
  report.duplicates = tally.duplicates();
  report.reordered = tally.reordered();
  report.dropped_here = result.dropped_here;
  report.foreign = result.foreign;
  report.size = Ratio(static_cast<double>(tally.bytes()), tally.received());
  report.seconds = (tally.last() - tally.first()).ToSeconds();
  report.packet_rate = result.packets_per_second;
  report.rate = report.packet_rate * report.size * 8;
  report.delay = result::LoadTimes::Of(tally.delay());
  report.sample = options.socket.sample;
  if (report.sample == 1) {  // with sampling most packets were not examined
    report.gaps = tally.gaps().Find(sent);
    report.gaps_omitted = tally.gaps().omitted();
  }
  report.series = {result.series.interval().ToSeconds(), result.series.counts()};
  return report;
}

result::LoadPinged Report(const PingOptions& options, const PingResult& result) {
  result::LoadPinged report;
  report.size = options.size;
  report.started = result.started.nanoseconds() / 1e9;
  report.offered = result.offered;
  report.sent = result.sent;
  report.errors = result.offered - result.sent;
  for (const auto& [error, requests] : result.refused) {
    report.refused[ErrorName(error)] = requests;
  }
  report.received = result.received;
  report.lost = LostBefore(result.offered, result.received, result.dropped_here);
  report.loss = Ratio(static_cast<double>(report.lost), result.offered);
  report.duplicates = result.duplicates;
  report.foreign = result.foreign;
  report.dropped_here = result.dropped_here;
  report.seconds = result.elapsed.ToSeconds();
  report.rtt = result::LoadTimes::Of(result.round_trips);
  report.late = result::LoadTimes::Of(result.late);
  report.slip_seconds = result.slip.ToSeconds();
  report.samples = result.samples.List();
  report.samples_merged = result.samples.merged();
  report.gaps = result.gaps.Find(result.offered);
  report.gaps_omitted = result.gaps.omitted();
  return report;
}

std::string ToText(const result::LoadSent& report) {
  std::string text = fmt::format(
      "offered {} packets of {} bytes in {:.3f} s: {:.0f} packet/s, {:.3f} Mbit/s of payload\n",
      report.offered, report.size, report.seconds, report.offered_pps, report.offered_rate / 1e6);
  if (report.target_pps) {
    text += fmt::format("lateness of packets: {}; schedule shifted by {:.3f} s\n",
                        TimesText(report.late), report.slip_seconds);
  }
  for (const auto& [error, packets] : report.refused) {
    text += fmt::format("refused by the kernel ({}): {}\n", error, packets);
  }
  if (report.interface_drops > 0) {
    text += fmt::format("dropped by this machine's interfaces: {}\n", report.interface_drops);
  }
  return text;
}

std::string ToText(const result::LoadReceived& report) {
  std::string text = fmt::format(
      "received {} of {} packets ({:.3f}% lost): {:.0f} packet/s, {:.3f} Mbit/s of payload\n"
      "reordered {}, duplicate {}\none-way delay: {}\n",
      report.received, report.sent.value_or(report.received + report.lost), report.loss * 100,
      report.packet_rate, report.rate / 1e6, report.reordered, report.duplicates,
      TimesText(report.delay));
  if (!report.sent)
    text +=
        "no end marker arrived: the number of sent packets is estimated from the last sequence "
        "number\n";
  if (report.cut) text += "packets were still arriving at the end; these packets count as lost\n";
  if (report.dropped_here > 0) {
    text += fmt::format("arrived, but not read because this program was too slow: {}\n",
                        report.dropped_here);
  }
  return text;
}

std::string ToText(const result::LoadPinged& report) {
  std::string text = fmt::format(
      "received replies to {} of {} requests ({:.3f}% lost), duplicate replies {}\nround-trip "
      "times: {}\n"
      "lateness of requests: {}; schedule shifted by {:.3f} s\n",
      report.received, report.offered, report.loss * 100, report.duplicates, TimesText(report.rtt),
      TimesText(report.late), report.slip_seconds);
  for (const auto& [error, requests] : report.refused) {
    text += fmt::format("refused by the kernel ({}): {}\n", error, requests);
  }
  if (report.dropped_here > 0) {
    text += fmt::format("arrived, but not read because this program was too slow: {}\n",
                        report.dropped_here);
  }
  return text;
}

}  // namespace viaduct::load
