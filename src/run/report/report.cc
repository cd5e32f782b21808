#include "run/report/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/attempts.h"
#include "base/error.h"
#include "base/file.h"
#include "base/result/timing.h"
#include "base/text/json_text.h"
#include "base/text/text_table.h"
#include "run/report/page/page.h"
#include "run/report/plot.h"
#include "run/report/table.h"
#include "scenario/scenario.h"

namespace viaduct::run {
namespace {

using nlohmann::json;
using page::EscapeHtml;
using result::FlowResult, result::RunResult;

using Rows = std::vector<std::vector<std::string>>;

// Returns an HTML table. The first row is the head. Columns of numbers are right-aligned, including
// their heads. `links`: for each column, whether it contains names of files in the report's folder.
std::string Table(const Rows& rows, const std::vector<bool>& links = {}) {
  const std::vector<bool> numbers = result::NumberColumns(rows);
  std::string text = "<div class=\"wide\"><table>";
  for (size_t r = 0; r < rows.size(); ++r) {
    text += "<tr>";
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string cell = EscapeHtml(rows[r][i]);
      const bool is_link = r > 0 && i < links.size() && links[i] && !rows[r][i].empty();
      text += fmt::format("<{0}{1}>{2}</{0}>", r == 0 ? "th" : "td",
                          numbers[i] ? " class=\"number\"" : "",
                          is_link ? fmt::format("<a href=\"{0}\">{0}</a>", cell) : cell);
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

// Returns a list with an element for each flow, in the order of the scenario. The element has the
// mode and the result of the flow for each run that has the flow.
std::vector<std::vector<std::pair<std::string, FlowResult>>> FlowsOfAll(
    const std::vector<RunResult>& runs) {
  std::vector<std::vector<std::pair<std::string, FlowResult>>> flows;
  for (const RunResult& run : runs) {
    flows.resize(std::max(flows.size(), run.flows.size()));
    for (size_t i = 0; i < run.flows.size(); ++i) {
      flows[i].emplace_back(run.scenario.mode, run.flows[i]);
    }
  }
  return flows;
}

Bar BarOf(const std::string& mode, const FlowResult& flow) {
  if (!flow.error.empty()) return {mode, 0, "failed"};
  if (flow.kind == "ping") {
    if (!flow.rtt) return {mode, 0, "no answer"};
    return {mode, flow.rtt->mean, fmt::format("{:.3g} ms", flow.rtt->mean)};
  }
  if (flow.packet_rate) {
    std::string text = HumanCount(*flow.packet_rate) + " packets/s";
    if (flow.loss && *flow.loss >= 0.0005)
      text += fmt::format(", {} lost", HumanPercent(*flow.loss));
    return {mode, *flow.packet_rate, text};
  }
  return flow.rate ? Bar{mode, *flow.rate, HumanRate(*flow.rate)} : Bar{mode, 0, "-"};
}

std::vector<BarPanel> FlowBars(const std::vector<RunResult>& runs) {
  std::vector<BarPanel> panels;
  for (const auto& flow : FlowsOfAll(runs)) {
    const FlowResult& first = flow.front().second;
    const bool packets = std::any_of(flow.begin(), flow.end(),
                                     [](const auto& one) { return one.second.packet_rate; });
    const auto [what, unit] = first.kind == "ping" ? std::pair("mean round-trip time", "ms")
                              : packets            ? std::pair("packets received", "packets/s")
                                                   : std::pair("received", "bit/s");
    BarPanel panel{fmt::format("{}: {}", first.name, what), unit, {}};
    for (const auto& [mode, result] : flow) panel.bars.push_back(BarOf(mode, result));
    panels.push_back(std::move(panel));
  }
  return panels;
}

std::string Comparison(const std::vector<RunResult>& runs) {
  const std::vector<BarPanel> panels = FlowBars(runs);
  if (runs.size() < 2 || panels.empty()) return "";
  return "<h2>Modes compared</h2>\n<p>The axes are logarithmic.</p>\n" +
         BarPicture("", panels, false);
}

std::string LoopBreakdown(const std::vector<RunResult>& runs) {
  std::vector<StackedBar> bars;
  for (const RunResult& run : runs) {
    const auto& loop = run.simulator.loop;
    if (!loop.empty()) bars.push_back({run.scenario.mode, {loop.begin(), loop.end()}});
  }
  const std::string plot = StackedBars(bars);
  return plot.empty() ? "" : "<h2>How the simulator spent its time</h2>\n" + plot;
}

std::vector<std::string> LatenessRow(const std::string& what, const result::Timing& timing,
                                     const RunResult& run) {
  return {what,
          result::Micros(timing.p50_ns) + " us",
          result::Micros(timing.p99_ns) + " us",
          result::Micros(timing.max_ns) + " us",
          std::to_string(timing.events),
          result::VerdictName(UnlessFailed(VerdictOf(timing), run.failures))};
}

std::string Lateness(const std::vector<RunResult>& runs) {
  Rows rows = {{"mode", "p50", "p99", "max", "events", "verdict"}};
  for (const RunResult& run : runs) {
    const std::string& mode = run.scenario.mode;
    if (run.simulator.timing) {
      rows.push_back(LatenessRow(mode, *run.simulator.timing, run));
      // Adds rows for the frames at the simulator's ports, the changes of links, and the packets of
      // the path engine.
      if (const auto& ports = run.simulator.port_timing) {
        rows.push_back(LatenessRow(mode + ", ports", *ports, run));
      }
      if (const auto& events = run.event_timing) {
        rows.push_back(LatenessRow(mode + ", changes of links", *events, run));
      }
      if (run.engine) rows.push_back(LatenessRow(mode + ", links", run.engine->timing, run));
    } else if (mode != "simulate") {  // in mode simulate time is virtual
      rows.push_back({mode, "-", "-", "-", "-", "ns-3 does not report lateness"});
    }
  }
  if (rows.size() == 1) return "";
  return "<h2>Timing</h2>\n<p>The lateness of the simulator's events and of packets that leave "
         "links.</p>\n" +
         Table(rows);
}

// Returns the text of a link's changes: "down 3 s, up 4.5 s".
std::string ChangesOf(const RunResult& run, const std::string& link) {
  std::string text;
  for (const result::LinkEvent& event : run.events) {
    if (event.link != link || event.change.starts_with("capture")) continue;
    text += fmt::format("{}{} {:.4g} s", text.empty() ? "" : ", ", event.change, event.at);
  }
  return text.empty() ? "-" : text;
}

// Returns the number of packets on a link with a SPEC, and the lost packets by cause.
std::pair<std::string, std::string> PacketsOf(const RunResult& run, const std::string& link) {
  uint64_t arrived = 0;
  std::map<std::string, uint64_t> lost;
  bool is_emulated = false;
  for (const result::PipelineResult& each :
       run.engine ? run.engine->pipelines : std::vector<result::PipelineResult>()) {
    if (each.pair != link && !each.pair.starts_with(link + ".")) continue;
    is_emulated = true;
    arrived += each.arrived + each.duplicated;
    for (const auto& [fate, packets] : each.fates) {
      if (fate != "delivered" && packets > 0) lost[fate] += packets;
    }
  }
  if (!is_emulated) return {"-", "-"};
  return {std::to_string(arrived), lost.empty() ? "0" : CausesText(lost)};
}

std::string Links(const std::vector<RunResult>& runs) {
  constexpr size_t kManyRows = 30;
  Rows rows = {{"link", "nodes", "SPEC", "mode", "changes", "packets", "lost on the link"}};
  for (const result::LinkNodes& link : runs.front().scenario.links) {
    for (const RunResult& run : runs) {
      const auto [packets, lost] = PacketsOf(run, link.name);
      rows.push_back({link.name, fmt::format("{}", fmt::join(link.nodes, ", ")),
                      link.wifi            ? "Wi-Fi " + *link.wifi
                      : link.specs.empty() ? "-"
                                           : fmt::format("{}", fmt::join(link.specs, " | ")),
                      run.scenario.mode, ChangesOf(run, link.name), packets, lost});
    }
  }
  if (rows.size() == 1) return "";
  const std::string table = Table(rows);
  return rows.size() <= kManyRows
             ? table
             : "<details><summary>the links</summary>" + table + "</details>\n";
}

std::string FormatPairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  for (const auto& [from, to] : pairs) {
    text += fmt::format("{}{}->{}", text.empty() ? "" : ", ", from, to);
  }
  return text.empty() ? "none" : text;
}

std::string Convergence(const std::vector<RunResult>& runs) {
  Rows rows = {{"mode", "time", "reachable pairs", "unreachable pairs"}};
  for (const RunResult& run : runs) {
    const result::Convergence& convergence = run.convergence;
    if (convergence.on_demand.value_or(false)) {
      rows.push_back({run.scenario.mode, "-", "on demand", "-"});
      continue;
    }
    if (convergence.by_programs.value_or(false)) {
      rows.push_back({run.scenario.mode, "-", "set by programs", "-"});
      continue;
    }
    rows.push_back({run.scenario.mode, fmt::format("{:.2f} s", convergence.seconds),
                    fmt::format("{} of {}", convergence.reachable, convergence.pairs),
                    FormatPairs(convergence.unreachable)});
  }
  return "<h2>Convergence</h2>\n" + Table(rows);
}

// Returns the table of link events, with the times that routes and flows took to recover.
std::string Events(const std::vector<RunResult>& runs) {
  Rows rows = {{"mode", "time", "link", "change", "tables", "flow", "packets lost", "last loss",
                "no loss after"}};
  const auto after = [](const std::optional<double>& seconds) {
    return seconds ? fmt::format("+{:.3f} s", *seconds) : std::string("-");
  };
  for (const RunResult& run : runs) {
    for (const result::Reconvergence& event : run.reconvergence) {
      const std::vector<std::string> head = {run.scenario.mode, fmt::format("{:.3f} s", event.at),
                                             event.link, event.change, after(event.routes)};
      const auto add = [&](std::vector<std::string> tail) {
        rows.push_back(head);
        rows.back().insert(rows.back().end(), tail.begin(), tail.end());
      };
      if (event.flows.empty()) add({"none", "0", "-", "-"});
      for (const result::FlowRecovery& flow : event.flows) {
        add({flow.flow, std::to_string(flow.lost), after(flow.last_lost),
             flow.steady ? after(flow.steady) : "not before the next event or the end of the run"});
      }
    }
  }
  if (rows.size() == 1) return "";
  return "<h2>Events and recovery</h2>\n<p>Times with + are relative to the event: the time of the "
         "last change of a route table (mode offload), the time at which the last lost packet was "
         "sent, and the time from which all sent packets arrived. The table also contains flows "
         "that lost packets for other reasons.</p>\n" +
         Table(rows);
}

std::string Routes(const std::vector<RunResult>& runs) {
  const bool any = std::ranges::any_of(
      runs, [](const RunResult& run) { return !run.simulator.route_changes.empty(); });
  return any ? "<h2>Route tables over time</h2>\n<div id=\"routes\"><p>Needs "
               "JavaScript.</p></div>\n"
             : "";
}

// Returns the file's name relative to the folder, as the report's page names it; empty if the file
// is outside the folder, or does not exist.
std::string InFolder(const std::filesystem::path& file, const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.empty() || !std::filesystem::exists(file, error)) return "";
  const std::string name = std::filesystem::proximate(std::filesystem::absolute(file),
                                                      std::filesystem::absolute(folder), error)
                               .generic_string();
  return error || name.starts_with("..") || name.starts_with('/') ? "" : name;
}

std::string Programs(const std::vector<RunResult>& runs, const std::filesystem::path& folder) {
  Rows rows = {{"mode", "program", "command", "end", "result", "output"}};
  for (const RunResult& run : runs) {
    const std::filesystem::path of_run = runs.size() > 1 ? folder / run.scenario.mode : folder;
    for (const result::ProgramResult& program : run.programs) {
      rows.push_back(
          {run.scenario.mode, program.name, program.command, program.ended, program.Verdict(),
           InFolder(of_run / "programs" / scenario::OutputFileOf(program.name), folder)});
    }
  }
  return rows.size() == 1
             ? ""
             : "<h2>Programs</h2>\n" + Table(rows, {false, false, false, false, false, true});
}

// Returns the table of files: captures, and states of kernels.
std::string Files(const std::vector<RunResult>& runs, const std::filesystem::path& folder) {
  Rows rows = {{"mode", "what", "of", "file", "remark"}};
  const auto add = [&](const RunResult& run, const char* what, const std::string& of,
                       const std::string& file, const std::string& remark) {
    const std::string inside = InFolder(file, folder);
    rows.push_back({run.scenario.mode, what, of, inside,
                    inside.empty() ? file + (remark.empty() ? "" : "; " + remark) : remark});
  };
  for (const RunResult& run : runs) {
    for (const result::Capture& capture : run.simulator.captures) {
      const std::string missing =
          capture.dropped > 0 ? fmt::format(", {} missing", capture.dropped) : "";
      const std::string unfinished =
          capture.unfinished
              ? fmt::format(", {} larger than the MTU or without a checksum", *capture.unfinished)
              : "";
      add(run, "capture", capture.link, capture.file,
          fmt::format("{} frames{}{}{}", capture.frames, missing, unfinished,
                      capture.error.empty() ? "" : ": " + capture.error));
    }
    for (const result::StateFiles& state :
         run.simulator.state.value_or(std::vector<result::StateFiles>())) {
      for (const std::string& file : state.files) add(run, "state", state.node, file, "");
    }
  }
  return rows.size() == 1 ? "" : "<h2>Files</h2>\n" + Table(rows, {false, false, false, true});
}

std::string Failures(const std::vector<RunResult>& runs) {
  std::string text;
  for (const RunResult& run : runs) {
    for (const std::string& failure : run.failures) {
      text += fmt::format("<p class=\"failed\">{}: {}</p>\n", EscapeHtml(run.scenario.mode),
                          EscapeHtml(failure));
    }
  }
  return text;
}

std::string Provenance(const std::vector<RunResult>& runs) {
  const result::ScenarioSummary& scenario = runs.front().scenario;
  Rows rows = {{"", "value"}, {"seed", std::to_string(scenario.seed)}};
  for (const RunResult& run : runs) {
    rows.push_back({"scenario, mode " + run.scenario.mode, "SHA-256 " + run.scenario.hash});
  }
  const json environment = runs.front().environment;  // copied: items() keeps only a reference
  for (const auto& [key, value] : environment.items()) {
    rows.push_back({key, value.is_string() ? value.get<std::string>() : JsonText(value)});
  }
  return "<h2>Provenance</h2>\n" + Table(rows) +
         "<details><summary>effective scenario</summary><pre>" + EscapeHtml(scenario.effective) +
         "</pre></details>\n" +
         "<p>Raw data: <a href=\"results.json\">results.json</a>, "
         "<a href=\"flows.csv\">flows.csv</a>, <a href=\"samples.csv\">samples.csv</a>, "
         "<a href=\"gaps.csv\">gaps.csv</a>.</p>\n";
}

// Quotes a field as RFC 4180 requires.
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

constexpr const char *kResults = "results.json", *kFlows = "flows.csv", *kSamples = "samples.csv",
                     *kGaps = "gaps.csv", *kIndex = "index.html", *kPicture = "result.svg";

}  // namespace

void MakeReportDirectory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  for (const char* file : {kResults, kFlows, kSamples, kGaps, kIndex, kPicture}) {
    std::error_code absent;
    std::filesystem::remove(std::filesystem::path(directory) / file, absent);
  }
  if (error || access(directory.c_str(), W_OK) != 0) {
    throw UsageError(fmt::format("--report {}: {}", directory,
                                 error ? error.message() : std::string("cannot be written")));
  }
}

