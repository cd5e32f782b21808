// What an engine has done, as JSON.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/time.h"
#include "engine/engine.h"

namespace viaduct::engine {

inline constexpr auto kFates = [] {
  std::array<path::Fate, static_cast<size_t>(path::Fate::kCount)> fates{};
  for (size_t i = 0; i < fates.size(); ++i) fates[i] = static_cast<path::Fate>(i);
  return fates;
}();

// As keys of JSON and values of labels: "queue_full".
std::string FateKey(path::Fate fate);

// "pipelines", "ports", "memory", "timing" and "verdict" ("VOID" where p99 of the lateness is over
// the limit). The keys are documented in docs/path.md.
nlohmann::json DescribeStatistics(const Statistics& statistics,
                                  std::optional<Duration> lateness_limit);

}  // namespace viaduct::engine
