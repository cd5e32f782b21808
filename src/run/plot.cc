#include "run/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "run/table.h"

namespace viaduct::run {
namespace {

// Okabe and Ito (2008): eight colours that colour-blind people can distinguish, without yellow and
// black.
constexpr std::array<const char*, 6> kColors = {"#0072b2", "#d55e00", "#009e73",
                                                "#cc79a7", "#56b4e9", "#e69f00"};
constexpr double kWidth = 720, kHeight = 260, kLeft = 70, kRight = 16, kTop = 14, kBottom = 44;

// For print, and eyes that see no colours.
constexpr std::array<const char*, 4> kDashes = {"none", "7 3", "2 3", "9 3 2 3"};

const char* Color(size_t index) { return kColors[index % kColors.size()]; }
const char* Dashes(size_t index) { return kDashes[index % kDashes.size()]; }

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     EscapeHtml(text));
}

std::string Line(double x1, double y1, double x2, double y2, const char* kind) {
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x1,
      y1, x2, y2);
}

std::string Open(double width, double height) {
  return fmt::format("<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" role=\"img\">\n",
                     width, height);
}

std::string Legend(const std::vector<std::string>& names, bool lines) {
  std::string text = "<p class=\"legend\">";
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string sample =
        lines
            ? fmt::format("<polyline style=\"stroke:{};stroke-dasharray:{}\" points=\"0,6 30,6\"/>",
                          Color(i), Dashes(i))
            : fmt::format("<rect width=\"12\" height=\"12\" fill=\"{}\"/>", Color(i));
    text += fmt::format("<span><svg width=\"{}\" height=\"12\">{}</svg> {}</span> ",
                        lines ? 30 : 12, sample, EscapeHtml(names[i]));
  }
  return text + "</p>\n";
}

// "50", "10k", "1G"; small numbers as they are.
std::string TickText(double tick) {
  const auto [value, prefix] = Scale(tick);
  return fmt::format("{:g}{}", value, prefix);
}

struct Axes {
  double x_top, y_bottom, y_top;  // y_bottom 0: a linear y axis, else a logarithmic one
  double X(double x) const { return kLeft + x / x_top * (kWidth - kLeft - kRight); }
  double Y(double y) const {
    if (y_bottom == 0) return kHeight - kBottom - y / y_top * (kHeight - kTop - kBottom);
    const double share = std::log(std::max(y, y_bottom) / y_bottom) / std::log(y_top / y_bottom);
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }
};