std::string RenderHtml(const std::vector<RunResult>& runs, const std::string& directory) {
  const std::string table = runs.size() == 1 ? ResultTable(runs.front()) : ComparisonTable(runs);
  const std::string& name = runs.front().scenario.name;
  const std::string body =
      "<h1>" + EscapeHtml(name) + "</h1>\n" + Failures(runs) + "<pre>" + EscapeHtml(table) +
      "</pre>\n" + Comparison(runs) +
      "<h2>Topology</h2>\n<div id=\"topology\"><p>Drawn by JavaScript.</p></div>\n" + Links(runs) +
      Convergence(runs) + Events(runs) +
      "<h2>Flows over time</h2>\n<div id=\"flows\"><p>Drawn by JavaScript.</p></div>\n" +
      Routes(runs) + Lateness(runs) + LoopBreakdown(runs) + Programs(runs, directory) +
      Files(runs, directory) + Provenance(runs) + page::DataElement("data", {{"runs", runs}});
  return page::Page(name, body, page::kReportScript);
}

std::string ResultPicture(const std::vector<RunResult>& runs) {
  return BarPicture(
      runs.front().scenario.name + ": the same scenario in each mode (logarithmic axes)",
      FlowBars(runs), true);
}

std::string FlowsCsv(const std::vector<RunResult>& runs) {
  std::string csv =
      "mode,flow,kind,from,to,sent_packets,received_packets,loss_share,rate_bit_per_s,"
      "packets_per_s,retransmits_segments,"
      "rtt_min_ms,rtt_avg_ms,rtt_max_ms,delay_min_ms,delay_p50_ms,delay_p99_ms,error\n";
  for (const RunResult& run : runs) {
    for (const FlowResult& f : run.flows) {
      const auto rtt = f.rtt.value_or(result::Times()), delay = f.delay.value_or(result::Times());
      const auto cell = [](const auto& of, double value) {
        return of ? fmt::format("{}", value) : std::string();
      };
      const std::vector<std::string> cells = {run.scenario.mode,
                                              CsvField(f.name),
                                              f.kind,
                                              f.from,
                                              f.to,
                                              CsvNumber(f.sent),
                                              CsvNumber(f.received),
                                              CsvNumber(f.loss),
                                              CsvNumber(f.rate),
                                              CsvNumber(f.packet_rate),
                                              CsvNumber(f.retransmits),
                                              cell(f.rtt, rtt.min),
                                              cell(f.rtt, rtt.mean),
                                              cell(f.rtt, rtt.max),
                                              cell(f.delay, delay.min),
                                              cell(f.delay, delay.p50),
                                              cell(f.delay, delay.p99),
                                              CsvField(f.error)};
      csv += fmt::format("{}\n", fmt::join(cells, ","));
    }
  }
  return csv;
}

