// Converting an engine's statistics to results.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/result/engine.h"
#include "base/time.h"
#include "path/engine/engine.h"

namespace viaduct::engine {

inline constexpr auto kFates = [] {
  std::array<path::Fate, static_cast<size_t>(path::Fate::kCount)> fates{};
  for (size_t i = 0; i < fates.size(); ++i) fates[i] = static_cast<path::Fate>(i);
  return fates;
}();

// Returns the name of a fate in JSON keys and Prometheus labels: "queue_full".
std::string FateKey(path::Fate fate);

// Returns a port's counters as results, without the counters that only control ports have.
result::FrameCounters DescribeCounters(const io::PortCounters& counters);

// Converts an engine's statistics to results. The order of the pipelines in the results does not
// depend on their distribution over threads. The caller fills in the name, seed, times and
// environment.
result::EngineResult DescribeStatistics(const Statistics& statistics,
                                        std::optional<Duration> lateness_limit);

}  // namespace viaduct::engine
