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

  // From a histogram of nanoseconds.
  static Times Of(const Histogram& nanoseconds);

  static fields::KeysOf<Times> Keys();
};

// Measurements over time in bounded memory: where there would be more than kMost of them, so many
// neighbours become one, their mean.
class Samples {
 public:
  static constexpr size_t kMost = 36000;

  void Add(double seconds, double value);
  // How many measurements are one.
  uint64_t merged() const { return merged_; }
  // All of them; the last one may be of fewer measurements.
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

// Optional members are absent if this kind of flow has no such value.
struct FlowResult {
  std::string name, kind, from, to;
  std::string group;                       // its packets go to; empty of others
  std::string error;                       // why there is no result; the rest is then empty
  std::optional<uint64_t> sent, received;  // packets; sent: offered, also what a kernel refused
  std::optional<double> loss;              // 0..1
  std::optional<uint64_t> not_offered;     // packets that the rate asked for beyond `sent`; not 0
  // Packets lost outside the links, as far as it is known, by place.
  std::map<std::string, uint64_t> lost_at;
  // Packets, or answers of ping, that came again after they had been received; not 0.
  std::optional<uint64_t> duplicates;
  std::optional<bool> cut;              // true: packets still arrived when the wait ended
  std::optional<double> rate;           // bit/s of payload, as received
  std::optional<double> packet_rate;    // packets/s received, UDP
  std::optional<Times> rtt;             // ping
  std::optional<Times> delay;           // UDP, one way
  std::optional<uint64_t> retransmits;  // TCP
  // Over time: seconds since the flow started; bit/s in the interval that ends then (UDP, TCP), or
  // ms (ping).
  std::vector<std::pair<double, double>> samples;
  std::optional<uint64_t> samples_merged;  // so many measurements are one sample, if more than one
  std::optional<double> start, end;        // s since convergence
  std::vector<Gap> gaps;                   // UDP, ping
  std::optional<uint64_t> gaps_omitted;    // packets of gaps that are not listed, if any

  // Sets sent, received and loss; duplicates do not count as received packets.
  void Count(uint64_t packets_sent, uint64_t packets_received);
  // Counts packets that came again; nothing, if there are none.
  void Repeat(uint64_t packets);
  // Counts packets that were lost at a place; nothing, if there are none.
  void Lose(const std::string& place, uint64_t packets);
  void SetSamples(const Samples& measured);
  // To be called after Count().
  void SetGaps(const GapFinder& finder);

  static fields::KeysOf<FlowResult> Keys();
};

// How the flow failed the expectations of the scenario; "" if it did not.
std::string FailureOf(const FlowResult& flow);

}  // namespace viaduct::result