std::string SamplesCsv(const std::vector<RunResult>& runs) {
  std::string csv = "mode,flow,flow_time_s,run_time_s,rtt_ms,rate_bit_per_s\n";
  for (const RunResult& run : runs) {
    for (const FlowResult& flow : run.flows) {
      const bool ping = flow.kind == "ping";
      for (const auto& [time, value] : flow.samples) {
        csv += fmt::format("{},{},{:.6g},{:.6g},{}{:.6g}{}\n", run.scenario.mode,
                           CsvField(flow.name), time, flow.start.value_or(0) + time,
                           ping ? "" : ",", value, ping ? "," : "");
      }
    }
  }
  return csv;
}

std::string GapsCsv(const std::vector<RunResult>& runs) {
  std::string csv =
      "mode,flow,before_run_time_s,after_run_time_s,first_packet_number,lost_packets\n";
  for (const RunResult& run : runs) {
    for (const FlowResult& flow : run.flows) {
      const double start = flow.start.value_or(0);
      for (const result::Gap& gap : flow.gaps) {
        csv += fmt::format("{},{},{:.6g},{},{},{}\n", run.scenario.mode, CsvField(flow.name),
                           start + gap.from, gap.to ? fmt::format("{:.6g}", start + *gap.to) : "",
                           gap.first, gap.lost);
      }
    }
  }
  return csv;
}

void WriteReport(const std::string& directory, const std::vector<RunResult>& runs) {
  MakeReportDirectory(directory);
  const std::filesystem::path folder = directory;
  Attempts attempts;
  const auto write = [&](const char* file, auto text) {
    attempts.Try([&] { WriteFile(folder / file, text()); });
  };
  // Writes the data before the page, in case the disk is full.
  write(kResults, [&] {
    return JsonText(runs.size() == 1 ? json(runs.front()) : json{{"runs", runs}}, 2) + "\n";
  });
  write(kFlows, [&] { return FlowsCsv(runs); });
  write(kSamples, [&] { return SamplesCsv(runs); });
  write(kGaps, [&] { return GapsCsv(runs); });
  write(kIndex, [&] { return RenderHtml(runs, directory); });
  if (runs.size() > 1) write(kPicture, [&] { return ResultPicture(runs); });
  attempts.Finish();
}

}  // namespace viaduct::run
