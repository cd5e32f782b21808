// The graph of a link's log (path/trace/fate_trace.h, TraceFormat::kLinkLog): throughput and delay
// over time, as mm-throughput-graph and mm-delay-graph of Mahimahi draw them.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace viaduct::run {

// The history of one direction of a link, in equal intervals from the start of the path.
struct LinkHistory {
  struct Interval {
    double arrived = 0, left = 0, dropped = 0;  // bytes in the interval
    double delays = 0, longest_delay = 0;       // ms: sum, maximum, of packets that left the link
    double packets = 0;                         // number of packets that left the link
  };
  double width = 1;  // width of an interval in ms
  std::vector<Interval> intervals;

  // Returns the interval that contains this time (ms). There are at most 400 intervals: if more are
  // needed, all become twice as wide.
  Interval& At(double time);
};

// Returns histories by the names of the pipelines. Throws UsageError naming `file` and the line.
std::map<std::string, LinkHistory> ReadLinkLog(std::istream& log, const std::string& file);

// Returns an SVG file with two panels for each direction: the throughput that arrived at the link,
// left it and was dropped, and the mean and maximum delay.
std::string LinkGraph(const std::map<std::string, LinkHistory>& links, const std::string& title);

}  // namespace viaduct::run
