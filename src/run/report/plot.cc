#include "run/report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "run/report/page/page.h"
#include "run/report/table.h"

namespace viaduct::run {
namespace {

using page::EscapeHtml;

// The style sheet of a picture in a separate file.
constexpr const char* kSvgStyle = R"(svg text { font-size: 12px; fill: #333; }
svg .title { font-size: 13px; font-weight: 600; fill: #111; } svg .value { font-weight: 600; }
svg polyline { fill: none; stroke-width: 1.8; } svg .axis { stroke: #444; }
svg .grid { stroke: #dcdcdc; }
)";

// Colours of lines and bars: Okabe and Ito (2008), eight colours that colour-blind people can
// distinguish, without yellow and black.
constexpr std::array<const char*, 6> kColors = {"#0072b2", "#d55e00", "#009e73",
                                                "#cc79a7", "#56b4e9", "#e69f00"};
constexpr double kWidth = 720, kHeight = 260, kLeft = 70, kRight = 16, kTop = 14, kBottom = 44;

// Dash patterns of lines, which distinguish lines in print and for people who see no colours.
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

std::string Open(double width, double height, const std::string& label) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" role=\"img\" aria-label=\"{2}\">\n",
      width, height, EscapeHtml(label));
}

// Returns the attribute that fills a shape with a colour. In a page the style sheet defines the
// colour, also for the dark scheme.
std::string Fill(size_t index, bool standalone) {
  return standalone
             ? fmt::format("fill=\"{}\"", Color(index))
             : fmt::format("style=\"fill:var(--c{}, {})\"", index % kColors.size(), Color(index));
}

std::string Legend(const std::vector<std::string>& names) {
  std::string text = "<p class=\"legend\">";
  for (size_t i = 0; i < names.size(); ++i) {
    text += fmt::format(
        "<span><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><rect width=\"12\" "
        "height=\"12\" "
        "{}/></svg> {}</span> ",
        Fill(i, false), EscapeHtml(names[i]));
  }
  return text + "</p>\n";
}

// Returns the text of an axis tick: "50", "10k", "1G"; small numbers are unchanged.
std::string TickText(double tick) {
  const auto [value, prefix] = Scale(tick);
  return fmt::format("{:g}{}", value, prefix);
}

struct Axes {
  double x_top, y_top;
  double X(double x) const { return kLeft + x / x_top * (kWidth - kLeft - kRight); }
  double Y(double y) const { return kHeight - kBottom - y / y_top * (kHeight - kTop - kBottom); }
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

std::string DrawLine(const Axes& axes, const Series& series, size_t index) {
  std::string svg = fmt::format("<polyline style=\"stroke:{};stroke-dasharray:{}\" points=\"",
                                Color(index), Dashes(index));
  double before = 0;
  for (const auto& [x, y] : series.points) {
    svg += fmt::format("{:.1f},{:.1f} ", axes.X(before), axes.Y(y));
    svg += fmt::format("{:.1f},{:.1f} ", axes.X(x), axes.Y(y));
    before = x;
  }
  return svg + "\"/>\n";
}

// Draws the names of lines from the right end to the left, each after a sample of its line.
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
  const Axes axes{x_ticks.back(), y_ticks.back()};
  std::string svg = fmt::format("<g transform=\"translate(0 {:.0f})\">\n", top);
  svg += fmt::format("<text class=\"title\" x=\"0\" y=\"-4\">{}</text>\n", EscapeHtml(panel.title));
  svg += DrawNames(panel.series) + DrawAxes(axes, x_ticks, y_ticks, panel.x_name, panel.y_name);
  for (size_t i = 0; i < panel.series.size(); ++i) {
    svg += DrawLine(axes, panel.series[i], i);
  }
  return svg + "</g>\n";
}

std::string DrawTitle(const std::string& title) {
  if (title.empty()) return "";
  return fmt::format("<text class=\"title\" x=\"0\" y=\"14\" style=\"font-size:15px\">{}</text>\n",
                     EscapeHtml(title));
}

// Returns the text of an SVG file with a picture of the given height.
std::string Standalone(const std::string& body, double height) {
  constexpr double kMargin = 16;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{0} {0} {1:.0f} {2:.0f}\" "
      "width=\"{1:.0f}\" "
      "height=\"{2:.0f}\" font-family=\"system-ui, sans-serif\">\n<style>{3}</style>\n"
      "<rect x=\"{0}\" y=\"{0}\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{4}</svg>\n",
      -kMargin, kWidth + 2 * kMargin, height + 2 * kMargin, kSvgStyle, body);
}

constexpr double kBarLeft = 100, kBar = 20, kBarGap = 6, kBarRight = 130;

double PanelHeight(const BarPanel& panel) {
  return 26 + static_cast<double>(panel.bars.size()) * (kBar + kBarGap) + 42;
}

std::string DrawPanel(const BarPanel& panel, double top, bool standalone) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const Bar& bar : panel.bars) {
    if (!(bar.value > 0)) continue;
    least = std::min(least, bar.value);
    most = std::max(most, bar.value);
  }
  if (most == 0) least = most = 1;
  // The left end of the axis: a power of ten that is low enough for the shortest bar to be visible.
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
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" {}/>\n",
                       kBarLeft, y, width, kBar, Fill(i, standalone));
    svg += fmt::format("<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                       kBarLeft + width + 6, y + 15, EscapeHtml(bar.text));
  }
  return svg;
}

}  // namespace

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
      // Removes the tick before this one if this tick is at or below the bottom.
      if (!ticks.empty() && tick <= bottom * 1.000001) ticks.clear();
      ticks.push_back(tick);
      if (tick >= top * 0.999999 && ticks.size() > 1) return ticks;
    }
  }
}

std::string BarPicture(const std::string& title, const std::vector<BarPanel>& panels,
                       bool standalone) {
  double y = title.empty() ? 0 : 34;
  std::string body, label = "Bars:";
  for (const BarPanel& panel : panels) {
    label += fmt::format(" {}:", panel.title);
    body += DrawPanel(panel, y, standalone);
    for (const Bar& bar : panel.bars) label += fmt::format(" {} {};", bar.name, bar.text);
    y += PanelHeight(panel);
  }
  body += DrawTitle(title);
  return standalone ? Standalone(body, y) : Open(kWidth, y, label) + body + "</svg>\n";
}

std::string LinePicture(const std::string& title, const std::vector<LinePanel>& panels) {
  constexpr double kHead = 24;  // the height of a panel's head
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
  std::string svg = Open(kWidth, static_cast<double>(bars.size()) * (kBar + kGap) + kGap,
                         "Shares of the simulator's time, by activity");
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
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" {}><title>{}: "
          "{:.3g} s, {:.1f}%</title></rect>\n",
          x, y, width, kBar, Fill(static_cast<size_t>(index), false), EscapeHtml(name), value,
          share * 100);
      x += width;
    }
    y += kBar + kGap;
  }
  return svg + "</svg>\n" + Legend(names);
}

}  // namespace viaduct::run