std::string DrawAxes(const Axes& axes, const std::vector<double>& x_ticks,
                     const std::vector<double>& y_ticks, const std::string& x_name,
                     const std::string& y_name) {
  std::string svg;
  for (const double tick : y_ticks) {
    svg += Line(kLeft, axes.Y(tick), kWidth - kRight, axes.Y(tick), "grid");
    svg += Text(kLeft - 6, axes.Y(tick) + 4, "end", TickText(tick));
  }
  for (const double tick : x_ticks) {
    svg += Line(axes.X(tick), kHeight - kBottom, axes.X(tick), kHeight - kBottom + 4, "axis");
    svg += Text(axes.X(tick), kHeight - kBottom + 18, "middle", fmt::format("{:g}", tick));
  }
  svg += Line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "axis");
  svg += Text((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", x_name);
  svg += fmt::format(
      "<text x=\"14\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0:.1f})\">"
      "{1}</text>\n",
      (kTop + kHeight - kBottom) / 2, EscapeHtml(y_name));
  return svg;
}

std::string DrawLine(const Axes& axes, const Series& series, size_t index, LineStyle style) {
  std::string svg = fmt::format("<polyline style=\"stroke:{};stroke-dasharray:{}\" points=\"",
                                Color(index), Dashes(index));
  double before = 0;
  for (const auto& [x, y] : series.points) {
    if (style == LineStyle::kSteps) {
      svg += fmt::format("{:.1f},{:.1f} ", axes.X(before), axes.Y(y));
    }
    svg += fmt::format("{:.1f},{:.1f} ", axes.X(x), axes.Y(y));
    before = x;
  }
  return svg + "\"/>\n";
}

// The names of lines, each behind a sample, from the right end on.
std::string DrawNames(const std::vector<Series>& series) {
  constexpr double kSample = 30, kLetter = 7;
  double right = kWidth - kRight;
  std::string svg;
  for (size_t i = series.size(); i-- > 0; right -= kSample + 24) {
    right -= kLetter * static_cast<double>(series[i].name.size());
    svg += Text(right, -4, "start", series[i].name);
    svg += fmt::format(
        "<polyline style=\"stroke:{};stroke-dasharray:{}\" points=\"{:.1f},-8 {:.1f},-8\"/>\n",
        Color(i), Dashes(i), right - kSample - 6, right - 6);
  }
  return svg;
}

std::string DrawLinePanel(const LinePanel& panel, double top) {
  double x_top = 0, y_top = 0;
  for (const Series& series : panel.series) {
    for (const auto& [x, y] : series.points) {
      x_top = std::max(x_top, x);
      y_top = std::max(y_top, y);
    }
  }
  const std::vector<double> x_ticks = Ticks(x_top, 8), y_ticks = Ticks(y_top, 5);
  const Axes axes{x_ticks.back(), 0, y_ticks.back()};
  std::string svg = fmt::format("<g transform=\"translate(0 {:.0f})\">\n", top);
  svg += fmt::format("<text class=\"title\" x=\"0\" y=\"-4\">{}</text>\n", EscapeHtml(panel.title));
  svg += DrawNames(panel.series) + DrawAxes(axes, x_ticks, y_ticks, panel.x_name, panel.y_name);
  for (size_t i = 0; i < panel.series.size(); ++i) {
    svg += DrawLine(axes, panel.series[i], i, LineStyle::kSteps);
  }
  return svg + "</g>\n";
}

std::string DrawTitle(const std::string& title) {
  if (title.empty()) return "";
  return fmt::format("<text class=\"title\" x=\"0\" y=\"14\" style=\"font-size:15px\">{}</text>\n",
                     EscapeHtml(title));
}

// A picture of this height as a file of its own.
std::string Standalone(const std::string& body, double height) {
  constexpr double kMargin = 16;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{0} {0} {1:.0f} {2:.0f}\" "
      "width=\"{1:.0f}\" "
      "height=\"{2:.0f}\" font-family=\"system-ui, sans-serif\">\n<style>{3}</style>\n"
      "<rect x=\"{0}\" y=\"{0}\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{4}</svg>\n",
      -kMargin, kWidth + 2 * kMargin, height + 2 * kMargin, SvgStyle(), body);
}

constexpr double kBarLeft = 100, kBar = 20, kBarGap = 6, kBarRight = 130;

double PanelHeight(const BarPanel& panel) {
  return 26 + static_cast<double>(panel.bars.size()) * (kBar + kBarGap) + 42;
}

std::string DrawPanel(const BarPanel& panel, double top) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const Bar& bar : panel.bars) {
    if (!(bar.value > 0)) continue;
    least = std::min(least, bar.value);
    most = std::max(most, bar.value);
  }
  if (most == 0) least = most = 1;
  // A power of ten that is low enough for the shortest bar to be visible.
  const double bottom = std::pow(10, std::floor(std::log10(least / 2)));
  const double end = std::pow(10, std::ceil(std::log10(std::max(most, bottom * 10)) - 1e-9));
  const auto position = [&](double value) {
    return kBarLeft +
           std::log(value / bottom) / std::log(end / bottom) * (kWidth - kBarLeft - kBarRight);
  };
  const double floor = top + PanelHeight(panel) - 40;
  std::string svg = fmt::format("<text class=\"title\" x=\"0\" y=\"{:.1f}\">{}</text>\n", top + 14,
                                EscapeHtml(panel.title));
  for (const double tick : LogTicks(bottom, end)) {
    svg += Line(position(tick), top + 24, position(tick), floor, "grid");
    svg += Text(position(tick), floor + 14, "middle", TickText(tick));
  }
  svg += Text(kWidth - kBarRight + 22, floor + 14, "start", panel.axis);
  double y = top + 26;
  for (size_t i = 0; i < panel.bars.size(); ++i, y += kBar + kBarGap) {
    const Bar& bar = panel.bars[i];
    const double width = bar.value > 0 ? position(bar.value) - kBarLeft : 0;
    svg += Text(kBarLeft - 8, y + 15, "end", bar.name);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>\n",
        kBarLeft, y, width, kBar, Color(i));
    svg += fmt::format("<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                       kBarLeft + width + 6, y + 15, EscapeHtml(bar.text));
  }
  return svg;
}

