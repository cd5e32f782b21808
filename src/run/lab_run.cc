// A run in a real mode (emulate, offload): a lab, real packets, and programs in the nodes'
// namespaces.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/units.h"
#include "lab/broker/client.h"
#include "run/lab_failures.h"
#include "run/run_kind.h"
#include "run/simulator/engine_watch.h"
#include "run/simulator/machines.h"
#include "run/traffic/captures.h"
#include "run/traffic/link_events.h"
#include "run/traffic/traffic.h"
#include "run/traffic/traffic_runner.h"
#include "scenario/events.h"
#include "sys/descriptor_limit.h"
#include "sys/network/neighbour_statistics.h"

namespace viaduct::run {
namespace {

// The time within which interrupted flows must report their results; a UDP flow waits for packets
// that are still in the network.
constexpr Duration kEarlyEndTimeout = Duration::Seconds(20);

// The time within which the broker must remove a large lab when the run ends early.
constexpr Duration kBrokerTimeout = Duration::Seconds(30);

class LabRun final : public RunKind {
 public:
  using RunKind::RunKind;

 private:
  void Check() const override { CheckFlowPrograms(scenario_); }

  void Work() override {
    // Forks the broker before the loop blocks signals: the broker would inherit the blocked
    // signals, but must handle signals itself.
    client_.emplace(broker::Client::ConnectOrSpawn());
    client_->LimitWaiting(std::nullopt, broker::Client::kGrace);
    StartSimulator(client_->NewConnection());
    results_.setup_seconds = conversation_->WaitForLab();
    LookAtLab();
    StartCaptures();
    results_.convergence = conversation_->WaitForConvergence();
    machines_.Meet("converged");
    RunTraffic();
    if (engine_) results_.engine = engine_->Read();
    engine_.reset();  // the simulator removes the lab, and with the lab its engine
    TakeLossyWires(client_->Describe());
    const scenario::SimulatorDone report = conversation_->WaitForReport(true);
    TakeReport(report, traffic_start_);
    TakeFailures(conversation_->failures());
    AddLosses(report.lost_at, &results_.flows);
  }

  void LookAtLab() {
    const nlohmann::json lab = client_->Describe();
    SayDataPlanes(lab);
    if (!lab.contains("engine")) return;
    engine_ = std::make_unique<EngineWatch>(lab["engine"]["socket"].get<std::string>(), *loop_);
  }

  // Prints the data planes that were chosen for nodes for which the scenario sets no data plane.
  void SayDataPlanes(const nlohmann::json& lab) {
    std::map<std::string, int> nodes;
    for (const scenario::NodeSettings& node : scenario_.nodes) {
      if (node.data_plane == nullptr || node.data_plane->joined == nullptr) continue;
      if (!machines_.IsLocal(node.name)) continue;
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

  void RunTraffic() {
    const std::optional<uint64_t> discards_before = sys::UnresolvedDiscards();
    traffic_ = std::make_unique<TrafficRunner>(
        scenario_, *loop_, *client_,
        LinkEvents(scenario_, *client_, engine_.get(), captures_.get(), machines_), progress_,
        machines_);
    sys::RaiseDescriptorLimit();  // each program of a flow needs three descriptors
    drops_before_ = Drops(client_->Describe());
    traffic_->Start();
    const Instant start = MonotonicClock::Now();
    traffic_start_ = traffic_->start();
    ShowTraffic();
    try {
      // Waits for all flows, also after the duration of the run: a flow may have been started late,
      // and each flow has a limit.
      const Instant end = start + scenario_.duration;
      loop_->Run([&] { return traffic_->HasWork() && traffic_->Done(); }, end);
      loop_->Run([&] { return traffic_->FlowsDone(); }, Instant::Never());
    } catch (const sys::Interrupted& interrupted) {
      NoteEarlyEnd(interrupted, MonotonicClock::Now() - start);
      traffic_->EndEarly();
      loop_->Run([&] { return traffic_->FlowsDone(); }, MonotonicClock::Now() + kEarlyEndTimeout);
    }
    // Before this, programs of this machine may still serve other machines.
    machines_.Meet("traffic");
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

  // Records that Ctrl-C has ended the traffic early. The run continues: its results are the
  // measurements that were made before Ctrl-C.
  void NoteEarlyEnd(const sys::Interrupted& interrupted, Duration traffic) {
    EndEarly(interrupted, "",
             fmt::format("interrupted after {:.1f} s of traffic instead of {}", traffic.ToSeconds(),
                         FormatDuration(scenario_.duration)));
    loop_->IgnoreSignals();
    LimitTheEnd();
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
      plane["forwards_in"].get_to(taken.forwards_in);
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

  // Discards counters that are not plausible because they exceed the rate of any interface: a
  // user's program shares its process with the counters, and may have written over them.
  void CheckCounters(const std::string& node, result::NodePlane* plane) {
    constexpr double kMaxPerSecond = 1e10;  // maximum of packets, and of bytes (80 Gbit/s)
    const auto most =
        static_cast<uint64_t>(kMaxPerSecond * (MonotonicClock::Now() - begin_).ToSeconds());
    const bool is_plausible = std::ranges::all_of(plane->packets, [&](const auto& of_port) {
      return std::ranges::all_of(of_port.second,
                                 [&](const auto& each) { return each.second <= most; });
    });
    if (plane->name != "program" || is_plausible) return;
    plane->packets.clear();
    plane->drops.clear();
    results_.failures.push_back(fmt::format(
        "node {}: implausible counters; the program of the node overwrites the counters", node));
  }

  // The number of lost packets since the lab was built, by node and cause.
  using NodeDrops = std::map<std::string, std::map<std::string, uint64_t>>;
  static NodeDrops Drops(const nlohmann::json& lab) { return lab.value("drops", NodeDrops()); }

  // Adds the results of links whose SPEC needs no engine (lab/joined_paths.h).
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

  void LimitTheEnd() override {
    if (client_) client_->LimitWaiting(kBrokerTimeout, broker::Client::kGrace);
  }

  void CleanUp() override {
    traffic_.reset();
    if (captures_) results_.simulator.captures = captures_->Finish();
    captures_.reset();
    engine_.reset();
    const bool lab_built = conversation_ && conversation_->lab_built();
    RunKind::CleanUp();
    if (!client_) return;
    try {
      client_->DestroyLab();
    } catch (const Error& e) {
      // Ignores the error (kUsage: no such lab) if the simulator has removed the lab, or has never
      // built the lab. Otherwise the lab's record is kept for `viaduct clean`.
      if (lab_built && e.status() != ExitStatus::kUsage) {
        results_.failures.push_back(fmt::format("cleaning up: {}", e.what()));
      }
    }
    client_.reset();
  }

  std::optional<broker::Client> client_;
  NodeDrops drops_before_;
  Instant traffic_start_;
  std::unique_ptr<TrafficRunner> traffic_;
  std::unique_ptr<Captures> captures_;
  std::unique_ptr<EngineWatch> engine_;
};

}  // namespace

std::unique_ptr<RunKind> MakeLabRun(const scenario::Scenario& scenario, const RunOptions& options) {
  return std::make_unique<LabRun>(scenario, options);
}

}  // namespace viaduct::run
