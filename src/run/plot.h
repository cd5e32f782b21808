// Small plots as SVG text.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace viaduct::run {

// &, <, > and quotes as entities.
std::string EscapeHtml(const std::string& text);

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

// Lines over a common axis, with ticks, names of the axes, and a legend. Empty series are left out;
// "" when nothing is left. The y axis starts at 0.
std::string LinePlot(const std::vector<Series>& series, const std::string& x_name,
                     const std::string& y_name);

// A row of horizontal bars cut into parts: what share of a whole each part is.
struct StackedBar {
  std::string name;
  std::vector<std::pair<std::string, double>> parts;
};
std::string StackedBars(const std::vector<StackedBar>& bars);

// Nodes on a circle (or a line, when the links form one), links between them; a link of more than
// two nodes is a dot of its own.
struct GraphLink {
  std::string name;
  std::vector<std::string> nodes;
};
std::string TopologyPicture(const std::vector<std::string>& nodes,
                            const std::vector<GraphLink>& links);

// Round numbers that divide [0, top] into about `count` parts; the last is at least `top`.
std::vector<double> Ticks(double top, int count);

}  // namespace viaduct::run
