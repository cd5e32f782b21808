// The graph of a link's log (path/trace/fate_trace.h, TraceFormat::kLinkLog): throughput and delay
// over time, as mm-throughput-graph and mm-delay-graph of Mahimahi draw them.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace viaduct::run {

// One direction of a link, in equal intervals from the path's start on.
struct LinkHistory {
  struct Interval {
    double arrived = 0, left = 0, dropped = 0;  // bytes
    double delays = 0, longest_delay = 0;       // ms: the sum over the packets that left
    double packets = 0;                         // the packets that left
  };
  double width = 1;  // ms
  std::vector<Interval> intervals;

  // Returns the interval of this time (ms). There are at most 400: when more are needed, all become
  // twice as wide.
  Interval& At(double time);
};

// Returns histories by the names of the pipelines. Throws UsageError naming `file` and the line.
std::map<std::string, LinkHistory> ReadLinkLog(std::istream& log, const std::string& file);

// Returns an SVG file: for each direction a panel of the throughput that arrived, left and was
// dropped, and one of the mean and the longest delay.
std::string LinkGraph(const std::map<std::string, LinkHistory>& links, const std::string& title);

}  // namespace viaduct::run
