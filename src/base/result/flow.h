// The result of a flow, which was carried either by real programs or by the simulator.
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

// Measurements over time in bounded memory: if there would be more than kMost of them, neighbours
// are merged into their mean.
class Samples {
 public:
  static constexpr size_t kMost = 36000;

  void Add(double seconds, double value);
  // Returns the number of measurements that are merged into one.
  uint64_t merged() const { return merged_; }
  // Returns all measurements; the last one may be the mean of fewer.
  std::vector<std::pair<double, double>> List() const;

 private:
  void Coarsen();

  std::vector<std::pair<double, double>> list_;
  uint64_t merged_ = 1;
  uint64_t pending_ = 0;  // measurements in `sum_`
  std::pair<double, double> sum_;
};

// A key of FlowResult::lost_at.
inline constexpr const char* kSendersInterfaces = "sender's interfaces";

// The result of one flow. Optional members are absent if this kind of flow has no such value.
struct FlowResult {
  std::string name, kind, from, to;
  std::string group;                       // the group that receives its packets; "" if none
  std::string error;                       // the reason, if there is no result; the rest is empty
  std::optional<uint64_t> sent, received;  // packets; sent: offered, refused ones included
  std::optional<double> loss;              // 0..1
  std::optional<uint64_t> not_offered;     // packets of the configured rate beyond `sent`; not 0
  // Packets lost outside the links, as far as known, by place.
  std::map<std::string, uint64_t> lost_at;
  // Packets, or answers to pings, that arrived again after they had been received; not 0.
  std::optional<uint64_t> duplicates;
  std::optional<bool> cut;              // true: packets still arrived when the wait ended
  std::optional<double> rate;           // bit/s of payload, as received
  std::optional<double> packet_rate;    // packets/s received, UDP
  std::optional<Times> rtt;             // ping
  std::optional<Times> delay;           // UDP, one way
  std::optional<uint64_t> retransmits;  // TCP
  // Samples over time: seconds since the flow started; bit/s in the interval that ends then (UDP,
  // TCP), or ms (ping).
  std::vector<std::pair<double, double>> samples;
  std::optional<uint64_t> samples_merged;  // measurements merged into one sample, if above 1
  std::optional<double> start, end;        // s since convergence
  std::vector<Gap> gaps;                   // UDP, ping
  std::optional<uint64_t> gaps_omitted;    // packets of gaps that are not listed, if any

  // Sets sent, received and loss; duplicates do not count as received packets.
  void Count(uint64_t packets_sent, uint64_t packets_received);
  // Counts packets that arrived again; does nothing for 0.
  void Repeat(uint64_t packets);
  // Counts packets that were lost at a place; does nothing for 0.
  void Lose(const std::string& place, uint64_t packets);
  void SetSamples(const Samples& measured);
  // Must be called after Count().
  void SetGaps(const GapFinder& finder);

  static fields::KeysOf<FlowResult> Keys();
};

// Returns how the flow failed the expectations of the scenario; "" if it did not.
std::string FailureOf(const FlowResult& flow);

}  // namespace viaduct::result
