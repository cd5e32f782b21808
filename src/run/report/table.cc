#include "run/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/result/losses.h"
#include "base/result/timing.h"
#include "base/text/text_table.h"

namespace viaduct::run {
namespace {

using result::FlowResult, result::RunResult;

std::string Packets(const std::optional<uint64_t>& count) {
  return count ? std::to_string(*count) : "-";
}

// Returns the times that are most important for the kind of flow: round trips for ping, one-way
// delays for all other kinds.
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

std::string FlowTable(const std::vector<FlowResult>& flows) {
  std::vector<std::vector<std::string>> rows = {
      {"flow", "sent", "received", "loss", "rate", "min/avg/max or p50/p99"}};
  for (const FlowResult& flow : flows) {
    if (!flow.error.empty()) {
      rows.push_back({flow.name, "failed: " + flow.error});
    } else {
      rows.push_back({flow.name, Packets(flow.sent), Packets(flow.received), Loss(flow), Rate(flow),
                      Times(flow)});
    }
  }
  return rows.size() > 1 ? result::FormatTable(rows) : "";
}

std::string ProgramTable(const std::vector<result::ProgramResult>& programs) {
  std::vector<std::vector<std::string>> rows = {{"program", "node", "seconds", "result"}};
  for (const result::ProgramResult& program : programs) {
    rows.push_back({program.name, program.node, fmt::format("{:.2f}", program.seconds),
                    program.Verdict() + ": " + program.ended});
  }
  return rows.size() > 1 ? result::FormatTable(rows) : "";
}

std::string Lines(const std::string& head,
                  const std::optional<std::vector<std::string>>& statements) {
  std::string text;
  for (const std::string& statement : statements.value_or(std::vector<std::string>())) {
    text += fmt::format("{}: {}\n", head, statement);
  }
  return text;
}

// Returns lines with the values that the simulator assumed, the traffic of the protocol that no
// kernel socket could carry, the routes that a kernel refused, and limits of the machine.
std::string CaveatLines(const RunResult& run) {
  return Lines("assumed", run.simulator.assumptions) +
         Lines("not supported", run.simulator.unsupported) +
         Lines("refused", run.simulator.refused) + Lines("limit", run.simulator.exceeded);
}

// Returns the main result of a flow for one cell of the table: the rate for TCP, the mean for ping,
// rate and loss for UDP.
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

// Returns a line about the fates of the packets on all links together in the path engine.
std::string LinksLine(const result::EngineResult& engine) {
  uint64_t arrived = 0, corrupted = 0, marked = 0, waiting = 0;
  std::map<std::string, uint64_t> fates;
  for (const result::PipelineResult& pipeline : engine.pipelines) {
    arrived += pipeline.arrived;
    corrupted += pipeline.corrupted;
    marked += pipeline.marked;
    waiting += pipeline.waiting;
    for (const auto& [fate, count] : pipeline.fates) fates[fate] += count;
  }
  if (arrived == 0) return "";
  std::string text = fmt::format("links: {} packets arrived", arrived);
  for (const auto& [fate, count] : fates) {
    if (count > 0) text += fmt::format(", {} {}", count, fate);
  }
  if (waiting > 0) text += fmt::format(", {} waiting", waiting);
  if (corrupted > 0) text += fmt::format(", {} of the packets corrupted", corrupted);
  if (marked > 0) text += fmt::format(", {} of the packets marked", marked);
  return text + "\n";
}

// Returns a line for each flow with packets that were not offered or arrived twice, or that was cut
// off.
std::string CountLines(const std::vector<FlowResult>& flows) {
  std::string text;
  for (const FlowResult& flow : flows) {
    if (!flow.not_offered) continue;
    text += fmt::format(
        "flow '{}': the sender sent {} packets too few: the sender was too slow or ended early\n",
        flow.name, *flow.not_offered);
  }
  for (const FlowResult& flow : flows) {
    if (!flow.duplicates) continue;
    text += fmt::format("flow '{}': {} duplicate {} arrived; duplicates are not counted\n",
                        flow.name, *flow.duplicates, flow.kind == "ping" ? "answers" : "packets");
  }
  for (const FlowResult& flow : flows) {
    if (!flow.cut.value_or(false)) continue;
    text += fmt::format(
        "flow '{}': some packets had not arrived when the run stopped waiting for packets in "
        "flight; these packets count as lost\n",
        flow.name);
  }
  return text;
}

// Returns a hint about packets that were lost while a flow's first packet waited for a MAC address:
// later packets of a fast flow displace earlier ones from the queue.
std::string AddressResolutionHint(const std::vector<result::Loss>& losses) {
  const bool unresolved = std::ranges::any_of(losses, [](const result::Loss& loss) {
    return loss.why.find("address_unresolved") != std::string::npos;
  });
  return unresolved
             ? "address_unresolved: the MAC address of a next hop was unknown, as at the start of "
               "a flow; a ping before the flow resolves the address\n"
             : "";
}

// Returns a line for each place where packets were lost; the losses on links are in LinksLine().
std::string LossLines(const RunResult& run) {
  std::string text;
  const std::vector<result::Loss> losses = result::LossesOf(run);
  for (const result::Loss& loss : losses) {
    text += fmt::format("lost at {}: {} packets ({})\n", loss.place, loss.packets, loss.why);
  }
  text += AddressResolutionHint(losses);
  if (const uint64_t packets = result::LostElsewhere(run); packets > 0) {
    text +=
        fmt::format("lost elsewhere: at least {} packets of flows, at places where {}\n", packets,
                    run.scenario.mode == "simulate"
                        ? "the simulator has no counter"
                        : "there is no counter, such as a next hop that does not answer");
  }
  return text + CountLines(run.flows);
}

// Returns remarks on facts that the figures do not show: the fates of packets on links,
// assumptions, and every loss.
std::string RemarkLines(const RunResult& run) {
  return (run.engine ? LinksLine(*run.engine) : "") + CaveatLines(run) + LossLines(run);
}

// Returns the text with `head` before each line.
std::string Headed(const std::string& head, const std::string& text) {
  std::istringstream lines(text);
  std::string headed;
  for (std::string line; std::getline(lines, line);) headed += fmt::format("{}: {}\n", head, line);
  return headed;
}

std::string PollLine(const result::RoutePolls& polls) {
  const double each = polls.polls > 0 ? polls.seconds / static_cast<double>(polls.polls) : 0;
  return fmt::format(
      "timing: routes read {} times, {:.3f} ms each, every {:.2f} s{}\n", polls.polls, 1e3 * each,
      polls.interval,
      polls.IsVoid() ? fmt::format(": VOID (limit {} s exceeded)", result::RoutePolls::kMaxInterval)
                     : "");
}

// Returns a remark on pairs of nodes that several links join: " (n0 and n3 have 2 between them)",
// or "". The author of a scenario may have meant one link although two entries name the same pair.
std::string ParallelLinks(const std::vector<result::LinkNodes>& links) {
  std::map<std::vector<std::string>, int> counts;
  for (const result::LinkNodes& link : links) {
    std::vector<std::string> nodes = link.nodes;
    std::sort(nodes.begin(), nodes.end());
    if (nodes.size() == 2) ++counts[nodes];
  }
  std::vector<std::string> several;
  for (const auto& [nodes, count] : counts) {
    if (count > 1) several.push_back(fmt::format("{} and {} have {}", nodes[0], nodes[1], count));
  }
  constexpr size_t kMaxNamed = 3;
  const size_t more = several.size() > kMaxNamed ? several.size() - kMaxNamed : 0;
  several.resize(several.size() - more);
  if (several.empty()) return "";
  return fmt::format(" ({} between them{})", fmt::join(several, ", "),
                     more > 0 ? fmt::format("; {} more pairs have parallel links", more) : "");
}

// Returns a line about the scenario: "run: 3 nodes, 3 links, seed 1, 10 s of traffic".
std::string ScenarioLine(const RunResult& run) {
  const result::ScenarioSummary& scenario = run.scenario;
  const auto count = [](size_t number, const char* noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
  };
  return fmt::format("run: {}, {}{}, seed {}, {:g} s of traffic{}\n",
                     count(scenario.nodes.size(), "node"), count(scenario.links.size(), "link"),
                     ParallelLinks(scenario.links), scenario.seed, scenario.duration,
                     scenario.mode == "simulate" ? "; virtual time: no lateness" : "");
}

// Returns the lines about lateness and verdict; empty in mode simulate, because virtual time is
// never late.
std::string VerdictLines(const RunResult& run) {
  if (run.scenario.mode == "simulate") return "";
  std::string text;
  const auto add = [&](const result::Timing& timing, const char* whose) {
    text += result::TimingLine(timing, whose, run.failures);
  };
  if (run.simulator.timing) add(*run.simulator.timing, "");
  if (run.simulator.port_timing) add(*run.simulator.port_timing, "ports ");
  if (run.engine) add(run.engine->timing, "links ");
  if (run.event_timing) add(*run.event_timing, "changes of links ");
  const auto& polls = run.simulator.route_polls;
  if (polls && polls->IsStretched()) text += PollLine(*polls);
  text += fmt::format("verdict: {}", result::VerdictName(run.verdict));
  if (!run.failures.empty() && run.verdict == result::Verdict::kNotJudged) {
    text += ", because the run failed";
  }
  if (!run.judged.empty()) text += fmt::format(", of {}", fmt::join(run.judged, ", "));
  if (!run.not_judged.empty())
    text += fmt::format("; not judged: {}", fmt::join(run.not_judged, ", "));
  return text + "\n";
}

}  // namespace

std::string FlowRemarks(const std::vector<FlowResult>& flows) {
  std::string text;
  for (const FlowResult& flow : flows) {
    for (const auto& [place, packets] : flow.lost_at) {
      text += fmt::format("lost at flow '{}': {} packets ({})\n", flow.name, packets, place);
    }
  }
  return text + CountLines(flows);
}

Scaled Scale(double value) {
  const char* prefix = "";
  for (const char* larger : {"k", "M", "G", "T"}) {
    if (value < 999.5) break;
    value /= 1000;
    prefix = larger;
  }
  return {value, prefix};
}

std::string HumanRate(double bits_per_second) {
  const auto [rate, prefix] = Scale(bits_per_second);
  return fmt::format("{:.{}f} {}bit/s", rate, rate >= 100 ? 0 : rate >= 10 ? 1 : 2, prefix);
}

std::string HumanCount(double count) {
  const auto [value, prefix] = Scale(count);
  return fmt::format("{:.3g}{}", value, prefix);
}

std::string HumanPercent(double fraction) {
  const double percent = fraction * 100;
  if (percent <= 0) return "0%";
  return percent >= 10 ? fmt::format("{:.1f}%", percent) : fmt::format("{:.2g}%", percent);
}

std::string FileLines(const std::vector<result::Capture>& captures,
                      const std::vector<result::StateFiles>& states) {
  std::string text;
  for (const result::Capture& capture : captures) {
    text += fmt::format(
        "capture {}: {} frames, {} dropped{}\n", capture.file, capture.frames, capture.dropped,
        capture.unfinished
            ? fmt::format(", {} larger than the MTU or without a checksum", *capture.unfinished)
            : "");
  }
  for (const auto& [node, files] : states) {
    text += fmt::format("state of {}: {}\n", node, fmt::join(files, " "));
  }
  return text;
}

std::string TrafficTable(const std::vector<FlowResult>& flows,
                         const std::vector<result::ProgramResult>& programs) {
  return FlowTable(flows) + ProgramTable(programs);
}

std::string ResultTable(const RunResult& run) {
  return TrafficTable(run.flows, run.programs) +
         FileLines(run.simulator.captures,
                   run.simulator.state.value_or(std::vector<result::StateFiles>())) +
         RemarkLines(run) + ScenarioLine(run) + VerdictLines(run);
}

std::string ComparisonTable(const std::vector<RunResult>& runs) {
  if (runs.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{""}};
  for (const RunResult& run : runs) rows[0].push_back(run.scenario.mode);
  // Adds a row, unless all its cells are empty.
  const auto add = [&](const std::string& head, auto cell) {
    std::vector<std::string> row = {head};
    for (const RunResult& run : runs) row.push_back(cell(run));
    if (std::any_of(row.begin() + 1, row.end(), [](const auto& c) { return c != "-"; })) {
      rows.push_back(row);
    }
  };
  add("set-up", [](const RunResult& run) {
    return run.setup_seconds ? fmt::format("{:.2f} s", *run.setup_seconds) : "-";
  });
  add("converged in", [](const RunResult& run) {
    const result::Convergence& of = run.convergence;
    if (of.on_demand.value_or(of.by_programs.value_or(false))) return std::string("-");
    return fmt::format("{:.1f} s", run.convergence.seconds);
  });
  for (size_t f = 0; f < runs[0].flows.size(); ++f) {
    add(runs[0].flows[f].name, [&](const RunResult& run) {
      return f < run.flows.size() ? ComparisonCell(run.flows[f]) : "-";
    });
    add("  packets/s", [&](const RunResult& run) {
      return f < run.flows.size() ? PacketRateCell(run.flows[f]) : "-";
    });
  }
  for (const auto& [head, quantile] :
       {std::pair("lateness p50", &result::Timing::p50_ns), {"  p99", &result::Timing::p99_ns}}) {
    add(head, [&, quantile = quantile](const RunResult& run) {
      return run.simulator.timing ? result::Micros((*run.simulator.timing).*quantile) + " us" : "-";
    });
  }
  add("verdict", [](const RunResult& run) -> std::string {
    return run.scenario.mode != "simulate" ? result::VerdictName(run.verdict) : "-";
  });
  std::string text = result::FormatTable(rows);
  for (const RunResult& run : runs) text += Headed(run.scenario.mode, RemarkLines(run));
  return text;
}

std::string CausesText(const std::map<std::string, uint64_t>& drops) {
  std::string text;
  for (const auto& [cause, count] : drops) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cause);
  }
  return text.empty() ? "0" : text;
}

}  // namespace viaduct::run
