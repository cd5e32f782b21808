// A simulation in real time as a hub.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "run/hub/hub.h"
#include "run/hub/traffic.h"
#include "run/simulator/conversation.h"
#include "run/simulator/simulator_process.h"
#include "run/traffic/traffic.h"

namespace viaduct::run {
namespace {

constexpr Duration kServePatience = Duration::Seconds(120);
constexpr Duration kFinishPatience = Duration::Seconds(20);

class SimulatedHub final : public Hub {
 public:
  SimulatedHub(const scenario::Scenario& scenario, const HubOptions& options, sys::EventLoop& loop)
      : Hub(options.quiet), scenario_(scenario), loop_(loop) {
    simulator_ = std::make_unique<SimulatorProcess>(
        FindSimulator(), scenario, UniqueFd(), HubCaptureFolder(scenario), std::vector<Duration>(),
        LabUse::kOfRun, "",
        HubPlace{fmt::format("{}:{}", options.address, options.port), options.inner_socket});
    simulator_->OnOutput([this](const std::string& line) { progress().Line(line); });
    Watch();
    loop_.Watch(simulator_->OutputFd(), [this] {
      if (!simulator_->ReadOutput()) loop_.Forget(simulator_->OutputFd());
    });
    if (!loop_.Run([this] { return serves_; }, MonotonicClock::Now() + kServePatience)) {
      throw Error("the simulator hangs: it does not serve the hub's clients");
    }
  }

  ~SimulatedHub() override {
    loop_.Forget(simulator_->Fd());
    loop_.Forget(simulator_->OutputFd());
  }

  void Claim(const std::string& node, const std::string& address) override {
    Tell({{"command", "claim"}, {"node", node}, {"address", address}});
  }

  void Release(const std::string& node) override { Tell({{"command", "release"}, {"node", node}}); }

  bool ClaimsAtOnce() const override { return false; }

  void AskStatistics() override {
    if (gathers_) return;
    gathers_ = true;
    Tell({{"command", "statistics"}});
  }

  result::HubResult Finish() override {
    OnUpdate({});
    simulator_->Stop();
    Watch();
    if (!loop_.Run([this] { return report_.has_value(); },
                   MonotonicClock::Now() + kFinishPatience)) {
      throw Error("the simulator hangs: it does not report");
    }
    if (HasHubTraffic(scenario_)) {
      result::HubTraffic traffic = DescribeTraffic(scenario_, std::move(flows_), programs_);
      traffic.events = std::move(events_);
      traffic.captures = std::move(files_.captures);
      if (!converged_ && HasTimedTraffic(scenario_)) {
        Fail(
            "the hub ended before routes had converged: none of the scenario's flows, programs "
            "and events has begun");
      }
      if (converged_) {
        Fail(EventsToCome(scenario_, scenario_.link_events.size() - traffic.events.size()));
      }
      traffic.state = files_.state.value_or(std::vector<result::StateFiles>());
      for (const result::Capture& capture : traffic.captures) {
        if (capture.error.empty()) continue;
        failures_.push_back(fmt::format("capture of link '{}': {}", capture.link, capture.error));
      }
      report_->traffic = std::move(traffic);
      report_->Fail(failures_);
    }
    return *report_;
  }

 private:
  void Read() {
    while (const auto message = simulator_->Receive()) {
      const std::string event = message->value("event", "");
      if (event == "hub") {
        serves_ = true;
        Update(message->get<result::HubProgress>());
      } else if (event == "report") {
        report_ = message->at("results").get<result::HubResult>();
        files_ = message->at("files").get<result::SimulatorReport>();
        AddLosses(*message, &flows_);
      } else if (event == "statistics") {
        Gather(message->at("results").get<result::HubResult>(), message->value("last", true));
      } else if (event == "claimed") {
        TellClaimed(message->value("node", ""));
      } else {
        TakeTraffic(event, *message);
      }
    }
    if (simulator_->Ended()) {
      loop_.Forget(simulator_->Fd());
    } else {
      Watch();
    }
  }

  // Of what the scenario itself does in the network.
  void TakeTraffic(const std::string& event, const nlohmann::json& message) {
    if (event == "converged") {
      const auto convergence = message.get<result::Convergence>();
      CheckConvergence(scenario_, convergence);
      converged_ = true;
      progress().Line(ConvergenceLine(scenario_, convergence));
    } else if (event == "flow") {
      flows_.push_back(message.get<result::FlowResult>());
      Fail(result::FailureOf(flows_.back()));
    } else if (event == "program") {
      programs_.push_back(message.get<result::ProgramOutcome>());
      Fail(programs_.back().failure);
    } else if (event == "link") {
      events_.push_back(message.get<result::LinkEvent>());
      const result::LinkEvent& changed = events_.back();
      progress().Line(
          fmt::format("{:.1f} s: link {} {}", changed.at, changed.link, changed.change));
    } else if (event == "output") {
      progress().Line(
          fmt::format("{}: {}", message.value("program", ""), message.value("line", "")));
    }
  }

  void Fail(const std::string& failure) {
    if (failure.empty()) return;
    failures_.push_back(failure);
    progress().Line(failure);
  }

  void Watch() {
    loop_.Watch(
        simulator_->Fd(), [this] { Read(); }, simulator_->Events());
  }

  // A storm of claims is more than the simulator reads at once.
  void Tell(const nlohmann::json& command) {
    simulator_->Tell(command);
    if (!simulator_->Ended()) Watch();
  }

  void Gather(result::HubResult part, bool is_last) {
    std::ranges::move(part.clients, std::back_inserter(gathered_));
    if (!is_last) return;
    part.clients = std::exchange(gathered_, {});
    gathers_ = false;
    TellStatistics(std::move(part));
  }

  const scenario::Scenario& scenario_;
  sys::EventLoop& loop_;
  std::unique_ptr<SimulatorProcess> simulator_;
  std::optional<result::HubResult> report_;
  bool serves_ = false;
  bool gathers_ = false;
  std::vector<result::ClientResult> gathered_;  // the clients of a part of the statistics
  bool converged_ = false;                      // what the scenario itself does has begun
  // Of that:
  std::vector<result::FlowResult> flows_;
  std::vector<result::ProgramOutcome> programs_;
  std::vector<result::LinkEvent> events_;
  result::SimulatorReport files_;
  std::vector<std::string> failures_;
};

}  // namespace

std::unique_ptr<Hub> StartSimulatedHub(const scenario::Scenario& scenario,
                                       const HubOptions& options, sys::EventLoop& loop) {
  return std::make_unique<SimulatedHub>(scenario, options, loop);
}

}  // namespace viaduct::run
