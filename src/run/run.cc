#include "run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/units.h"
#include "broker/client.h"
#include "run/captures.h"
#include "run/conversation.h"
#include "run/engine_watch.h"
#include "run/environment.h"
#include "run/progress.h"
#include "run/simulator_process.h"
#include "run/traffic_runner.h"
#include "sys/event_loop.h"

namespace viaduct::run {
namespace {

using nlohmann::json;
using scenario::Mode;
using scenario::Scenario;

std::string FileNameOf(std::string name) {
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  }
  return name;
}

class Run {
 public:
  Run(const Scenario& scenario, const RunOptions& options)
      : scenario_(scenario),
        options_(options),
        real_(scenario.mode != Mode::kSimulate),
        program_(FindSimulator()),
        progress_(stderr, options.quiet) {}

  json Execute() {
    Describe();
    if (real_) CheckFlowPrograms(scenario_);
    try {
      Work();
    } catch (...) {
      if (loop_) loop_->IgnoreSignals();
      CleanUp();
      throw;
    }
    loop_->IgnoreSignals();
    const Instant begin = MonotonicClock::Now();
    CleanUp();
    results_["teardown_seconds"] = (MonotonicClock::Now() - begin).ToSeconds();
    Judge();
    return std::move(results_);
  }

 private:
  void Describe() {
    results_["scenario"] = {{"name", scenario_.name},
                            {"file", scenario_.file},
                            {"hash", scenario_.hash},
                            {"seed", scenario_.seed},
                            {"mode", scenario::ModeName(scenario_.mode)},
                            {"duration", scenario_.duration.ToSeconds()},
                            {"effective", scenario::Print(scenario_)},
                            {"nodes", json::array()},
                            {"links", json::array()}};
    for (const auto& node : scenario_.nodes) results_["scenario"]["nodes"].push_back(node.name);
    for (const auto& link : scenario_.links) {
      results_["scenario"]["links"].push_back({{"name", link.name}, {"nodes", link.nodes}});
    }
    results_["environment"] = DescribeEnvironment(options_.command_line);
    for (const char* key : {"flows", "programs", "events", "captures"}) {
      results_[key] = json::array();
    }
  }

  void Work() {
    // The broker is forked before signals are blocked: it has its own mind about them.
    if (real_) client_.emplace(broker::Client::ConnectOrSpawn());
    loop_ = std::make_unique<sys::EventLoop>();
    simulator_ = std::make_unique<SimulatorProcess>(program_, scenario_,
                                                    real_ ? client_->NewConnection() : UniqueFd(),
                                                    CaptureDirectory(), options_.pauses);
    conversation_ = std::make_unique<Conversation>(scenario_, *simulator_, *loop_, progress_);
    if (real_) {
      results_["setup_seconds"] = conversation_->WaitForLab();
      WatchEngine();
      StartCaptures();
    }
    results_["convergence"] = conversation_->WaitForConvergence();
    if (real_) RealTraffic();
    if (engine_) results_["engine"] = engine_->Read();
    engine_.reset();  // the simulator takes the lab down, and the engine with it
    TakeReport(conversation_->WaitForReport(real_));
    if (!real_) TakeSimulatedTraffic();
  }

  void TakeSimulatedTraffic() {
    results_["flows"] = conversation_->flows();
    results_["programs"] = conversation_->programs();
    for (const std::string& failure : conversation_->failures()) failures_.push_back(failure);
    WriteProgramOutputs(conversation_->program_outputs());
  }

  void WatchEngine() {
    const json lab = client_->Describe();
    if (!lab.contains("engine")) return;
    engine_ = std::make_unique<EngineWatch>(lab["engine"]["socket"].get<std::string>(), *loop_);
  }

  void StartCaptures() {
    if (scenario_.captures.empty()) return;
    captures_ = std::make_unique<Captures>(scenario_, *client_, CaptureDirectory());
  }

  std::string CaptureDirectory() const {
    return options_.directory.empty() ? scenario_.name + "-captures" : options_.directory;
  }

