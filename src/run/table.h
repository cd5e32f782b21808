// Results as text: what `viaduct run` prints at its end.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace viaduct::run {

// Rows of cells as aligned columns; the first row is the head. Cells that look like numbers are set
// to the right.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

// The table of one run's results (Execute()).
std::string ResultTable(const nlohmann::json& results);
// One table for several runs of one scenario, a column group a mode.
std::string ComparisonTable(const std::vector<nlohmann::json>& runs);
// "timing: p50/p99/max lateness 1.2/8.0/310 us over 12345 events: VALID (limit 1 ms)".
std::string TimingLine(const nlohmann::json& results);

// "1.57 Gbit/s".
std::string HumanRate(double bits_per_second);
// "0%", "0.012%", "12.3%".
std::string HumanPercent(double fraction);

}  // namespace viaduct::run
