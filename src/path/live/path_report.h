// The statistics of a path as a table and for Prometheus.
#pragma once

#include <string>
#include <vector>

#include "base/result/engine.h"
#include "base/result/exposition.h"

namespace viaduct::path {

// Returns the table that `viaduct path` prints at the end; the last line is the timing.
std::string StatisticsTable(const result::EngineResult& statistics);

// Returns the text for Prometheus (base/result/exposition.h). `statistics` must include the path's
// name.
std::string PrometheusText(const result::EngineResult& statistics);
// Exposes the metrics of PrometheusText() for several engines. The names of the engines must differ
// and become values of the label `label`; `prefix` begins the names of the metrics.
void ExposeEngines(const std::vector<result::EngineResult>& all, const std::string& prefix,
                   const char* label, result::Exposition& exposition);

}  // namespace viaduct::path
