#include "load/report.h"

#include <fmt/core.h>

#include <algorithm>

namespace viaduct::load {
namespace {

using nlohmann::json;

double Microseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

json Quantiles(const Histogram& histogram) {
  if (histogram.Count() == 0) return nullptr;
  return {{"mean", histogram.Mean() / 1e3},
          {"p50", Microseconds(histogram.Quantile(0.5))},
          {"p99", Microseconds(histogram.Quantile(0.99))},
          {"max", Microseconds(histogram.Max())}};
}

double OfferedRate(const SendResult& result) {
  const double seconds = result.elapsed.ToSeconds();
  return seconds > 0 ? result.sent / seconds : 0;
}

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

// Without an end marker, what is missing below the highest sequence number seen.
uint64_t Sent(const ReceiveResult& result) {
  return result.sent.value_or(std::max(result.tally.sequences_seen(), result.received));
}

uint64_t Lost(const ReceiveResult& result) {
  const uint64_t sent = Sent(result);
  return sent - std::min(sent, result.received);
}

double LossRatio(const ReceiveResult& result) {
  const uint64_t sent = Sent(result);
  return sent > 0 ? static_cast<double>(Lost(result)) / sent : 0;
}

double MeanSize(const ReceiveResult& result) {
  const uint64_t packets = result.tally.received();
  return packets > 0 ? static_cast<double>(result.tally.bytes()) / packets : 0;
}

std::string DelayText(const Histogram& delay) {
  if (delay.Count() == 0) return "none";
  return fmt::format("p50 {:.1f} us, p99 {:.1f} us, max {:.1f} us",
                     Microseconds(delay.Quantile(0.5)), Microseconds(delay.Quantile(0.99)),
                     Microseconds(delay.Max()));
}

}  // namespace

json ToJson(const SendOptions& options, const SendResult& result) {
  const double pps = OfferedRate(result);
  return {{"role", "send"},
          {"flow", result.flow},
          {"size", options.size},
          {"sent", result.sent},
          {"errors", result.errors},
          {"seconds", result.elapsed.ToSeconds()},
          {"target_pps", options.rate ? json(*options.rate) : json(nullptr)},
          {"offered_pps", pps},
          {"offered_bit_per_s", pps * options.size * 8},
          {"late_us", Quantiles(result.late)},
          {"slip_s", result.slip.ToSeconds()}};
}

json ToJson(const ReceiveOptions& options, const ReceiveResult& result) {
  const double pps = result.packets_per_second;
  const Duration span = result.tally.last() - result.tally.first();
  return {
      {"role", "receive"},
      {"ended_by", NameOf(result.end)},
      {"sent", result.sent ? json(*result.sent) : json(nullptr)},
      {"received", result.received},
      {"lost", Lost(result)},
      {"loss", LossRatio(result)},
      {"duplicates", result.tally.duplicates()},
      {"reordered", result.tally.reordered()},
      {"dropped_here", result.dropped_here},
      {"foreign", result.foreign},
      {"size", MeanSize(result)},
      {"seconds", span.ToSeconds()},
      {"pps", pps},
      {"bit_per_s", pps * MeanSize(result) * 8},
      {"delay_us", Quantiles(result.tally.delay())},
      {"sample", options.socket.sample},
      {"series",
       {{"interval_s", TimeSeries::kInterval.ToSeconds()}, {"packets", result.series.counts()}}}};
}

std::string ToText(const SendOptions& options, const SendResult& result) {
  const double pps = OfferedRate(result);
  std::string text = fmt::format(
      "sent {} packets of {} bytes in {:.3f} s: {:.0f} packet/s, {:.3f} Mbit/s of payload\n",
      result.sent, options.size, result.elapsed.ToSeconds(), pps, pps * options.size * 8 / 1e6);
  if (options.rate) {
    text += fmt::format("pacer late by: {}; schedule given up: {:.3f} s\n", DelayText(result.late),
                        result.slip.ToSeconds());
  }
  if (result.errors > 0) text += fmt::format("refused by the kernel: {}\n", result.errors);
  return text;
}

std::string ToText(const ReceiveOptions&, const ReceiveResult& result) {
  std::string text = fmt::format(
      "received {} of {} packets ({:.3f}% lost): {:.0f} packet/s, {:.3f} Mbit/s of payload\n"
      "reordered {}, duplicate {}\none-way delay: {}\n",
      result.received, Sent(result), LossRatio(result) * 100, result.packets_per_second,
      result.packets_per_second * MeanSize(result) * 8 / 1e6, result.tally.reordered(),
      result.tally.duplicates(), DelayText(result.tally.delay()));
  if (!result.sent) text += "no end marker came: what was sent is a guess from the last number\n";
  if (result.dropped_here > 0) {
    text += fmt::format("lost at this receiver, not on the way: {}\n", result.dropped_here);
  }
  return text;
}

}  // namespace viaduct::load
