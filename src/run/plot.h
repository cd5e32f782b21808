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

// Lines over a common axis; the y axis is logarithmic, because modes differ by orders of magnitude.
// It has ticks, axis names, and a legend that distinguishes the lines without colours too. Empty
// series are omitted; returns "" when all are empty.
enum class LineStyle {
  kPoints,  // a point is a moment; the line joins them
  kSteps,   // a point is the mean of the interval that ends there; the first begins at 0
};
std::string LinePlot(const std::vector<Series>& series, const std::string& x_name,
                     const std::string& y_name, LineStyle style);

// Lines in panels one below the other, each with a linear y axis from 0 on, as an SVG file.
struct LinePanel {
  std::string title, x_name, y_name;
  std::vector<Series> series;  // in LineStyle::kSteps
};
std::string LinePicture(const std::string& title, const std::vector<LinePanel>& panels);

// Bars in panels, one for each compared quantity, each with a logarithmic axis of its own.
struct Bar {
  std::string name;
  double value = 0;  // not above 0: no bar, only the text
  std::string text;  // the value as written at the bar's end
};
struct BarPanel {
  std::string title, axis;
  std::vector<Bar> bars;
};
// `standalone`: for a separate SVG file, else for a page that includes SvgStyle().
std::string BarPicture(const std::string& title, const std::vector<BarPanel>& panels,
                       bool standalone);

// The style sheet of all plots.
const char* SvgStyle();

// A row of horizontal bars divided into parts that show shares of a whole.
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
// Ticks of a logarithmic axis from `bottom` or less to `top` or more (both positive): powers of ten
// and, if these are few, also two and five times them.
std::vector<double> LogTicks(double bottom, double top);

}  // namespace viaduct::run
