#include "base/result/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<Times> Times::Keys() {
  static constexpr fields::Key<Times> kKeys[] = {
      Always<&Times::min>("min", "ms", "the minimum"),
      Always<&Times::mean>("avg", "ms", "the mean"),
      Always<&Times::p50>(
          "p50", "ms",
          "the median; exact for up to 1024 packets, otherwise within 0.1%, as is `p99`"),
      Always<&Times::p99>("p99", "ms",
                          "the 99th percentile: 99 in 100 packets took at most this time"),
      Always<&Times::max>("max", "ms", "the maximum"),
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
      Always<&FlowResult::name>("name", "text", "the name of the flow in the scenario"),
      Always<&FlowResult::kind>("kind", "udp, tcp or ping", "the kind of traffic"),
      Always<&FlowResult::from>("from", "a node", "the node that sends"),
      Always<&FlowResult::to>("to", "a node", "the node that receives"),
      WhenSet<&FlowResult::group>("group", "an address",
                                  "the multicast group to which the flow's packets are sent; flows "
                                  "from one sender to one group are the same packets"),
      WhenSet<&FlowResult::error>(
          "error", "text", "the reason why there is no result; in this case nothing was measured"),
      WhenSet<&FlowResult::sent>("sent", "packets",
                                 "packets that the sender offered to the kernel, whether or not "
                                 "the kernel accepted them; not for TCP"),
      WhenSet<&FlowResult::received>("received", "packets",
                                     "packets received, or replies received for ping; not for TCP"),
      WhenSet<&FlowResult::loss>("loss", "0..1",
                                 "the share of the offered packets that did not arrive"),
      WhenSet<&FlowResult::not_offered>(
          "not_offered", "packets",
          "packets that the flow's rate or interval required in addition to `sent`, but that its "
          "sender did not offer because the sender was too slow or ended early; only for UDP and "
          "ping; not in mode simulate"),
      WhenSet<&FlowResult::lost_at>(
          "lost_at", "packets, by where they were lost",
          "packets lost outside the links, as far as known. In mode simulate: `refused`. In the "
          "other modes for UDP: `refused ERROR` (refused by the sender's kernel), `sender's "
          "interfaces` (outgoing packets that the interfaces of the sender's node dropped, counted "
          "for all programs), `receiver's buffer` (the receiving program was too slow); for ping: "
          "`refused ERROR`, `sender's buffer` (the program was too slow to receive the replies). "
          "Where ns-3 forwards: `NODE: REASON` (dropped by the node's IP layer, address resolution "
          "or queues in ns-3, or by a link that was down; fragments are not counted; "
          "`address_unresolved`: dropped before the MAC address of the next hop was known, for "
          "example when a flow begins), over Wi-Fi also `wifi_not_acknowledged`, `wifi_too_old` "
          "(queued too long, or behind the window of block acknowledgements), `wifi_queue_full`, "
          "`wifi_not_associated`"),
      WhenSet<&FlowResult::duplicates>(
          "duplicates", "packets",
          "further copies of packets, or of replies to pings, that had already arrived; absent if "
          "there were none; not for TCP"),
      WhenSet<&FlowResult::cut>("cut", "true",
                                "true if packets were still arriving when the wait for packets in "
                                "flight ended; packets that arrived later count as lost"),
      WhenSet<&FlowResult::rate>(
          "rate_bit_per_s", "bit/s",
          "the rate of the received payload, with duplicates counted once: for UDP from the first "
          "packet to the last (absent if there was only one), for TCP from the start of the flow "
          "to the last byte; not for ping"),
      WhenSet<&FlowResult::packet_rate>("packets_per_s", "packets/s",
                                        "the rate of the received packets, measured like "
                                        "`rate_bit_per_s`; only for UDP; not in mode simulate"),
      WhenSet<&FlowResult::retransmits>(
          "retransmits", "segments",
          "segments that were retransmitted; only for TCP; not in mode simulate"),
      WhenSet<&FlowResult::rtt>("rtt_ms", "a map",
                                "round-trip times; only for ping, if any reply arrived; in all "
                                "modes except simulate from before the system call that sends a "
                                "request to the kernel's time stamp of its reply"),
      WhenSet<&FlowResult::delay>("delay_ms", "a map",
                                  "one-way delays; only for UDP, if any packet arrived"),
      Always<&FlowResult::samples>(
          "samples", "pairs: s, and bit/s or ms",
          "measurements over time: pairs of a time, in seconds from the flow's start, and a value: "
          "the rate received in the interval that ends at the time, or for ping the round-trip "
          "time of the request sent at the time"),
      WhenSet<&FlowResult::samples_merged>(
          "samples_merged", "measurements",
          "the number of consecutive measurements that are averaged into one sample, if the flow "
          "has too many measurements to list them all"),
      WhenSet<&FlowResult::start>("start", "s",
                                  "the planned start of the flow, in seconds from convergence"),
      WhenSet<&FlowResult::end>("end", "s",
                                "the planned end of the flow, in seconds from convergence; if no "
                                "packet arrived after a gap, the gap also ends at this time"),
      WhenSet<&FlowResult::gaps>(
          "gaps", "a list of maps",
          "gaps, which are consecutive packets that were lost; only the longest gaps if there are "
          "more than 2000; only for UDP and ping, if any packet was lost"),
      WhenSet<&FlowResult::gaps_omitted>(
          "gaps_omitted", "packets",
          "lost packets in gaps that are not listed because there were too many gaps"),
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