using Place = std::pair<double, double>;

// Whether the links are all pairs that form one path; the nodes in its order.
std::vector<std::string> PathOrder(const std::vector<std::string>& nodes,
                                   const std::vector<GraphLink>& links) {
  std::map<std::string, std::vector<std::string>> neighbours;
  for (const GraphLink& link : links) {
    if (link.nodes.size() != 2) return {};
    neighbours[link.nodes[0]].push_back(link.nodes[1]);
    neighbours[link.nodes[1]].push_back(link.nodes[0]);
  }
  if (links.size() + 1 != nodes.size()) return {};
  std::string at, before;
  for (const std::string& node : nodes) {
    if (neighbours[node].size() > 2) return {};
    if (at.empty() && neighbours[node].size() == 1) at = node;
  }
  std::vector<std::string> order;
  while (!at.empty() && order.size() < nodes.size()) {
    order.push_back(at);
    std::string next;
    for (const std::string& neighbour : neighbours[at]) {
      if (neighbour != before) next = neighbour;
    }
    before = std::exchange(at, next);
  }
  return order.size() == nodes.size() ? order : std::vector<std::string>();
}

std::map<std::string, Place> PlaceNodes(const std::vector<std::string>& nodes,
                                        const std::vector<GraphLink>& links, double width,
                                        double height) {
  std::map<std::string, Place> places;
  const std::vector<std::string> path = PathOrder(nodes, links);
  const auto count = static_cast<double>(nodes.size());
  constexpr double kPi = 3.14159265358979323846;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto position = static_cast<double>(i);
    if (!path.empty()) {
      places[path[i]] = {width * (position + 0.5) / count, height / 2};
    } else {
      const double angle = 2 * kPi * position / count - kPi / 2;
      places[nodes[i]] = {width / 2 + std::cos(angle) * (width / 2 - 60),
                          height / 2 + std::sin(angle) * (height / 2 - 30)};
    }
  }
  return places;
}

}  // namespace

std::string EscapeHtml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::vector<double> Ticks(double top, int count) {
  if (!(top > 0) || !std::isfinite(top)) top = 1;
  const double rough = top / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (int i = 0; ticks.empty() || ticks.back() < top * 0.999999; ++i) ticks.push_back(i * step);
  return ticks;
}

std::vector<double> LogTicks(double bottom, double top) {
  const double first = std::floor(std::log10(bottom) + 1e-9);
  const double decades = std::log10(top / bottom);
  std::vector<double> ticks;
  for (double exponent = first;; ++exponent) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && decades > 1.5) continue;
      const double tick = factor * std::pow(10, exponent);
      // Ticks that end at or below the bottom are replaced by the next.
      if (!ticks.empty() && tick <= bottom * 1.000001) ticks.clear();
      ticks.push_back(tick);
      if (tick >= top * 0.999999 && ticks.size() > 1) return ticks;
    }
  }
}

std::string LinePlot(const std::vector<Series>& all, const std::string& x_name,
                     const std::string& y_name, LineStyle style) {
  constexpr double kDeepest = 1e-4;  // relative to the largest value; lower values are drawn there
  double x_top = 0, y_top = 0, y_bottom = std::numeric_limits<double>::infinity();
  std::string lines;
  std::vector<std::string> names;
  for (const Series& one : all) {
    for (const auto& [x, y] : one.points) {
      x_top = std::max(x_top, x);
      y_top = std::max(y_top, y);
      if (y > 0) y_bottom = std::min(y_bottom, y);
    }
  }
  if (y_top == 0) y_top = y_bottom = 1;
  const std::vector<double> x_ticks = Ticks(x_top, 8),
                            y_ticks = LogTicks(std::max(y_bottom, y_top * kDeepest), y_top);
  const Axes axes{x_ticks.back(), y_ticks.front(), y_ticks.back()};
  for (const Series& one : all) {
    if (one.points.empty()) continue;
    lines += DrawLine(axes, one, names.size(), style);
    names.push_back(one.name);
  }
  if (names.empty()) return "";
  return Open(kWidth, kHeight) + DrawAxes(axes, x_ticks, y_ticks, x_name, y_name) + lines +
         "</svg>\n" + Legend(names, true);
}

