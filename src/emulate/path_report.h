// The statistics of a path as a table and for Prometheus.
#pragma once

#include <string>

#include "result/engine.h"

namespace viaduct::emulate {

// The table that `viaduct path` prints at the end; the last line is the timing.
std::string StatisticsTable(const result::EngineResult& statistics);

// Prometheus text exposition format 0.0.4. `statistics` must include the path's name.
std::string PrometheusText(const result::EngineResult& statistics);

}  // namespace viaduct::emulate
