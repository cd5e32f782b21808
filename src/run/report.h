// The report of one or more runs: a self-contained HTML page, and the raw data beside it.
#pragma once

#include <string>
#include <vector>

#include "result/run.h"

namespace viaduct::run {

// Creates the directory and its parents if necessary, and removes the report that it has: a run
// that fails must not seem to have made it. Throws UsageError if it cannot be written.
void MakeReportDirectory(const std::string& directory);

// Writes index.html, results.json, flows.csv and samples.csv; for several runs also result.svg.
// `runs`: results of Execute(); several are those of one scenario in different modes.
void WriteReport(const std::string& directory, const std::vector<result::RunResult>& runs);

// Returns the page. It loads no other files: style and plots (SVG) are embedded.
std::string RenderHtml(const std::vector<result::RunResult>& runs);
// The results of the flows in each mode as bars on logarithmic axes, as an SVG file.
std::string ResultPicture(const std::vector<result::RunResult>& runs);
// Columns "mode,flow,kind,from,to,sent,received,loss,rate_bit_per_s,...", one line per flow.
std::string FlowsCsv(const std::vector<result::RunResult>& runs);
// Columns "mode,flow,seconds,value"; the value is throughput in bit/s, or round-trip time in ms.
std::string SamplesCsv(const std::vector<result::RunResult>& runs);

}  // namespace viaduct::run
