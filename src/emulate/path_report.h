// What a path has done, for people, programs and Prometheus.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/time.h"
#include "engine/engine.h"

namespace viaduct::emulate {

// The table that `viaduct path` ends with; the last line is the timing.
std::string StatisticsTable(const nlohmann::json& statistics);

// Prometheus text exposition format 0.0.4. `statistics` with "name", the path's.
std::string PrometheusText(const nlohmann::json& statistics);

}  // namespace viaduct::emulate
