// The queue and the link (rate, overhead, burst) of a SPEC.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "path/queue/frame_overhead.h"
#include "path/queue/queue_size.h"

namespace viaduct::path {

enum class DropAt { kTail, kHead };

// Active queue management: the name of a row of Disciplines() (path/queue/disciplines.h) and the
// parameters in their normal form; parameters that are not given have the discipline's defaults.
struct Aqm {
  Aqm() = default;
  explicit Aqm(std::string_view name, std::string_view parameters = {})
      : name(name), parameters(parameters) {}
  std::string name, parameters;  // "codel" and "target=5ms,ecn"
  friend bool operator==(const Aqm&, const Aqm&) = default;
};

struct QueueSpec {
  std::optional<QueueSize> limit;  // absent: the discipline's default
  std::optional<DropAt> drop;
  std::optional<Aqm> aqm;
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

// A file that gives a varying rate.
struct RateTrace {
  enum class Format { kMahimahi, kRateOverTime };  // in path/queue/: mahimahi_rate.h, rate_series.h
  Format format = Format::kMahimahi;
  std::string file;
  friend bool operator==(const RateTrace&, const RateTrace&) = default;
};

struct LinkSpec {
  std::optional<int64_t> rate;        // bit/s
  std::optional<RateTrace> trace;     // instead of `rate`
  std::optional<std::string> shared;  // name of the link, if other directions share it
  std::optional<FrameOverhead> overhead;
  std::optional<int64_t> burst;  // bytes: depth of the token bucket
  bool HasRate() const { return rate || trace; }
  friend bool operator==(const LinkSpec&, const LinkSpec&) = default;
};

}  // namespace viaduct::path
