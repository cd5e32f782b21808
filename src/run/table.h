// Results as text: what `viaduct run` prints at its end.
#pragma once

#include <string>
#include <vector>

#include "result/run.h"

namespace viaduct::run {

// Which columns hold mostly numbers and are set to the right, head and all. The first row is the
// head; a row shorter than it is a remark and does not count.
std::vector<bool> NumberColumns(const std::vector<std::vector<std::string>>& rows);
// Rows of cells as aligned columns; the first row is the head.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

// The table of one run's results (Execute()).
std::string ResultTable(const result::RunResult& run);
// One table for several runs of one scenario, a column group a mode.
std::string ComparisonTable(const std::vector<result::RunResult>& runs);
// "timing: p50/p99/max lateness 1.2/8.0/310 us over 12345 events: VALID (limit 1 ms)".
// `whose`: before the numbers ("links ").
std::string TimingLine(const result::Timing& timing, result::Verdict verdict,
                       const std::string& whose = "");

// "1.2": microseconds.
std::string Micros(int64_t nanoseconds);
// A number below 1000 and the prefix that makes it what it was ("k", "M", "G", "T").
struct Scaled {
  double value = 0;
  const char* prefix = "";
};
Scaled Scale(double value);
// "1.57 Gbit/s".
std::string HumanRate(double bits_per_second);
// "97.9k", "950".
std::string HumanCount(double count);
// "0%", "0.012%", "12.3%".
std::string HumanPercent(double fraction);

}  // namespace viaduct::run
