#include "run/machines/merge.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "scenario/machines.h"

namespace viaduct::machines {
namespace {

using result::RunResult;
using scenario::Scenario;

template <class T>
void Append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

template <class T>
void Append(std::optional<std::vector<T>>& all, const std::optional<std::vector<T>>& more) {
  if (!more) return;
  if (!all) all.emplace();
  Append(*all, *more);
}

// Merges `other` into `timing`: takes the worse values, and the sum of the events.
void Worsen(result::Timing& timing, const result::Timing& other) {
  const uint64_t events = timing.events + other.events;
  const uint64_t lost = timing.lost.value_or(0) + other.lost.value_or(0);
  const bool is_lost = timing.lost || other.lost;
  const bool over = timing.over_limit.value_or(false) || other.over_limit.value_or(false);
  const int64_t longest = std::max(timing.max_ns, other.max_ns);
  const auto limit = timing.limit_ns ? timing.limit_ns : other.limit_ns;
  if (other.p99_ns > timing.p99_ns) timing = other;
  timing.events = events;
  timing.max_ns = longest;
  timing.limit_ns = limit;
  if (is_lost) timing.lost = lost;
  if (over) timing.over_limit = true;
}

void Worsen(std::optional<result::Timing>& timing, const std::optional<result::Timing>& other) {
  if (timing && other) {
    Worsen(*timing, *other);
  } else if (other) {
    timing = other;
  }
}

// Whether the pipeline emulates a link direction on this machine: each direction of a link between
// machines is emulated on its sender's machine; on the receiver's machine it also passes through
// the engine, without any effect.
bool IsOwn(const Scenario& scenario, const result::PipelineResult& pipeline,
           const std::string& machine) {
  const auto link = std::ranges::find(scenario.links, pipeline.pair, &scenario::LinkSettings::name);
  if (link == scenario.links.end() || !scenario::IsBetweenMachines(scenario, *link)) return true;
  const size_t sender = pipeline.direction == "up" ? 0 : 1;
  return scenario::MachineOf(scenario, link->nodes[sender]) == machine;
}

void MergeEngine(const Scenario& scenario, std::optional<result::EngineResult>& all,
                 std::optional<result::EngineResult> part, const std::string& machine) {
  if (!part) return;
  std::erase_if(part->pipelines, [&](const auto& one) { return !IsOwn(scenario, one, machine); });
  for (result::PortResult& port : part->ports) port.name = machine + "/" + port.name;
  if (!all) {
    all = std::move(part);
    return;
  }
  Append(all->pipelines, part->pipelines);
  Append(all->ports, part->ports);
  Append(all->failures, part->failures);
  Worsen(all->timing, part->timing);
  all->verdict = result::Worse(all->verdict, part->verdict);
  all->memory.used += part->memory.used;
  all->memory.peak += part->memory.peak;
  all->memory.spilled += part->memory.spilled;
  all->memory.spilled_peak += part->memory.spilled_peak;
}

void MergeSimulator(result::SimulatorReport& all, const result::SimulatorReport& part) {
  Worsen(all.timing, part.timing);
  Worsen(all.port_timing, part.port_timing);
  for (const auto& [activity, seconds] : part.loop) all.loop[activity] += seconds;
  all.counters.insert(part.counters.begin(), part.counters.end());
  all.routes.insert(part.routes.begin(), part.routes.end());
  Append(all.route_changes, part.route_changes);
  if (part.route_changes_omitted) {
    all.route_changes_omitted = all.route_changes_omitted.value_or(0) + *part.route_changes_omitted;
  }
  if (part.route_pushes) {
    result::RoutePushes& pushes = all.route_pushes ? *all.route_pushes : all.route_pushes.emplace();
    pushes.batches += part.route_pushes->batches;
    pushes.refused += part.route_pushes->refused;
    pushes.missing += part.route_pushes->missing;
    pushes.seconds += part.route_pushes->seconds;
  }
  if (part.route_polls) {
    result::RoutePolls& polls = all.route_polls ? *all.route_polls : all.route_polls.emplace();
    polls.polls += part.route_polls->polls;
    polls.seconds += part.route_polls->seconds;
    polls.interval = std::max(polls.interval, part.route_polls->interval);
  }
  Append(all.route_readings, part.route_readings);
  Append(all.refused, part.refused);
  Append(all.exceeded, part.exceeded);
  Append(all.unsupported, part.unsupported);
  Append(all.captures, part.captures);
}

void MergeConvergence(result::Convergence& all, const result::Convergence& part) {
  all.seconds = std::max(all.seconds, part.seconds);
  all.reachable += part.reachable;
  all.pairs += part.pairs;
  Append(all.unreachable, part.unreachable);
}

// Takes the result of each flow from the machine that measured it, and adds the losses that all
// other machines report.
void MergeFlows(const Scenario& scenario, RunResult& all, const std::vector<PartResult>& parts) {
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    const scenario::Flow& flow = scenario.flows[i];
    const std::string& measures = scenario::MachineOf(
        scenario, flow.kind == scenario::Flow::Kind::kUdp ? flow.to : flow.from);
    for (const PartResult& part : parts) {
      if (part.machine == measures) all.flows[i] = part.result.flows.at(i);
    }
    for (const PartResult& part : parts) {
      if (part.machine == measures || !all.flows[i].error.empty()) continue;
      for (const auto& [place, packets] : part.result.flows.at(i).lost_at) {
        all.flows[i].Lose(place, packets);
      }
    }
  }
}

// Returns the events in the order of their times. Both machines of a link between machines report
// each event of the link: the n-th change of the link to a state on one machine is the n-th change
// to this state on the other machine.
std::vector<result::LinkEvent> MergedEvents(const std::vector<PartResult>& parts) {
  std::map<std::tuple<std::string, std::string, int>, result::LinkEvent> merged;
  for (const PartResult& part : parts) {
    std::map<std::pair<std::string, std::string>, int> seen;
    for (const result::LinkEvent& event : part.result.events) {
      const int number = seen[{event.link, event.change}]++;
      const auto [known, is_new] = merged.try_emplace({event.link, event.change, number}, event);
      if (!is_new && event.at < known->second.at) known->second = event;
    }
  }
  std::vector<result::LinkEvent> events;
  events.reserve(merged.size());
  for (auto& [key, event] : merged) events.push_back(std::move(event));
  std::ranges::stable_sort(events, {}, &result::LinkEvent::at);
  return events;
}

result::HostResult Describe(const Scenario& scenario, const PartResult& part) {
  result::HostResult machine;
  machine.name = part.machine;
  machine.address =
      scenario.machines[scenario::MachineNumber(scenario, part.machine)].address.ToString();
  for (const auto& node : scenario.nodes) {
    if (node.on_machine == part.machine) machine.nodes.push_back(node.name);
  }
  machine.cpu = part.result.environment.cpu;
  machine.kernel = part.result.environment.kernel;
  constexpr double kMillisecond = 1e6;
  const auto drift = static_cast<double>(part.clock_after.ahead - part.clock.ahead);
  machine.clock_ahead = static_cast<double>(part.clock.ahead) / kMillisecond;
  // The reported correction is the one measured before the traffic; the error of the correction
  // includes the drift of the clocks after that measurement.
  machine.clock_error =
      (static_cast<double>(std::max(part.clock.error, part.clock_after.error)) + std::abs(drift)) /
      kMillisecond;
  return machine;
}

}  // namespace

