#include "run/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "run/traffic.h"

namespace viaduct::run {
namespace {

using nlohmann::json;

// Columns a terminal shows the text in; every sequence of UTF-8 is one.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Packets(const std::optional<uint64_t>& count) {
  return count ? std::to_string(*count) : "-";
}

// The times of a flow that mean most for its kind: a ping's round trips, else one-way delays.
std::string Times(const FlowResult& flow) {
  if (flow.rtt) {
    return fmt::format("rtt {:.3f}/{:.3f}/{:.3f} ms", flow.rtt->min, flow.rtt->mean, flow.rtt->max);
  }
  if (flow.delay) return fmt::format("delay {:.3f}/{:.3f} ms", flow.delay->p50, flow.delay->p99);
  if (flow.retransmits) return fmt::format("{} retransmits", *flow.retransmits);
  return "-";
}

std::string Rate(const FlowResult& flow) { return flow.rate ? HumanRate(*flow.rate) : "-"; }

std::string Loss(const FlowResult& flow) { return flow.loss ? HumanPercent(*flow.loss) : "-"; }

std::vector<FlowResult> Flows(const json& results) {
  return results.at("flows").get<std::vector<FlowResult>>();
}

std::string FlowTable(const json& results) {
  std::vector<std::vector<std::string>> rows = {
      {"flow", "sent", "received", "loss", "rate", "min/avg/max or p50/p99"}};
  for (const FlowResult& flow : Flows(results)) {
    if (!flow.error.empty()) {
      rows.push_back({flow.name, "failed: " + flow.error});
    } else {
      rows.push_back({flow.name, Packets(flow.sent), Packets(flow.received), Loss(flow), Rate(flow),
                      Times(flow)});
    }
  }
  return rows.size() > 1 ? FormatTable(rows) : "";
}

std::string ProgramTable(const json& results) {
  std::vector<std::vector<std::string>> rows = {{"program", "node", "seconds", "result"}};
  for (const json& program : results.at("programs")) {
    rows.push_back(
        {program.value("name", ""), program.value("node", ""),
         fmt::format("{:.2f}", program.value("seconds", 0.0)),
         (program.value("ok", false) ? "ok: " : "FAILED: ") + program.value("ended", "")});
  }
  return rows.size() > 1 ? FormatTable(rows) : "";
}

// What the simulator filled in that the scenario does not say, and what of the protocol's traffic
// no kernel socket could carry.
std::string CaveatLines(const json& results, const std::string& head = "assumed") {
  std::string text;
  for (const json& assumption : results.value("assumptions", json::array())) {
    text += fmt::format("{}: {}\n", head, assumption.get<std::string>());
  }
  for (const json& line : results.value("unsupported", json::array())) {
    text += fmt::format("not carried: {}\n", line.get<std::string>());
  }
  return text;
}

std::string CaptureLines(const json& results) {
  std::string text;
  for (const json& capture : results.at("captures")) {
    text +=
        fmt::format("capture {}: {} frames, {} dropped\n", capture.value("file", ""),
                    capture.value("frames", uint64_t{0}), capture.value("dropped", uint64_t{0}));
  }
  return text;
}

std::string StateLines(const json& results) {
  std::string text;
  for (const json& state : results.value("state", json::array())) {
    text += fmt::format("state of {}:", state.value("node", ""));
    for (const json& file : state.at("files")) text += " " + file.get<std::string>();
    text += "\n";
  }
  return text;
}

std::string Micros(const json& timing, const char* key) {
  return fmt::format("{:.1f}", timing.value(key, 0.0) / 1e3);
}

// What a flow is judged by, in one cell: TCP its rate, ping its mean, UDP rate and loss.
std::string ComparisonCell(const FlowResult& flow) {
  if (!flow.error.empty()) return "failed";
  if (flow.rtt) return fmt::format("{:.3f} ms", flow.rtt->mean);
  if (flow.kind == "ping") return fmt::format("{} lost", Loss(flow));
  if (!flow.rate) return "-";
  return flow.loss && *flow.loss > 0 ? fmt::format("{} ({} lost)", Rate(flow), Loss(flow))
                                     : Rate(flow);
}

std::string PacketRateCell(const FlowResult& flow) {
  return flow.packet_rate ? fmt::format("{:.1f} kpps", *flow.packet_rate / 1e3) : "-";
}

}  // namespace

std::vector<bool> NumberColumns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> balance(rows.at(0).size());
  for (size_t r = 1; r < rows.size(); ++r) {
    if (rows[r].size() != balance.size()) continue;
    for (size_t i = 0; i < balance.size(); ++i) {
      if (!rows[r][i].empty() && rows[r][i] != "-") {
        balance[i] += std::isdigit(static_cast<unsigned char>(rows[r][i][0])) ? 1 : -1;
      }
    }
  }
  std::vector<bool> numbers(balance.size());
  std::transform(balance.begin(), balance.end(), numbers.begin(), [](int b) { return b > 0; });
  return numbers;
}

std::string FormatTable(const std::vector<std::vector<std::string>>& rows) {
  const std::vector<bool> numbers = NumberColumns(rows);
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    // A short row is a remark that may stand across the columns.
    const size_t columns =
        row.size() == rows[0].size() ? row.size() : std::min<size_t>(1, row.size());
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    const bool whole = rows[r].size() == numbers.size();
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string& cell = rows[r][i];
      const std::string padding(widths[i] - std::min(widths[i], Width(cell)), ' ');
      line += (i ? "  " : "") + (numbers[i] && whole ? padding + cell : cell + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r > 0) continue;
    size_t total = 2 * (widths.size() - 1);
    for (const size_t width : widths) total += width;
    text += std::string(total, '-') + "\n";
  }
  return text;
}

