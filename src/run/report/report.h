// The report of one or more runs: a self-contained HTML page, and the raw data next to it.
#pragma once

#include <string>
#include <vector>

#include "base/result/run.h"

namespace viaduct::run {

// Creates the directory and its parents if necessary, and removes an old report in it, which could
// be mistaken for the report of this run if the run fails. Throws UsageError if the directory
// cannot be written.
void MakeReportDirectory(const std::string& directory);

// Writes index.html, results.json, flows.csv, samples.csv and gaps.csv; for several runs also
// result.svg. `runs`: results of Execute(); several results are of one scenario in different modes.
void WriteReport(const std::string& directory, const std::vector<result::RunResult>& runs);

// Returns the page as HTML. The page loads no other files: style, scripts and data are embedded.
// `directory`: the folder in which the page will be, so that it can name files in it (captures,
// outputs of programs, states); "": none.
std::string RenderHtml(const std::vector<result::RunResult>& runs,
                       const std::string& directory = "");
// Returns the results of the flows in each mode as bars on logarithmic axes, as an SVG file.
std::string ResultPicture(const std::vector<result::RunResult>& runs);
// Returns CSV with the columns "mode,flow,kind,from,to,sent_packets,..." and a line for each flow.
std::string FlowsCsv(const std::vector<result::RunResult>& runs);
// Returns CSV with a line for each sample: a round-trip time, or a rate.
std::string SamplesCsv(const std::vector<result::RunResult>& runs);
// Returns CSV with a line for each gap, which is a series of consecutive lost packets.
std::string GapsCsv(const std::vector<result::RunResult>& runs);

}  // namespace viaduct::run
