// The result of a flow, which real programs or the simulator carried.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/histogram.h"
#include "base/result/gaps.h"

namespace viaduct::result {

struct Times {
  double min = 0, mean = 0, max = 0, p50 = 0, p99 = 0;  // ms

  // Computes the times from a histogram of nanoseconds.
  static Times Of(const Histogram& nanoseconds);

  static fields::KeysOf<Times> Keys();
};

// Measurements over time in bounded memory: if there would be more than kMost measurements,
// neighbouring measurements are merged into their mean.
class Samples {
 public:
  static constexpr size_t kMost = 36000;

  void Add(double seconds, double value);
  // Returns the number of measurements that are merged into one.
  uint64_t merged() const { return merged_; }
  // Returns all measurements (seconds, value); the last one may be the mean of fewer measurements
  // than the others.
  std::vector<std::pair<double, double>> List() const;

 private:
  void Coarsen();

  std::vector<std::pair<double, double>> list_;
  uint64_t merged_ = 1;
  uint64_t pending_ = 0;  // number of measurements that are added up in `sum_`
  std::pair<double, double> sum_;
};

// A key of FlowResult::lost_at: packets of all programs, dropped at the sender's interfaces.
inline constexpr const char* kSendersInterfaces = "sender's interfaces";

// The result of one flow. An optional member is absent if flows of this kind have no such value.
struct FlowResult {
  std::string name, kind, from, to;
  // The multicast group to which the flow sends; "" if none.
  std::string group;
  // The reason that the flow has no result (the members after this one are then empty); else "".
  std::string error;
  // The numbers of packets sent and received; `sent` counts all offered packets, also refused ones.
  std::optional<uint64_t> sent, received;
  std::optional<double> loss;  // share of the packets sent, 0..1
  // The number of packets that the configured rate demands beyond `sent`; never 0.
  std::optional<uint64_t> not_offered;
  // The numbers of packets that were lost outside the links, as far as known, by the place of loss.
  std::map<std::string, uint64_t> lost_at;
  // Packets, or answers to pings, that arrived more than once: the number of repetitions; never 0.
  std::optional<uint64_t> duplicates;
  // True if packets of the flow still arrived when the receiver stopped waiting.
  std::optional<bool> cut;
  std::optional<double> rate;           // bit/s of received payload
  std::optional<double> packet_rate;    // received packets/s; UDP only
  std::optional<Times> rtt;             // round-trip times; ping only
  std::optional<Times> delay;           // one-way delays; UDP only
  std::optional<uint64_t> retransmits;  // retransmitted segments; TCP only
  // Samples over time: the seconds since the flow's start, and a value. UDP, TCP: the rate in bit/s
  // of the interval that ends at that time; ping: the round-trip time in ms.
  std::vector<std::pair<double, double>> samples;
  // The number of measurements merged into one sample, if above 1.
  std::optional<uint64_t> samples_merged;
  std::optional<double> start, end;  // s since convergence
  std::vector<Gap> gaps;             // gaps of lost packets; UDP and ping only
  // The number of lost packets in the gaps that are not listed in `gaps`, if any.
  std::optional<uint64_t> gaps_omitted;

  // Sets `sent`, `received` and `loss`. If duplicates make `packets_received` larger than
  // `packets_sent`, the loss is 0.
  void Count(uint64_t packets_sent, uint64_t packets_received);
  // Adds a number of packets to `duplicates`; does nothing for 0.
  void Repeat(uint64_t packets);
  // Adds a number of packets that were lost at a place to `lost_at`; does nothing for 0.
  void Lose(const std::string& place, uint64_t packets);
  void SetSamples(const Samples& measured);
  // Sets `gaps` and `gaps_omitted`. Must be called after Count(), which sets `sent`.
  void SetGaps(const GapFinder& finder);

  static fields::KeysOf<FlowResult> Keys();
};

// Returns the reason for which the flow failed; "" if it did not fail.
std::string FailureOf(const FlowResult& flow);

}  // namespace viaduct::result
