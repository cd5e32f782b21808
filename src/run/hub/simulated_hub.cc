// A hub that simulates in real time.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "run/hub/hub.h"
#include "run/hub/traffic.h"
#include "run/simulator/conversation.h"
#include "run/simulator/simulated_traffic.h"
#include "run/simulator/simulator_process.h"
#include "run/traffic/traffic.h"

namespace viaduct::run {
namespace {

constexpr Duration kServeTimeout = Duration::Seconds(120);
constexpr Duration kFinishTimeout = Duration::Seconds(20);

class SimulatedHub final : public Hub, private SimulatedTraffic {
 public:
  SimulatedHub(const scenario::Scenario& scenario, const HubOptions& options, sys::EventLoop& loop)
      : Hub(options.quiet), SimulatedTraffic(progress()), scenario_(scenario), loop_(loop) {
    simulator_ = std::make_unique<SimulatorProcess>(SimulatorStart{
        .program = FindSimulator(),
        .scenario = scenario,
        .captures = HubCaptureFolder(scenario),
        .hub =
            HubPlace{fmt::format("{}:{}", options.address, options.port), options.inner_socket}});
    simulator_->OnOutput([this](const std::string& line) { progress().Line(line); });
    Watch();
    loop_.Watch(simulator_->OutputFd(), [this] {
      if (!simulator_->ReadOutput()) loop_.Forget(simulator_->OutputFd());
    });
    if (!loop_.Run([this] { return serves_; }, MonotonicClock::Now() + kServeTimeout)) {
      throw Error("the simulator hangs: it does not serve the hub's clients yet");
    }
  }

  ~SimulatedHub() override {
    loop_.Forget(simulator_->fd());
    loop_.Forget(simulator_->OutputFd());
  }

  void Claim(const std::string& node, const std::string& address) override {
    Tell(scenario::Claim{node, address});
  }

  void Release(const std::string& node) override { Tell(scenario::Release{node}); }

  bool ClaimsAtOnce() const override { return false; }

  void AskStatistics() override {
    if (gathers_) return;
    gathers_ = true;
    Tell(scenario::AskStatistics());
  }

  result::HubResult Finish() override {
    OnUpdate({});
    Tell(scenario::Stop());
    if (!loop_.Run([this] { return report_.has_value(); },
                   MonotonicClock::Now() + kFinishTimeout)) {
      throw Error("the simulator hangs: no report arrives");
    }
    if (HasHubTraffic(scenario_)) {
      std::vector<result::FlowResult> carried = flows();
      AddLosses(lost_at_, &carried);
      result::HubTraffic traffic = DescribeTraffic(scenario_, std::move(carried), programs());
      traffic.events = events();
      traffic.captures = std::move(files_.captures);
      if (!converged_ && HasTimedTraffic(scenario_)) {
        Fail(
            "the hub ended before routes converged: no flow, program or event of the scenario "
            "began");
      }
      if (converged_) {
        Fail(EventsToCome(scenario_, scenario_.link_events.size() - traffic.events.size()));
      }
      std::vector<std::string> failed = failures();
      traffic.state = files_.state.value_or(std::vector<result::StateFiles>());
      for (const result::Capture& capture : traffic.captures) {
        if (capture.error.empty()) continue;
        failed.push_back(fmt::format("capture of link '{}': {}", capture.link, capture.error));
      }
      report_->traffic = std::move(traffic);
      report_->Fail(failed);
    }
    return *report_;
  }

 private:
  using SimulatedTraffic::Take;

  void Read() {
    while (const auto event = simulator_->Receive()) {
      std::visit([this](const auto& message) { Take(message); }, *event);
    }
    if (simulator_->Ended()) {
      loop_.Forget(simulator_->fd());
    } else {
      Watch();
    }
  }

  void Take(const scenario::HubNow& now) {
    serves_ = true;
    Update(now.progress);
  }

  void Take(const scenario::Claimed& claimed) { TellClaimed(claimed.node); }

  void Take(const scenario::HubStatistics& statistics) {
    Gather(statistics.results, statistics.last);
  }

  void Take(const scenario::SimulatorDone& done) {
    report_ = done.hub;
    files_ = done.results;
    lost_at_ = done.lost_at;
  }

  // Handles messages about the traffic that the scenario itself has in the network.
  void Take(const scenario::Converged& converged) {
    CheckConvergence(scenario_, converged.convergence);
    converged_ = true;
    progress().Line(ConvergenceLine(scenario_, converged.convergence));
  }

  void Take(const scenario::SimulatorProgress&) {}  // the hub displays its own progress

  // Throws for all other messages: either they are only sent in a run, or SimulatorProcess handles
  // them.
  template <class Message>
  void Take(const Message&) {
    throw Error(
        fmt::format("the simulator sent '{}', which is not a message of a hub", Message::kName));
  }

  void Watch() {
    loop_.Watch(
        simulator_->fd(), [this] { Read(); }, simulator_->Events());
  }

  // Sends a command and updates the events that the loop waits for, because commands wait if the
  // simulator cannot read many claims at once.
  void Tell(const scenario::SimulatorCommand& command) {
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
  std::vector<result::ClientResult> gathered_;  // clients in the parts received so far
  bool converged_ = false;                      // whether the scenario's traffic has begun
  result::SimulatorReport files_;
  std::vector<std::map<std::string, uint64_t>> lost_at_;  // scenario::SimulatorDone
};

}  // namespace

std::unique_ptr<Hub> StartSimulatedHub(const scenario::Scenario& scenario,
                                       const HubOptions& options, sys::EventLoop& loop) {
  return std::make_unique<SimulatedHub>(scenario, options, loop);
}

}  // namespace viaduct::run