  void RealTraffic() {
    traffic_ = std::make_unique<TrafficRunner>(scenario_, *loop_, *client_, progress_);
    traffic_->Start();
    const Instant start = MonotonicClock::Now();
    ShowTraffic();
    // Flows may take a moment longer than the run; they see to their own end.
    const Instant end = start + scenario_.duration;
    loop_->Run([&] { return traffic_->HasWork() && traffic_->Done(); }, end);
    loop_->Run([&] { return traffic_->FlowsDone(); }, end + Duration::Seconds(10));
    traffic_->Finish();
    results_["flows"] = traffic_->FlowsJson();
    results_["programs"] = traffic_->ProgramsJson();
    results_["events"] = traffic_->EventsJson();
    for (const std::string& failure : traffic_->failures()) failures_.push_back(failure);
    WriteProgramOutputs(traffic_->ProgramOutputs());
  }

  void ShowTraffic() {
    progress_.Status(traffic_->Describe());
    loop_->At(MonotonicClock::Now() + Duration::Milliseconds(500), [this] {
      if (traffic_) ShowTraffic();
    });
  }

  void WriteProgramOutputs(const std::vector<std::pair<std::string, std::string>>& outputs) const {
    if (options_.directory.empty()) return;
    for (const auto& [name, text] : outputs) {
      const std::filesystem::path folder = std::filesystem::path(options_.directory) / "programs";
      std::filesystem::create_directories(folder);
      std::ofstream(folder / (FileNameOf(name) + ".txt")) << text;
    }
  }

  void TakeReport(const json& message) {
    for (const char* key : {"timing", "loop", "counters", "routes", "route_pushes", "unsupported",
                            "assumptions", "captures", "state"}) {
      if (message.contains(key)) results_[key] = message[key];
    }
    results_["environment"]["ns3"] = message.value("ns3", "");
    results_["environment"]["ns3_build"] = message.value("build", "");
  }

  // Everything that was made goes, in whatever state it is.
  void CleanUp() {
    if (captures_) results_["captures"] = captures_->Finish();
    captures_.reset();
    traffic_.reset();
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
          failures_.push_back(fmt::format("cleaning up: {}", e.what()));
      }
    }
    client_.reset();
  }

  // Whether the lateness in `part` (its "timing") is over the run's limit.
  bool IsLate(json& part) const {
    const auto timing = part.find("timing");
    if (timing == part.end() || !scenario_.lateness_limit) return false;
    const int64_t limit = scenario_.lateness_limit->nanoseconds();
    (*timing)["limit_ns"] = limit;
    return timing->value("p99_ns", int64_t{0}) > limit;
  }

  void Judge() {
    const bool simulator_late = IsLate(results_);
    bool engine_late = false;
    if (const auto engine = results_.find("engine"); engine != results_.end()) {
      engine_late = IsLate(*engine);
      (*engine)["verdict"] = engine_late ? "VOID" : "VALID";
    }
    const bool late = simulator_late || engine_late;
    results_["verdict"] = late ? "VOID" : "VALID";
    results_["failures"] = failures_;
    const ExitStatus status = !failures_.empty() ? ExitStatus::kFailure
                              : late             ? ExitStatus::kVoid
                                                 : ExitStatus::kSuccess;
    results_["status"] = static_cast<int>(status);
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  const bool real_;
  const std::string program_;
  Progress progress_;
  json results_;
  std::vector<std::string> failures_;
  std::optional<broker::Client> client_;
  std::unique_ptr<sys::EventLoop> loop_;
  std::unique_ptr<SimulatorProcess> simulator_;
  std::unique_ptr<Conversation> conversation_;
  std::unique_ptr<TrafficRunner> traffic_;
  std::unique_ptr<Captures> captures_;
  std::unique_ptr<EngineWatch> engine_;
};

}  // namespace

json Execute(const Scenario& scenario, const RunOptions& options) {
  return Run(scenario, options).Execute();
}

}  // namespace viaduct::run
