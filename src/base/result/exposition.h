// Prometheus' text exposition format 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result/timing.h"

namespace viaduct::result {

using MetricLabels = std::vector<std::pair<const char*, std::string>>;

// Writes one metric family after another; omits a family without samples.
class Exposition {
 public:
  // Begins a metric family. `type`: "counter" (the name must end in _total), "gauge" or "summary".
  // Values must be in base units: seconds, bytes.
  void Family(const std::string& name, const char* type, const char* help);
  template <class Value>
  void Sample(const MetricLabels& labels, const Value& value, const char* suffix = "") {
    AddSample(labels, fmt::format("{}", value), suffix);
  }
  // Adds the samples of a summary in seconds, converted from the nanoseconds of `timing`. Omits a
  // quantile that was not measured, and all quantiles if nothing was measured.
  void Lateness(const MetricLabels& labels, const Timing& timing);
  const std::string& text() const { return text_; }

 private:
  void AddSample(const MetricLabels& labels, const std::string& value, const char* suffix);

  std::string name_, head_, text_;
};

}  // namespace viaduct::result
