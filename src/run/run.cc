#include "run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "lab/broker/client.h"
#include "run/lab_failures.h"
#include "run/simulator/conversation.h"
#include "run/simulator/engine_watch.h"
#include "run/simulator/environment.h"
#include "run/simulator/peers.h"
#include "run/simulator/progress.h"
#include "run/simulator/simulator_process.h"
#include "run/traffic/captures.h"
#include "run/traffic/link_events.h"
#include "run/traffic/traffic_runner.h"
#include "scenario/events.h"
#include "sys/descriptor_limit.h"
#include "sys/event_loop.h"
#include "sys/network/neighbour_statistics.h"

namespace viaduct::run {
namespace {

using scenario::Mode;
using scenario::Scenario;

// For flows to say what they have measured, when they were interrupted; a UDP flow waits for
// packets that are still under way.
constexpr Duration kEarlyEndPatience = Duration::Seconds(20);

// For the broker, to remove a large lab, once the run ends early.
constexpr Duration kBrokerPatience = Duration::Seconds(30);

// As result::LinkNodes::specs.
std::vector<std::string> SpecsOf(const scenario::LinkSettings& link) {
  const path::Spec first = link.up.value_or(link.spec), second = link.down.value_or(link.spec);
  if (first.IsPlainWire() && second.IsPlainWire()) return {};
  std::vector<std::string> specs = {path::FormatSpec(first), path::FormatSpec(second)};
  if (specs[0] == specs[1]) specs.pop_back();
  return specs;
}

class Run {
 public:
  Run(const Scenario& scenario, const RunOptions& options)
      : scenario_(scenario),
        options_(options),
        peers_(options.peers),
        real_(scenario.mode != Mode::kSimulate),
        program_(FindSimulator()),
        progress_(stderr, options.quiet) {}

