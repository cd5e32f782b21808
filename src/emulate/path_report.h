// What a path has done, for people, programs and Prometheus.
#pragma once

#include <string>

#include "result/engine.h"

namespace viaduct::emulate {

// The table that `viaduct path` ends with; the last line is the timing.
std::string StatisticsTable(const result::EngineResult& statistics);

// Prometheus text exposition format 0.0.4. `statistics` with the path's name.
std::string PrometheusText(const result::EngineResult& statistics);

}  // namespace viaduct::emulate
