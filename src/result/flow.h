// The result of a flow, which was carried either by real programs or by the simulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "result/record.h"

namespace viaduct::result {

struct Times {
  std::optional<double> min;  // ms, like the others
  double mean = 0, max = 0, p50 = 0, p99 = 0;

  // From a histogram of nanoseconds; without the minimum, which it does not keep.
  static Times Of(const Histogram& nanoseconds);

  static KeysOf<Times> Keys();
};

// Optional members are absent if this kind of flow has no such value.
struct FlowResult {
  std::string name, kind, from, to;
  std::string error;                       // why there is no result; the rest is then empty
  std::optional<uint64_t> sent, received;  // packets
  std::optional<double> loss;              // 0..1
  std::optional<double> rate;              // bit/s of payload, as received
  std::optional<double> packet_rate;       // packets/s received, UDP
  std::optional<Times> rtt;                // ping
  std::optional<Times> delay;              // UDP, one way
  std::optional<uint64_t> retransmits;     // TCP
  // Over time: seconds since the flow started; bit/s in the interval that ends then (UDP, TCP), or
  // ms (ping).
  std::vector<std::pair<double, double>> samples;

  // Sets sent, received and loss; duplicates do not count as received packets.
  void Count(uint64_t packets_sent, uint64_t packets_received);

  static KeysOf<FlowResult> Keys();
};

// How the flow failed the expectations of the scenario; "" if it did not.
std::string FailureOf(const FlowResult& flow);

}  // namespace viaduct::result
