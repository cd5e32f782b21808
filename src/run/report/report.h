// The report of one or more runs: a self-contained HTML page, and the raw data next to it.
#pragma once

#include <string>
#include <vector>

#include "base/result/run.h"

namespace viaduct::run {

// Creates the directory and its parents if necessary, and removes the report in it: it must not be
// taken for that of a run that fails. Throws UsageError if the directory cannot be written.
void MakeReportDirectory(const std::string& directory);

// Writes index.html, results.json, flows.csv, samples.csv and gaps.csv; for several runs also
// result.svg. `runs`: results of Execute(); several are those of one scenario in different modes.
void WriteReport(const std::string& directory, const std::vector<result::RunResult>& runs);

// Returns the page. It loads no other files: style, scripts and data are embedded. `directory`: the
// page's future folder, so that it names files there (captures, outputs of programs, states); "":
// none.
std::string RenderHtml(const std::vector<result::RunResult>& runs,
                       const std::string& directory = "");
// The results of the flows in each mode as bars on logarithmic axes, as an SVG file.
std::string ResultPicture(const std::vector<result::RunResult>& runs);
// Returns columns "mode,flow,kind,from,to,sent_packets,...", one line per flow.
std::string FlowsCsv(const std::vector<result::RunResult>& runs);
// Returns a line for each sample: a round-trip time, or a rate.
std::string SamplesCsv(const std::vector<result::RunResult>& runs);
// Returns a line for each gap, that is for consecutive lost packets.
std::string GapsCsv(const std::vector<result::RunResult>& runs);

}  // namespace viaduct::run