RunResult Merge(const Scenario& scenario, std::vector<PartResult> parts) {
  RunResult all = parts.front().result;
  all.engine.reset();
  MergeEngine(scenario, all.engine, parts.front().result.engine, parts.front().machine);
  for (size_t i = 1; i < parts.size(); ++i) {
    const RunResult& part = parts[i].result;
    all.setup_seconds = std::max(all.setup_seconds.value_or(0), part.setup_seconds.value_or(0));
    all.teardown_seconds = std::max(all.teardown_seconds, part.teardown_seconds);
    MergeConvergence(all.convergence, part.convergence);
    Append(all.programs, part.programs);
    Append(all.failures, part.failures);
    MergeEngine(scenario, all.engine, part.engine, parts[i].machine);
    MergeSimulator(all.simulator, part.simulator);
    all.data_planes.insert(part.data_planes.begin(), part.data_planes.end());
    if (part.neighbour_discards) {
      all.neighbour_discards = all.neighbour_discards.value_or(0) + *part.neighbour_discards;
    }
  }
  // Sorts the programs in the order of the scenario.
  std::ranges::stable_sort(all.programs, {}, [&](const result::ProgramResult& program) {
    return std::ranges::find(scenario.programs, program.name, &scenario::Program::name) -
           scenario.programs.begin();
  });
  all.events = MergedEvents(parts);
  for (const PartResult& part : parts) Worsen(all.event_timing, part.result.event_timing);
  all.reconvergence = result::FindReconvergence(all);
  MergeFlows(scenario, all, parts);
  for (const PartResult& part : parts) all.hosts.push_back(Describe(scenario, part));
  all.Judge(scenario.lateness_limit);
  // Takes the worst verdict of all machines: the verdict on the summed results might hide the
  // losses of one machine.
  for (const PartResult& part : parts) {
    all.verdict = result::Worse(all.verdict, part.result.verdict);
    if (all.engine && part.result.engine) {
      all.engine->verdict = result::Worse(all.engine->verdict, part.result.engine->verdict);
    }
  }
  all.Conclude();
  return all;
}

}  // namespace viaduct::machines
