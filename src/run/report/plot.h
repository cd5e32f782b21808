// Small plots as SVG text.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace viaduct::run {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

// Lines in panels one below the other, each with a linear y axis from 0 on, as an SVG file.
struct LinePanel {
  std::string title, x_name, y_name;
  // A point is the mean of the interval that ends there; the first begins at 0.
  std::vector<Series> series;
};
std::string LinePicture(const std::string& title, const std::vector<LinePanel>& panels);

// Bars in panels, one for each compared quantity, each with a separate logarithmic axis.
struct Bar {
  std::string name;
  double value = 0;  // not above 0: no bar, only the text
  std::string text;  // the value as written at the bar's end
};
struct BarPanel {
  std::string title, axis;
  std::vector<Bar> bars;
};
// `standalone`: for a separate SVG file, else for a page (page/page.h).
std::string BarPicture(const std::string& title, const std::vector<BarPanel>& panels,
                       bool standalone);

// A row of horizontal bars divided into parts that show shares of a whole.
struct StackedBar {
  std::string name;
  std::vector<std::pair<std::string, double>> parts;
};
std::string StackedBars(const std::vector<StackedBar>& bars);

// Round numbers that divide [0, top] into about `count` parts; the last is at least `top`.
std::vector<double> Ticks(double top, int count);
// Ticks of a logarithmic axis from `bottom` or less to `top` or more (both positive): powers of ten
// and, if these are few, also two and five times them.
std::vector<double> LogTicks(double bottom, double top);

}  // namespace viaduct::run