  result::RunResult Execute() {
    Describe();
    if (real_) CheckFlowPrograms(scenario_);
    scenario::TryEvents(scenario_);
    try {
      Work();
    } catch (const sys::Interrupted&) {
      Abandon();
      throw;
    } catch (const NotConverged& error) {
      Abandon();
      if (peers_) throw;  // whoever conducts them has the convergence of all
      results_.convergence = error.convergence();
      results_.failures.push_back(error.what());
    } catch (const std::exception& error) {
      if (!real_ && conversation_ && !measured_) TakeSimulatedTraffic();
      Abandon();
      // What has been measured is not lost with what failed after it.
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

 private:
  // A lab that forwards otherwise than its protocols say is another experiment.
  void NoteRefusedRoutes() {
    for (const std::string& line : results_.simulator.refused) {
      results_.failures.push_back("refused: " + line);
    }
  }

  void Describe() {
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

  void Work() {
    // The broker is forked before the loop blocks signals, because it would inherit the blocked
    // signals, but has its own handling.
    if (real_) client_.emplace(broker::Client::ConnectOrSpawn());
    if (real_) client_->LimitWaiting(std::nullopt, broker::Client::kGrace);
    loop_ = std::make_unique<sys::EventLoop>();
    if (peers_) peers_->Join(*loop_);
    simulator_ = std::make_unique<SimulatorProcess>(
        SimulatorStart{.program = program_,
                       .scenario = scenario_,
                       .broker = real_ ? client_->NewConnection() : UniqueFd(),
                       .captures = CaptureDirectory(),
                       .pauses = options_.pauses,
                       .machine = peers_ ? peers_->host() : ""});
    conversation_ =
        std::make_unique<Conversation>(scenario_, *simulator_, *loop_, progress_, peers_);
    if (real_) {
      results_.setup_seconds = conversation_->WaitForLab();
      LookAtLab();
      StartCaptures();
    }
    results_.convergence = conversation_->WaitForConvergence();
    if (peers_) peers_->Meet("converged");
    if (real_) RealTraffic();
    if (engine_) results_.engine = engine_->Read();
    engine_.reset();  // the simulator takes the lab down, and the engine with it
    if (real_) TakeLossyWires(client_->Describe());
    const scenario::SimulatorDone report = WaitForReport();
    TakeReport(report);
    if (real_) TakeFailures(conversation_->failures());
    if (!real_) TakeSimulatedTraffic();
    AddLosses(report.lost_at, &results_.flows);
  }

  void TakeSimulatedTraffic() {
    TakeFlows(conversation_->flows());
    results_.events = conversation_->events();
    measured_ = !results_.flows.empty();
    TakePrograms(conversation_->programs());
    TakeFailures(conversation_->failures());
  }

  void TakeFlows(std::vector<result::FlowResult> flows) {
    results_.flows = std::move(flows);
    for (size_t i = 0; i < std::min(results_.flows.size(), scenario_.flows.size()); ++i) {
      const scenario::Flow& flow = scenario_.flows[i];
      results_.flows[i].start = flow.start.ToSeconds();
      results_.flows[i].end = (flow.start + flow.duration).ToSeconds();
    }
  }

  void TakeFailures(const std::vector<std::string>& failures) {
    results_.failures.insert(results_.failures.end(), failures.begin(), failures.end());
  }

  void LookAtLab() {
    const nlohmann::json lab = client_->Describe();
    SayDataPlanes(lab);
    if (!lab.contains("engine")) return;
    engine_ = std::make_unique<EngineWatch>(lab["engine"]["socket"].get<std::string>(), *loop_);
  }

  // Which ones were chosen where the scenario leaves it open.
  void SayDataPlanes(const nlohmann::json& lab) {
    std::map<std::string, int> nodes;
    for (const scenario::NodeSettings& node : scenario_.nodes) {
      if (node.data_plane == nullptr || node.data_plane->joined == nullptr) continue;
      if (peers_ && !peers_->IsHere(node.name)) continue;
      const nlohmann::json& choice = lab["data_planes"][node.name];
      ++nodes[fmt::format("{} ({})", choice["name"].get<std::string>(),
                          choice["reason"].get<std::string>())];
    }
    for (const auto& [choice, count] : nodes) {
      progress_.Line(fmt::format("data plane of {} nodes: {}", count, choice));
    }
  }

  void StartCaptures() {
    if (scenario::CapturedLinks(scenario_).empty()) return;
    captures_ = std::make_unique<Captures>(scenario_, *client_, CaptureDirectory());
  }

  std::string CaptureDirectory() const {
    return options_.directory.empty() ? scenario_.name + "-captures" : options_.directory;
  }

  void RealTraffic() {
    const std::optional<uint64_t> discards_before = sys::UnresolvedDiscards();
    traffic_ = std::make_unique<TrafficRunner>(
        scenario_, *loop_, *client_,
        LinkEvents(scenario_, *client_, engine_.get(), captures_.get(), peers_), progress_, peers_);
    sys::RaiseDescriptorLimit();  // each program of a flow needs three
    drops_before_ = Drops(client_->Describe());
    traffic_->Start();
    const Instant start = MonotonicClock::Now();
    traffic_start_ = traffic_->start();
    ShowTraffic();
    try {
      // Flows may take longer than the run, as they may have been started later; each has its
      // limit.
      const Instant end = start + scenario_.duration;
      loop_->Run([&] { return traffic_->HasWork() && traffic_->Done(); }, end);
      loop_->Run([&] { return traffic_->FlowsDone(); }, Instant::Never());
    } catch (const sys::Interrupted& interrupted) {
      EndEarly(interrupted, MonotonicClock::Now() - start);
      traffic_->EndEarly();
      loop_->Run([&] { return traffic_->FlowsDone(); }, MonotonicClock::Now() + kEarlyEndPatience);
    }
    if (peers_) peers_->Meet("traffic");  // what runs here may serve others until then
    traffic_->Finish();
    const std::optional<uint64_t> discards = sys::UnresolvedDiscards();
    if (discards && discards_before) results_.neighbour_discards = *discards - *discards_before;
    TakeDataPlanes();
    TakeFlows(traffic_->Flows());
    results_.events = traffic_->events();
    if (const Histogram& lateness = traffic_->event_lateness(); lateness.Count() > 0) {
      results_.event_timing = result::Summarize(lateness);
    }
    measured_ = true;
    TakePrograms(traffic_->Programs());
    TakeFailures(traffic_->failures());
    NoteForwarder(client_->Describe());
  }

  scenario::SimulatorDone WaitForReport() {
    const Instant start = MonotonicClock::Now();
    try {
      return conversation_->WaitForReport(real_);
    } catch (const sys::Interrupted& interrupted) {
      if (real_) throw;
      EndEarly(interrupted, MonotonicClock::Now() - start);
      return WaitUnlessItHangs();
    }
  }

  // A simulation that hangs in a protocol or a program never looks at what it is told. Another
  // signal ends it at once, as whoever sends it wants no results.
  scenario::SimulatorDone WaitUnlessItHangs() {
    try {
      return conversation_->WaitForReport(true);
    } catch (const sys::Interrupted&) {
      simulator_->Kill();
      throw;
    }
  }

  // Ctrl-C ends the traffic, not the run: what was measured until then is its result. Throws what
  // ends the run without one.
  void EndEarly(const sys::Interrupted& interrupted, Duration traffic) {
    if (interrupted.signal() != SIGINT || peers_) throw interrupted;
    if (real_) loop_->IgnoreSignals();
    if (real_) LimitTheEnd();
    interrupted_ = interrupted.signal();
    progress_.Line(fmt::format("interrupted: ends early and reports what was measured until now{}",
                               real_ ? "" : "; once more: at once"));
    results_.failures.push_back(
        real_ ? fmt::format("interrupted after {:.1f} s of traffic, which was to last {}",
                            traffic.ToSeconds(), FormatDuration(scenario_.duration))
              : "interrupted: the results are of the time until then");
  }

  void NoteForwarder(const nlohmann::json& lab) {
    const std::string failure = ForwarderFailure(lab);
    if (!failure.empty()) results_.failures.push_back(failure);
  }

  void TakeDataPlanes() {
    const nlohmann::json lab = client_->Describe();
    for (const auto& [node, plane] : lab["data_planes"].items()) {
      result::NodePlane& taken = results_.data_planes[node];
      plane["name"].get_to(taken.name);
      plane["reason"].get_to(taken.reason);
      if (const auto packets = lab.find("packets"); packets != lab.end()) {
        taken.packets = packets->value(node, decltype(taken.packets)());
      }
    }
    for (const auto& [node, drops] : Drops(lab)) {
      for (const auto& [cause, packets] : drops) {
        const uint64_t since = packets - std::min(packets, drops_before_[node][cause]);
        if (since > 0) results_.data_planes[node].drops[cause] = since;
      }
    }
    for (auto& [node, plane] : results_.data_planes) CheckCounters(node, &plane);
  }

  // A user's program shares its process with its counters, and may have written over them. More
  // than any interface takes is no figure.
  void CheckCounters(const std::string& node, result::NodePlane* plane) {
    constexpr double kMostPerSecond = 1e10;  // also bytes: 80 Gbit/s
    const auto most =
        static_cast<uint64_t>(kMostPerSecond * (MonotonicClock::Now() - begin_).ToSeconds());
    const bool is_plausible = std::ranges::all_of(plane->packets, [&](const auto& of_port) {
      return std::ranges::all_of(of_port.second,
                                 [&](const auto& each) { return each.second <= most; });
    });
    if (plane->name != "program" || is_plausible) return;
    plane->packets.clear();
    plane->drops.clear();
    results_.failures.push_back(fmt::format(
        "node {}: its counters are not plausible; its program writes where it should not", node));
  }

  // By node and cause, since the lab was built.
  using NodeDrops = std::map<std::string, std::map<std::string, uint64_t>>;
  static NodeDrops Drops(const nlohmann::json& lab) { return lab.value("drops", NodeDrops()); }

  // Links whose SPEC needs no engine (lab/joined_paths.h).
  void TakeLossyWires(const nlohmann::json& lab) {
    const auto wires = lab.value("lossy_wires", std::vector<result::PipelineResult>());
    if (wires.empty()) return;
    if (!results_.engine) {
      results_.engine.emplace();
      results_.engine->name = scenario_.name;
      results_.engine->seed = scenario_.seed;
    }
    std::vector<result::PipelineResult>& all = results_.engine->pipelines;
    all.insert(all.end(), wires.begin(), wires.end());
    std::ranges::stable_sort(all, {}, &result::PipelineResult::pair);
  }

  void ShowTraffic() {
    progress_.Status(traffic_->Describe());
    loop_->At(MonotonicClock::Now() + Duration::Milliseconds(500), [this] {
      if (traffic_) ShowTraffic();
    });
  }

  void TakePrograms(const std::vector<result::ProgramOutcome>& outcomes) {
    for (const result::ProgramOutcome& outcome : outcomes) {
      results_.programs.push_back(outcome.program);
      if (outcome.started && !options_.directory.empty()) WriteText(outcome);
    }
  }

  void WriteText(const result::ProgramOutcome& outcome) {
    const std::filesystem::path folder = std::filesystem::path(options_.directory) / "programs";
    try {
      std::filesystem::create_directories(folder);
      WriteFile(folder / scenario::OutputFileOf(outcome.program.name), outcome.text);
    } catch (const std::exception& error) {
      results_.failures.push_back(
          fmt::format("output of program '{}': {}", outcome.program.name, error.what()));
    }
  }

  void TakeReport(const scenario::SimulatorDone& report) {
    results_.simulator = report.results;
    results_.environment.ns3 = report.ns3;
    results_.environment.ns3_build = report.build;
    for (result::RouteChange& change : results_.simulator.route_changes) {
      change.at -= (traffic_start_ - Instant()).ToSeconds();
    }
    if (report.links) results_.engine = report.links;
  }

  void Abandon() {
    if (loop_) loop_->IgnoreSignals();
    if (client_) LimitTheEnd();
    CleanUp();
  }

  // A user who has ended the run waits for no broker that is stopped.
  void LimitTheEnd() { client_->LimitWaiting(kBrokerPatience, broker::Client::kGrace); }

  void NoteCaptures() {
    for (const result::Capture& capture : results_.simulator.captures) {
      if (capture.error.empty()) continue;
      results_.failures.push_back(
          fmt::format("capture of link '{}': {}", capture.link, capture.error));
    }
  }

  // Everything that was made goes, in whatever state it is. May be called again.
  void CleanUp() {
    traffic_.reset();
    if (peers_ && loop_) peers_->Leave();
    if (captures_) results_.simulator.captures = captures_->Finish();
    captures_.reset();
    engine_.reset();
    const bool lab_built = conversation_ && conversation_->lab_built();
    conversation_.reset();
    simulator_.reset();
    if (client_) {
      try {
        client_->DestroyLab();
      } catch (const Error& e) {
        // The simulator has taken it down itself (kUsage: no such lab), or never built it.
        // Otherwise the record is kept for `viaduct clean`.
        if (lab_built && e.status() != ExitStatus::kUsage)
          results_.failures.push_back(fmt::format("cleaning up: {}", e.what()));
      }
    }
    client_.reset();
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  Peers* const peers_;
  const bool real_;
  const std::string program_;
  const Instant begin_ = MonotonicClock::Now();
  int interrupted_ = 0;    // the signal that ended it early, if any
  bool measured_ = false;  // the flows have results, and the programs
  Progress progress_;
  result::RunResult results_;
  std::optional<broker::Client> client_;
  std::unique_ptr<sys::EventLoop> loop_;
  std::unique_ptr<SimulatorProcess> simulator_;
  std::unique_ptr<Conversation> conversation_;
  NodeDrops drops_before_;
  Instant traffic_start_;
  std::unique_ptr<TrafficRunner> traffic_;
  std::unique_ptr<Captures> captures_;
  std::unique_ptr<EngineWatch> engine_;
};

}  // namespace

result::RunResult Execute(const Scenario& scenario, const RunOptions& options) {
  return Run(scenario, options).Execute();
}

}  // namespace viaduct::run