const char* SvgStyle() {
  return R"(svg text { font-size: 12px; fill: #333; }
svg .title { font-size: 13px; font-weight: 600; fill: #111; } svg .value { font-weight: 600; }
svg polyline { fill: none; stroke-width: 1.8; } svg .axis { stroke: #444; }
svg .grid { stroke: #dcdcdc; }
)";
}

std::string BarPicture(const std::string& title, const std::vector<BarPanel>& panels,
                       bool standalone) {
  double y = title.empty() ? 0 : 34;
  std::string body;
  for (const BarPanel& panel : panels) {
    body += DrawPanel(panel, y);
    y += PanelHeight(panel);
  }
  body += DrawTitle(title);
  return standalone ? Standalone(body, y) : Open(kWidth, y) + body + "</svg>\n";
}

std::string LinePicture(const std::string& title, const std::vector<LinePanel>& panels) {
  constexpr double kHead = 24;  // of a panel
  double y = title.empty() ? 0 : 34;
  std::string body = DrawTitle(title);
  for (const LinePanel& panel : panels) {
    body += DrawLinePanel(panel, y + kHead);
    y += kHead + kHeight;
  }
  return Standalone(body, y);
}

std::string StackedBars(const std::vector<StackedBar>& bars) {
  std::vector<std::string> names;
  for (const StackedBar& bar : bars) {
    for (const auto& [name, value] : bar.parts) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  if (names.empty()) return "";
  constexpr double kGap = 10;
  std::string svg = Open(kWidth, static_cast<double>(bars.size()) * (kBar + kGap) + kGap);
  double y = kGap;
  for (const StackedBar& bar : bars) {
    double total = 0, x = kBarLeft;
    for (const auto& [name, value] : bar.parts) total += value;
    svg += Text(kBarLeft - 8, y + 15, "end", bar.name);
    for (const auto& [name, value] : bar.parts) {
      const double share = total > 0 ? value / total : 0,
                   width = share * (kWidth - kBarLeft - kRight);
      const auto index = std::find(names.begin(), names.end(), name) - names.begin();
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}: "
          "{:.3g} s, {:.1f}%</title></rect>\n",
          x, y, width, kBar, Color(static_cast<size_t>(index)), EscapeHtml(name), value,
          share * 100);
      x += width;
    }
    y += kBar + kGap;
  }
  return svg + "</svg>\n" + Legend(names, false);
}

std::string TopologyPicture(const std::vector<std::string>& nodes,
                            const std::vector<GraphLink>& links) {
  if (nodes.empty()) return "";
  const bool line = !PathOrder(nodes, links).empty();
  const double width = kWidth, height = line ? 80 : std::min(560.0, 160 + 16.0 * nodes.size());
  const std::map<std::string, Place> places = PlaceNodes(nodes, links, width, height);
  std::string lines, dots;
  for (const GraphLink& link : links) {
    Place middle{0, 0};
    for (const std::string& node : link.nodes) {
      middle.first += places.at(node).first / static_cast<double>(link.nodes.size());
      middle.second += places.at(node).second / static_cast<double>(link.nodes.size());
    }
    for (const std::string& node : link.nodes) {
      const Place& place = places.at(node);
      lines += Line(place.first, place.second, middle.first, middle.second, "link");
    }
    if (link.nodes.size() > 2) {
      dots += fmt::format(
          "<rect class=\"lan\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\">"
          "<title>{}</title></rect>\n",
          middle.first - 6, middle.second - 6, EscapeHtml(link.name));
    }
  }
  for (const auto& [node, place] : places) {
    dots +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"16\"/>\n", place.first, place.second);
    dots += Text(place.first, place.second + 4, "middle", node);
  }
  return Open(width, height) + lines + dots + "</svg>\n";
}

}  // namespace viaduct::run
