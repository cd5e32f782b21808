// What an engine has done, as results.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/time.h"
#include "engine/engine.h"
#include "result/engine.h"

namespace viaduct::engine {

inline constexpr auto kFates = [] {
  std::array<path::Fate, static_cast<size_t>(path::Fate::kCount)> fates{};
  for (size_t i = 0; i < fates.size(); ++i) fates[i] = static_cast<path::Fate>(i);
  return fates;
}();

// As keys of JSON and values of labels: "queue_full".
std::string FateKey(path::Fate fate);

// What a port counts, without what only control ports count.
result::FrameCounters DescribeCounters(const io::PortCounters& counters);

// Pipelines are in one order, however they are dealt to threads. The name, seed, times and
// environment are the caller's to fill in.
result::EngineResult DescribeStatistics(const Statistics& statistics,
                                        std::optional<Duration> lateness_limit);

}  // namespace viaduct::engine
