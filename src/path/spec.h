// The link SPEC: one string and one grammar everywhere (command line, scenario files, C++).
//
//   delay=20ms jitter=2ms dist=normal loss=1% dup=0.1% reorder=0.5% ber=1e-9 rate=10Mbit queue=100p
//
// Keys in any order, each at most once, separated by white space. The empty string is a plain wire.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace viaduct::path {

struct Queue {
  enum class Unit { kPackets, kBytes, kTime };
  Unit unit = Unit::kPackets;
  int64_t amount = 0;  // packets, bytes or nanoseconds
  friend bool operator==(const Queue&, const Queue&) = default;
};

// What a link does to the frames of one direction. Absent members do nothing.
struct Spec {
  std::optional<Duration> delay;
  std::optional<Duration> jitter;
  std::optional<std::string> distribution;  // uniform, normal, pareto, paretonormal
  std::optional<double> loss;               // probability, 0..1
  std::optional<double> duplicate;
  std::optional<double> reorder;
  std::optional<double> bit_error_rate;
  std::optional<int64_t> rate;  // bit/s
  std::optional<Queue> queue;
  std::optional<std::string> aqm;  // codel, pie, red, fq_codel

  bool IsPlainWire() const { return *this == Spec(); }
  friend bool operator==(const Spec&, const Spec&) = default;
};

// Throws UsageError naming the key, what is wrong with it and what is accepted.
Spec ParseSpec(std::string_view text);
// The inverse: ParseSpec(FormatSpec(s)) == s.
std::string FormatSpec(const Spec& spec);

}  // namespace viaduct::path
