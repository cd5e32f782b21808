#include "run/report/link_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "run/report/plot.h"

namespace viaduct::run {
namespace {

constexpr size_t kMaxIntervals = 400;

LinkHistory::Interval Sum(const LinkHistory::Interval& a, const LinkHistory::Interval& b) {
  return {a.arrived + b.arrived,
          a.left + b.left,
          a.dropped + b.dropped,
          a.delays + b.delays,
          std::max(a.longest_delay, b.longest_delay),
          a.packets + b.packets};
}

void MakeWider(LinkHistory& link) {
  auto& all = link.intervals;
  if (all.size() % 2 == 1) all.emplace_back();
  for (size_t i = 0; i < all.size() / 2; ++i) all[i] = Sum(all[2 * i], all[2 * i + 1]);
  all.resize(all.size() / 2);
  link.width *= 2;
}

// Parses a line "TIME + BYTES NAME", "TIME - BYTES DELAY NAME" or "TIME d PACKETS BYTES CAUSE
// NAME". Returns whether the line has one of these forms.
bool ReadLine(const std::string& line, std::map<std::string, LinkHistory>& links) {
  std::istringstream words(line);
  double time = 0, bytes = 0, delay = 0, packets = 0;
  char event = 0;
  std::string cause, name;
  words >> time >> event;
  if (event == '+') words >> bytes;
  if (event == '-') words >> bytes >> delay;
  if (event == 'd') words >> packets >> bytes >> cause;
  if (!std::getline(words >> std::ws, name) || !(time >= 0) || time > 1e13) return false;
  LinkHistory::Interval& interval = links[name].At(time);
  if (event == '+') interval.arrived += bytes;
  if (event == 'd') interval.dropped += bytes;
  if (event == '-') {
    interval.left += bytes;
    interval.delays += delay;
    interval.longest_delay = std::max(interval.longest_delay, delay);
    ++interval.packets;
  }
  return event == '+' || event == '-' || event == 'd';
}

LinePanel Throughput(const std::string& name, const LinkHistory& link) {
  using Interval = LinkHistory::Interval;
  const auto series = [&](const char* what, double Interval::*bytes) {
    Series line{what, {}};
    for (size_t i = 0; i < link.intervals.size(); ++i) {
      const double end = static_cast<double>(i + 1) * link.width / 1e3;
      line.points.emplace_back(end, link.intervals[i].*bytes * 8 / (link.width / 1e3));
    }
    return line;
  };
  LinePanel panel{name,
                  "time, s",
                  "bit/s",
                  {series("arriving", &Interval::arrived), series("leaving", &Interval::left)}};
  const bool drops = std::any_of(link.intervals.begin(), link.intervals.end(),
                                 [](const Interval& each) { return each.dropped > 0; });
  if (drops) panel.series.push_back(series("dropped", &Interval::dropped));
  return panel;
}

LinePanel Delay(const std::string& name, const LinkHistory& link) {
  LinePanel panel{name, "time, s", "delay, ms", {{"mean", {}}, {"maximum", {}}}};
  for (size_t i = 0; i < link.intervals.size(); ++i) {
    const LinkHistory::Interval& interval = link.intervals[i];
    const double end = static_cast<double>(i + 1) * link.width / 1e3;
    const double mean = interval.packets > 0 ? interval.delays / interval.packets : 0;
    panel.series[0].points.emplace_back(end, mean);
    panel.series[1].points.emplace_back(end, interval.longest_delay);
  }
  return panel;
}

}  // namespace

LinkHistory::Interval& LinkHistory::At(double time) {
  while (time >= width * static_cast<double>(kMaxIntervals)) MakeWider(*this);
  const auto index = static_cast<size_t>(time / width);
  if (index >= intervals.size()) intervals.resize(index + 1);
  return intervals[index];
}

std::map<std::string, LinkHistory> ReadLinkLog(std::istream& log, const std::string& file) {
  std::map<std::string, LinkHistory> links;
  size_t number = 0;
  for (std::string line; std::getline(log, line);) {
    ++number;
    if (line.empty() || line[0] == '#' || ReadLine(line, links)) continue;
    if (log.eof()) break;  // the last line has no line end: a full disk has truncated it
    throw UsageError(fmt::format(
        "{}:{}: this line is not from a link log; specify a file that `viaduct path --log` wrote",
        file, number));
  }
  return links;
}

std::string LinkGraph(const std::map<std::string, LinkHistory>& links, const std::string& title) {
  std::vector<LinePanel> panels;
  for (const auto& [name, link] : links) {
    panels.push_back(Throughput(name + ": throughput", link));
    panels.push_back(Delay(name + ": delay of departing packets", link));
  }
  return LinePicture(title, panels);
}

}  // namespace viaduct::run
