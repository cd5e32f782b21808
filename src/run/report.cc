#include "run/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "run/plot.h"
#include "run/table.h"
#include "run/traffic.h"

namespace viaduct::run {
namespace {

using nlohmann::json;

constexpr const char* kStyle = R"(<style>
body { font: 15px/1.45 system-ui, sans-serif; max-width: 780px; margin: 2em auto; padding: 0 1em;
  color: #222; background: #fff; }
h1 { font-size: 1.6em; } h2 { font-size: 1.2em; margin-top: 2em; }
table { border-collapse: collapse; } td, th { padding: .2em .8em .2em 0; text-align: left;
  border-bottom: 1px solid #ddd; vertical-align: top; }
pre { background: #f5f5f5; padding: .8em; overflow-x: auto; font-size: 13px; }
svg { max-width: 100%; height: auto; } svg text { font-size: 12px; fill: #444; }
svg polyline { fill: none; stroke-width: 1.6; } svg .axis { stroke: #444; } svg .grid { stroke: #e4e4e4; }
svg circle { fill: #fff; stroke: #0072b2; stroke-width: 1.5; } svg .link { stroke: #888; }
svg .lan { fill: #888; }
.legend span { margin-right: 1em; font-size: 13px; } .legend i { display: inline-block; width: 10px;
  height: 10px; margin-right: 5px; }
.VALID { color: #00714f; } .VOID, .failed { color: #b23b00; }
</style>
)";

std::string ModeOf(const json& run) { return run.at("scenario").value("mode", ""); }

std::vector<FlowResult> FlowsOf(const json& run) {
  return run.at("flows").get<std::vector<FlowResult>>();
}

std::string Row(const std::vector<std::string>& cells, const char* tag = "td") {
  std::string row = "<tr>";
  for (const std::string& cell : cells) row += fmt::format("<{0}>{1}</{0}>", tag, EscapeHtml(cell));
  return row + "</tr>\n";
}

std::string Topology(const json& run) {
  std::vector<std::string> nodes = run.at("scenario").at("nodes");
  std::vector<GraphLink> links;
  for (const json& link : run.at("scenario").at("links")) {
    links.push_back({link.at("name"), link.at("nodes")});
  }
  return "<h2>Topology</h2>\n" + TopologyPicture(nodes, links);
}

// Plots of one kind of sample over all runs: throughput, or round trips.
std::string SamplePlot(const std::vector<json>& runs, bool pings, const char* title,
                       const char* y_name, double scale) {
  std::vector<Series> series;
  for (const json& run : runs) {
    for (const FlowResult& flow : FlowsOf(run)) {
      if ((flow.kind == "ping") != pings) continue;
      Series one{runs.size() > 1 ? ModeOf(run) + ": " + flow.name : flow.name, flow.samples};
      for (auto& [x, y] : one.points) y *= scale;
      series.push_back(std::move(one));
    }
  }
  const std::string plot = LinePlot(series, "seconds since the flow's start", y_name);
  return plot.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", title, plot);
}

std::string LoopBreakdown(const std::vector<json>& runs) {
  std::vector<StackedBar> bars;
  for (const json& run : runs) {
    const auto loop = run.find("loop");
    if (loop == run.end() || !loop->is_object()) continue;
    StackedBar bar{ModeOf(run), {}};
    for (const auto& [name, value] : loop->items()) {
      if (value.is_number()) bar.parts.emplace_back(name, value.get<double>());
    }
    bars.push_back(std::move(bar));
  }
  const std::string plot = StackedBars(bars);
  return plot.empty() ? "" : "<h2>Where the simulator's time went</h2>\n" + plot;
}

std::string Lateness(const std::vector<json>& runs) {
  std::string rows;
  for (const json& run : runs) {
    const auto timing = run.find("timing");
    if (timing == run.end() || !timing->is_object()) continue;
    const auto us = [&](const char* key) {
      return fmt::format("{:.1f} us", timing->value(key, 0.0) / 1e3);
    };
    rows += Row({ModeOf(run), us("p50_ns"), us("p99_ns"), us("max_ns"),
                 std::to_string(timing->value("events", uint64_t{0})), run.value("verdict", "")});
  }
  if (rows.empty()) return "";
  return "<h2>Timing</h2>\n<p>How much later than due the simulator's events ran.</p>\n<table>" +
         Row({"mode", "p50", "p99", "max", "events", "verdict"}, "th") + rows + "</table>\n";
}

std::string Convergence(const std::vector<json>& runs) {
  std::string rows;
  for (const json& run : runs) {
    const json convergence = run.value("convergence", json::object());
    rows += Row(
        {ModeOf(run), fmt::format("{:.2f} s", convergence.value("seconds", 0.0)),
         fmt::format("{} of {}", convergence.value("reachable", 0), convergence.value("pairs", 0)),
         convergence.value("unreachable", json::array()).dump()});
  }
  return "<h2>Convergence</h2>\n<table>" +
         Row({"mode", "time", "pairs that reach", "pairs that do not"}, "th") + rows + "</table>\n";
}

std::string Programs(const std::vector<json>& runs) {
  std::string rows;
  for (const json& run : runs) {
    for (const json& program : run.at("programs")) {
      rows += Row({ModeOf(run), program.value("name", ""), program.value("command", ""),
                   program.value("ended", ""), program.value("ok", false) ? "ok" : "FAILED"});
    }
  }
  if (rows.empty()) return "";
  return "<h2>Programs</h2>\n<table>" + Row({"mode", "program", "command", "end", "result"}, "th") +
         rows + "</table>\n";
}

std::string Failures(const std::vector<json>& runs) {
  std::string text;
  for (const json& run : runs) {
    for (const json& failure : run.at("failures")) {
      text += fmt::format("<p class=\"failed\">{}: {}</p>\n", EscapeHtml(ModeOf(run)),
                          EscapeHtml(failure.get<std::string>()));
    }
  }
  return text;
}

std::string Provenance(const std::vector<json>& runs) {
  const json& first = runs.front();
  const json& scenario = first.at("scenario");
  std::string rows = Row({"seed", std::to_string(scenario.value("seed", uint64_t{0}))});
  for (const json& run : runs) {
    rows += Row({"scenario, mode " + ModeOf(run), "SHA-256 " + run["scenario"].value("hash", "")});
  }
  for (const auto& [key, value] : first.at("environment").items()) {
    rows += Row({key, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  return "<h2>Provenance</h2>\n<table>" + rows + "</table>\n<details><summary>effective scenario" +
         "</summary><pre>" + EscapeHtml(scenario.value("effective", "")) + "</pre></details>\n" +
         "<p>Raw data: <a href=\"results.json\">results.json</a>, "
         "<a href=\"flows.csv\">flows.csv</a>, <a href=\"samples.csv\">samples.csv</a>.</p>\n";
}

// RFC 4180.
std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

template <class T>
std::string CsvNumber(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "";
}

void WriteFile(const std::filesystem::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw Error(fmt::format("{}: cannot be written", path.string()));
}

}  // namespace

void MakeReportDirectory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error || access(directory.c_str(), W_OK) != 0) {
    throw UsageError(fmt::format("--report {}: {}", directory,
                                 error ? error.message() : std::string("cannot be written")));
  }
}

std::string RenderHtml(const std::vector<json>& runs) {
  const std::string name = EscapeHtml(runs.front().at("scenario").value("name", ""));
  const std::string table = runs.size() == 1 ? ResultTable(runs.front()) : ComparisonTable(runs);
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title>\n{1}"
             "</head><body>\n<h1>{0}</h1>\n",
             name, kStyle) +
         Failures(runs) + "<pre>" + EscapeHtml(table) + "</pre>\n" + Topology(runs.front()) +
         Convergence(runs) + SamplePlot(runs, false, "Throughput", "Mbit/s", 1e-6) +
         SamplePlot(runs, true, "Round trips", "ms", 1) + Lateness(runs) + LoopBreakdown(runs) +
         Programs(runs) + Provenance(runs) + "</body></html>\n";
}

std::string FlowsCsv(const std::vector<json>& runs) {
  std::string csv =
      "mode,flow,kind,from,to,sent,received,loss,rate_bit_per_s,packets_per_s,retransmits,"
      "rtt_min_ms,rtt_avg_ms,rtt_max_ms,delay_p50_ms,delay_p99_ms,error\n";
  for (const json& run : runs) {
    for (const FlowResult& f : FlowsOf(run)) {
      const auto rtt = [&](double FlowResult::Times::*member) {
        return f.rtt ? fmt::format("{}", (*f.rtt).*member) : std::string();
      };
      const auto delay = [&](double FlowResult::Times::*member) {
        return f.delay ? fmt::format("{}", (*f.delay).*member) : std::string();
      };
      csv += fmt::format(
          "{}\n", fmt::join(
                      std::vector<std::string>{
                          ModeOf(run), CsvField(f.name), f.kind, f.from, f.to, CsvNumber(f.sent),
                          CsvNumber(f.received), CsvNumber(f.loss), CsvNumber(f.rate),
                          CsvNumber(f.packet_rate), CsvNumber(f.retransmits),
                          rtt(&FlowResult::Times::min), rtt(&FlowResult::Times::mean),
                          rtt(&FlowResult::Times::max), delay(&FlowResult::Times::p50),
                          delay(&FlowResult::Times::p99), CsvField(f.error)},
                      ","));
    }
  }
  return csv;
}

std::string SamplesCsv(const std::vector<json>& runs) {
  std::string csv = "mode,flow,seconds,value\n";
  for (const json& run : runs) {
    for (const FlowResult& flow : FlowsOf(run)) {
      for (const auto& [time, value] : flow.samples) {
        csv += fmt::format("{},{},{:g},{:g}\n", ModeOf(run), CsvField(flow.name), time, value);
      }
    }
  }
  return csv;
}

void WriteReport(const std::string& directory, const std::vector<json>& runs) {
  MakeReportDirectory(directory);
  const std::filesystem::path folder = directory;
  WriteFile(folder / "index.html", RenderHtml(runs));
  const json document = runs.size() == 1 ? runs.front() : json{{"runs", runs}};
  WriteFile(folder / "results.json", document.dump(2) + "\n");
  WriteFile(folder / "flows.csv", FlowsCsv(runs));
  WriteFile(folder / "samples.csv", SamplesCsv(runs));
}

}  // namespace viaduct::run
