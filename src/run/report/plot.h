// Small plots in the form of SVG text.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace viaduct::run {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

// One of several panels below each other, with lines and a linear y axis that begins at 0.
// LinePicture() returns the panels as an SVG file.
struct LinePanel {
  std::string title, x_name, y_name;
  // The lines. A point is the mean of the interval that ends at its x value; the first interval
  // begins at 0.
  std::vector<Series> series;
};
std::string LinePicture(const std::string& title, const std::vector<LinePanel>& panels);

// One of several panels with bars, one panel for each compared quantity, each with a separate
// logarithmic axis.
struct Bar {
  std::string name;
  double value = 0;  // if the value is not above 0, only the text is drawn, and no bar
  std::string text;  // the value as it is written at the end of the bar
};
struct BarPanel {
  std::string title, axis;
  std::vector<Bar> bars;
};
// Returns bars as SVG. `standalone`: for a separate SVG file; otherwise for a page (page/page.h).
std::string BarPicture(const std::string& title, const std::vector<BarPanel>& panels,
                       bool standalone);

// A row of horizontal bars that are divided into parts, which show shares of a total.
struct StackedBar {
  std::string name;
  std::vector<std::pair<std::string, double>> parts;
};
std::string StackedBars(const std::vector<StackedBar>& bars);

// Returns round numbers that divide [0, top] into about `count` parts; the last is at least `top`.
std::vector<double> Ticks(double top, int count);
// Returns the ticks of a logarithmic axis from `bottom` or less to `top` or more (both positive):
// powers of ten and, if there are few of them, also their products with two and five.
std::vector<double> LogTicks(double bottom, double top);

}  // namespace viaduct::run
