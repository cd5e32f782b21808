// The report of one or more runs: a self-contained HTML page, and the raw data beside it.
#pragma once

#include <string>
#include <vector>

#include "result/run.h"

namespace viaduct::run {

// Makes the directory (and its parents) unless it is there. UsageError if it cannot be written.
void MakeReportDirectory(const std::string& directory);

// Writes index.html, results.json, flows.csv and samples.csv; of several runs also result.svg.
// `runs`: results of Execute(), of one scenario in several modes where there are more than one.
void WriteReport(const std::string& directory, const std::vector<result::RunResult>& runs);

// The page itself. It loads nothing: style and plots (SVG) are inside.
std::string RenderHtml(const std::vector<result::RunResult>& runs);
// What the flows achieved in each mode: bars on logarithmic axes, as an SVG file.
std::string ResultPicture(const std::vector<result::RunResult>& runs);
// "mode,flow,kind,from,to,sent,received,loss,rate_bit_per_s,..." a line a flow.
std::string FlowsCsv(const std::vector<result::RunResult>& runs);
// "mode,flow,seconds,value": throughput in bit/s, or round trips in ms.
std::string SamplesCsv(const std::vector<result::RunResult>& runs);

}  // namespace viaduct::run
