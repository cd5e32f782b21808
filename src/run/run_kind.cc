#include "run/run_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "run/simulator/environment.h"
#include "run/simulator/machines.h"
#include "scenario/events.h"

namespace viaduct::run {
namespace {

// Returns the SPECs of a link in the form of result::LinkNodes::specs.
std::vector<std::string> SpecsOf(const scenario::LinkSettings& link) {
  const path::Spec first = link.up.value_or(link.spec), second = link.down.value_or(link.spec);
  if (first.IsPlainWire() && second.IsPlainWire()) return {};
  std::vector<std::string> specs = {path::FormatSpec(first), path::FormatSpec(second)};
  if (specs[0] == specs[1]) specs.pop_back();
  return specs;
}

}  // namespace

RunKind::RunKind(const scenario::Scenario& scenario, const RunOptions& options)
    : scenario_(scenario),
      options_(options),
      machines_(*options.machines),
      begin_(MonotonicClock::Now()),
      progress_(stderr, options.quiet),
      program_(FindSimulator()) {}

result::RunResult RunKind::Execute() {
  Describe();
  Check();
  scenario::TryEvents(scenario_);
  try {
    Work();
  } catch (const sys::Interrupted&) {
    Abandon();
    throw;
  } catch (const NotConverged& error) {
    Abandon();
    if (machines_.AreSeveral()) throw;  // rank 0 has the convergence of all machines
    results_.convergence = error.convergence();
    results_.failures.push_back(error.what());
  } catch (const std::exception& error) {
    if (!measured_) TakeWhatThereIs();
    Abandon();
    // Keeps results that were measured before the failure.
    if (!measured_) throw;
    results_.failures.push_back(error.what());
  }
  loop_->IgnoreSignals();
  const Instant begin = MonotonicClock::Now();
  CleanUp();
  results_.teardown_seconds = (MonotonicClock::Now() - begin).ToSeconds();
  NoteCaptures();
  NoteRefusedRoutes();
  results_.reconvergence = result::FindReconvergence(results_);
  results_.Judge(scenario_.lateness_limit);
  if (interrupted_ != 0) results_.status = 128 + interrupted_;
  return std::move(results_);
}

// Reports refused routes as failures, because a lab that forwards by other routes than the
// protocol's is a different experiment.
void RunKind::NoteRefusedRoutes() {
  for (const std::string& line : results_.simulator.refused) {
    results_.failures.push_back("refused: " + line);
  }
}

void RunKind::NoteCaptures() {
  for (const result::Capture& capture : results_.simulator.captures) {
    if (capture.error.empty()) continue;
    results_.failures.push_back(
        fmt::format("capture of link '{}': {}", capture.link, capture.error));
  }
}

void RunKind::Describe() {
  result::ScenarioSummary& summary = results_.scenario;
  summary.name = scenario_.name;
  summary.file = scenario_.file;
  summary.hash = scenario_.hash;
  summary.seed = scenario_.seed;
  summary.mode = scenario::ModeName(scenario_.mode);
  summary.duration = scenario_.duration.ToSeconds();
  summary.effective = scenario::Print(scenario_);
  for (const auto& node : scenario_.nodes) summary.nodes.push_back(node.name);
  for (const auto& link : scenario_.links) {
    result::LinkNodes& joined = summary.links.emplace_back();
    joined.name = link.name;
    joined.nodes = link.nodes;
    if (!link.wifi.nodes.empty()) joined.wifi = link.wifi.standard;
    joined.specs = SpecsOf(link);
  }
  results_.environment = DescribeEnvironment(options_.command_line);
}

void RunKind::StartSimulator(UniqueFd broker) {
  loop_ = std::make_unique<sys::EventLoop>();
  machines_.Join(*loop_);
  simulator_ = std::make_unique<SimulatorProcess>(SimulatorStart{.program = program_,
                                                                 .scenario = scenario_,
                                                                 .broker = std::move(broker),
                                                                 .captures = CaptureDirectory(),
                                                                 .pauses = options_.pauses,
                                                                 .machine = machines_.machine()});
  conversation_ =
      std::make_unique<Conversation>(scenario_, *simulator_, *loop_, progress_, machines_);
}

void RunKind::EndEarly(const sys::Interrupted& interrupted, const std::string& hint,
                       const std::string& failure) {
  if (interrupted.signal() != SIGINT || machines_.AreSeveral()) throw interrupted;
  interrupted_ = interrupted.signal();
  progress_.Line("interrupted: the run ends now and reports the results so far" + hint);
  results_.failures.push_back(failure);
}

void RunKind::TakeReport(const scenario::SimulatorDone& report, Instant traffic_start) {
  results_.simulator = report.results;
  results_.environment.ns3 = report.ns3;
  results_.environment.ns3_build = report.build;
  for (result::RouteChange& change : results_.simulator.route_changes) {
    change.at -= (traffic_start - Instant()).ToSeconds();
  }
  if (report.links) results_.engine = report.links;
}

void RunKind::TakeFlows(std::vector<result::FlowResult> flows) {
  results_.flows = std::move(flows);
  for (size_t i = 0; i < std::min(results_.flows.size(), scenario_.flows.size()); ++i) {
    const scenario::Flow& flow = scenario_.flows[i];
    results_.flows[i].start = flow.start.ToSeconds();
    results_.flows[i].end = (flow.start + flow.duration).ToSeconds();
  }
}

void RunKind::TakeFailures(const std::vector<std::string>& failures) {
  results_.failures.insert(results_.failures.end(), failures.begin(), failures.end());
}

void RunKind::TakePrograms(const std::vector<result::ProgramOutcome>& outcomes) {
  for (const result::ProgramOutcome& outcome : outcomes) {
    results_.programs.push_back(outcome.program);
    if (outcome.started && !options_.directory.empty()) WriteText(outcome);
  }
}

void RunKind::WriteText(const result::ProgramOutcome& outcome) {
  const std::filesystem::path folder = std::filesystem::path(options_.directory) / "programs";
  try {
    std::filesystem::create_directories(folder);
    WriteFile(folder / scenario::OutputFileOf(outcome.program.name), outcome.text);
  } catch (const std::exception& error) {
    results_.failures.push_back(
        fmt::format("output of program '{}': {}", outcome.program.name, error.what()));
  }
}

std::string RunKind::CaptureDirectory() const {
  return options_.directory.empty() ? scenario_.name + "-captures" : options_.directory;
}

void RunKind::Abandon() {
  if (loop_) loop_->IgnoreSignals();
  LimitTheEnd();
  CleanUp();
}

void RunKind::CleanUp() {
  if (loop_) machines_.Leave();
  conversation_.reset();
  simulator_.reset();
}

}  // namespace viaduct::run
