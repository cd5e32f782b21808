#include "base/result/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<Times> Times::Keys() {
  static constexpr fields::Key<Times> kKeys[] = {
      Always<&Times::min>("min", "ms", "the shortest"),
      Always<&Times::mean>("avg", "ms", "the mean"),
      Always<&Times::p50>("p50", "ms",
                          "half of them took at most this; exact of up to 1024 packets, else "
                          "within 0.1%, as `p99`"),
      Always<&Times::p99>("p99", "ms", "99 in 100 took at most this"),
      Always<&Times::max>("max", "ms", "the longest"),
  };
  return kKeys;
}

Times Times::Of(const Histogram& nanoseconds) {
  const auto milliseconds = [](auto value) { return static_cast<double>(value) / 1e6; };
  Times times;
  times.min = milliseconds(nanoseconds.Min());
  times.mean = milliseconds(nanoseconds.Mean());
  times.max = milliseconds(nanoseconds.Max());
  times.p50 = milliseconds(nanoseconds.Quantile(0.5));
  times.p99 = milliseconds(nanoseconds.Quantile(0.99));
  return times;
}

fields::KeysOf<FlowResult> FlowResult::Keys() {
  static constexpr fields::Key<FlowResult> kKeys[] = {
      Always<&FlowResult::name>("name", "text", "the scenario's name for it"),
      Always<&FlowResult::kind>("kind", "udp, tcp or ping", "what it is"),
      Always<&FlowResult::from>("from", "a node", "who sends"),
      Always<&FlowResult::to>("to", "a node", "who receives"),
      WhenSet<&FlowResult::group>("group", "an address",
                                  "that its packets go to; flows of one sender to one group are "
                                  "the same packets"),
      WhenSet<&FlowResult::error>("error", "text",
                                  "why there is no result; nothing was measured then"),
      WhenSet<&FlowResult::sent>("sent", "packets",
                                 "offered, whether or not the kernel took them; not of TCP"),
      WhenSet<&FlowResult::received>("received", "packets",
                                     "received, answers of ping; not of TCP"),
      WhenSet<&FlowResult::loss>("loss", "0..1",
                                 "the share of the offered packets that did not arrive"),
      WhenSet<&FlowResult::not_offered>("not_offered", "packets",
                                        "that the flow's rate or interval asked for beyond `sent`: "
                                        "its sender was too slow for it, "
                                        "or ended early; of UDP and ping in the real modes"),
      WhenSet<&FlowResult::lost_at>(
          "lost_at", "packets, by place",
          "outside the links, as far as it is known: `refused ERROR` (the sender's kernel took "
          "it not), `sender's interfaces` (dropped on their way out, of all programs), "
          "`receiver's buffer`, each of UDP in the real modes; of a ping the first, and `sender's "
          "buffer` (its program was too slow for the replies); `NODE: REASON` (ns-3's IP layer, "
          "address resolution and queues there, or a link that was down; not of fragments; "
          "`address_unresolved`: before the next hop's MAC address was known, as when a flow "
          "begins) where ns-3 forwards, over Wi-Fi also `wifi_not_acknowledged`, `wifi_too_old` "
          "(or behind the "
          "window of block acknowledgements), `wifi_queue_full`, `wifi_not_associated`; "
          "`refused` in mode simulate"),
      WhenSet<&FlowResult::duplicates>(
          "duplicates", "packets",
          "that came again after they had been received, or answers of ping; absent: none did; not "
          "of TCP"),
      WhenSet<&FlowResult::cut>("cut", "true",
                                "packets were still arriving when the wait for what was under way "
                                "ended; those that came later count as lost"),
      WhenSet<&FlowResult::rate>(
          "rate_bit_per_s", "bit/s",
          "of payload, as received, duplicates once: UDP from its first packet to its last (of one "
          "packet there is none), TCP from its start to its last byte; not of ping"),
      WhenSet<&FlowResult::packet_rate>("packets_per_s", "packets/s",
                                        "the same of packets; of UDP in the real modes"),
      WhenSet<&FlowResult::retransmits>("retransmits", "segments",
                                        "retransmitted; of TCP in the real modes"),
      WhenSet<&FlowResult::rtt>("rtt_ms", "a map",
                                "round-trip times; of ping, if any answer arrived; in the real "
                                "modes from before the system call that sends a request to the "
                                "kernel's time stamp of its reply"),
      WhenSet<&FlowResult::delay>("delay_ms", "a map",
                                  "one-way delays; of UDP, if any packet arrived"),
      Always<&FlowResult::samples>(
          "samples", "pairs: s, and bit/s or ms",
          "over time, counted from the flow's start: the rate received in the interval that ends "
          "then, or the round-trip time of the request sent then"),
      WhenSet<&FlowResult::samples_merged>(
          "samples_merged", "measurements",
          "so many neighbours are one sample, their mean, of a flow that has too many for each to "
          "be one"),
      WhenSet<&FlowResult::start>("start", "s", "when it was to start, since convergence"),
      WhenSet<&FlowResult::end>("end", "s",
                                "when it was to end, since convergence; so does a gap after which "
                                "no packet arrived"),
      WhenSet<&FlowResult::gaps>(
          "gaps", "a list of maps",
          "packets in a row that were lost, the longest if there are more than 2000; of UDP and "
          "ping, where any was lost"),
      WhenSet<&FlowResult::gaps_omitted>("gaps_omitted", "packets",
                                         "of gaps that are not listed, as there were too many"),
  };
  return kKeys;
}

void FlowResult::Count(uint64_t packets_sent, uint64_t packets_received) {
  sent = packets_sent;
  received = packets_received;
  const auto arrived = static_cast<double>(std::min(packets_sent, packets_received));
  // A flow that sent no packet has no loss rate.
  if (packets_sent > 0) loss = 1.0 - arrived / static_cast<double>(packets_sent);
}

void FlowResult::Repeat(uint64_t packets) {
  if (packets > 0) duplicates = duplicates.value_or(0) + packets;
}

void FlowResult::Lose(const std::string& place, uint64_t packets) {
  if (packets > 0) lost_at[place] += packets;
}

void FlowResult::SetSamples(const Samples& measured) {
  samples = measured.List();
  if (measured.merged() > 1) samples_merged = measured.merged();
}

void FlowResult::SetGaps(const GapFinder& finder) {
  gaps = finder.Find(sent.value_or(0));
  if (finder.omitted() > 0) gaps_omitted = finder.omitted();
}

void Samples::Add(double seconds, double value) {
  sum_.first += seconds;
  sum_.second += value;
  if (++pending_ < merged_) return;
  const auto count = static_cast<double>(std::exchange(pending_, 0));
  const auto [time, total] = std::exchange(sum_, {});
  list_.emplace_back(time / count, total / count);
  if (list_.size() == kMost) Coarsen();
}

void Samples::Coarsen() {
  for (size_t i = 0; i < kMost / 2; ++i) {
    const auto [first_time, first] = list_[2 * i];
    const auto [second_time, second] = list_[2 * i + 1];
    list_[i] = {(first_time + second_time) / 2, (first + second) / 2};
  }
  list_.resize(kMost / 2);
  merged_ *= 2;
}

std::vector<std::pair<double, double>> Samples::List() const {
  auto list = list_;
  const auto count = static_cast<double>(pending_);
  if (pending_ > 0) list.emplace_back(sum_.first / count, sum_.second / count);
  return list;
}

std::string FailureOf(const FlowResult& flow) {
  return flow.error.empty() ? "" : fmt::format("flow '{}': {}", flow.name, flow.error);
}

}  // namespace viaduct::result