std::string HumanRate(double rate) {
  const char* unit = "bit/s";
  for (const char* larger : {"kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"}) {
    if (rate < 999.5) break;
    rate /= 1000;
    unit = larger;
  }
  return fmt::format("{:.{}f} {}", rate, rate >= 100 ? 0 : rate >= 10 ? 1 : 2, unit);
}

std::string HumanCount(double count) {
  const char* prefix = "";
  for (const char* larger : {"k", "M", "G"}) {
    if (count < 999.5) break;
    count /= 1000;
    prefix = larger;
  }
  return fmt::format("{:.3g}{}", count, prefix);
}

std::string HumanPercent(double fraction) {
  const double percent = fraction * 100;
  if (percent <= 0) return "0%";
  return percent >= 10 ? fmt::format("{:.1f}%", percent) : fmt::format("{:.2g}%", percent);
}

// What the path engine did to the packets of all links together.
std::string LinksLine(const json& engine) {
  uint64_t arrived = 0, corrupted = 0, marked = 0;
  std::map<std::string, uint64_t> fates;
  for (const json& pipeline : engine.value("pipelines", json::array())) {
    arrived += pipeline.value("arrived", uint64_t{0});
    corrupted += pipeline.value("corrupted", uint64_t{0});
    marked += pipeline.value("marked", uint64_t{0});
    for (const auto& [fate, count] : pipeline["fates"].items())
      fates[fate] += count.get<uint64_t>();
  }
  if (arrived == 0) return "";
  std::string text = fmt::format("links: {} packets arrived", arrived);
  for (const auto& [fate, count] : fates) {
    if (count > 0) text += fmt::format(", {} {}", count, fate);
  }
  if (corrupted > 0) text += fmt::format(", {} of them corrupted", corrupted);
  if (marked > 0) text += fmt::format(", {} of them marked", marked);
  return text + "\n";
}

std::string TimingLine(const json& results, const std::string& whose) {
  const auto timing = results.find("timing");
  if (timing == results.end() || !timing->is_object()) return "";
  const std::string limit =
      timing->contains("limit_ns")
          ? fmt::format("limit p99 {} us{}", Micros(*timing, "limit_ns"),
                        results.value("verdict", "") == "VOID" ? " exceeded" : "")
          : "no limit set";
  return fmt::format("timing: {}p50/p99/max lateness {}/{}/{} us over {} events: {} ({})\n", whose,
                     Micros(*timing, "p50_ns"), Micros(*timing, "p99_ns"),
                     Micros(*timing, "max_ns"), timing->value("events", uint64_t{0}),
                     results.value("verdict", ""), limit);
}

std::string ResultTable(const json& results) {
  const json engine = results.value("engine", json::object());
  return FlowTable(results) + ProgramTable(results) + CaptureLines(results) + StateLines(results) +
         LinksLine(engine) + CaveatLines(results) + TimingLine(results) +
         TimingLine(engine, "links ");
}

std::string ComparisonTable(const std::vector<json>& runs) {
  if (runs.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{""}};
  std::vector<std::vector<FlowResult>> flows;
  for (const json& run : runs) {
    rows[0].push_back(run.at("scenario").value("mode", ""));
    flows.push_back(Flows(run));
  }
  const auto add = [&](const std::string& head, auto cell) {
    std::vector<std::string> row = {head};
    for (size_t i = 0; i < runs.size(); ++i) row.push_back(cell(i));
    if (std::any_of(row.begin() + 1, row.end(), [](const auto& c) { return c != "-"; })) {
      rows.push_back(row);
    }
  };
  add("set-up", [&](size_t i) {
    const auto seconds = runs[i].find("setup_seconds");
    return seconds == runs[i].end() ? "-" : fmt::format("{:.2f} s", seconds->get<double>());
  });
  add("converged in", [&](size_t i) {
    const json convergence = runs[i].value("convergence", json::object());
    return fmt::format("{:.1f} s", convergence.value("seconds", 0.0));
  });
  for (size_t f = 0; f < flows[0].size(); ++f) {
    add(flows[0][f].name,
        [&](size_t i) { return f < flows[i].size() ? ComparisonCell(flows[i][f]) : "-"; });
    add("  packets/s",
        [&](size_t i) { return f < flows[i].size() ? PacketRateCell(flows[i][f]) : "-"; });
  }
  for (const auto& [head, key] : {std::pair("lateness p50", "p50_ns"), {"  p99", "p99_ns"}}) {
    add(head, [&, key = key](size_t i) {
      const json timing = runs[i].value("timing", json());
      return timing.is_object() ? Micros(timing, key) + " us" : std::string("-");
    });
  }
  add("verdict", [&](size_t i) {
    if (runs[i].contains("timing")) return runs[i].value("verdict", "-");
    // Its RealtimeSimulatorImpl does not say how late events are.
    const bool real = runs[i].at("scenario").value("mode", "") != "simulate";
    return std::string(real ? "not reported by ns-3" : "-");
  });
  std::string text = FormatTable(rows);
  for (const json& run : runs) {
    text += CaveatLines(run, "assumed in mode " + run.at("scenario").value("mode", ""));
  }
  return text;
}

}  // namespace viaduct::run
