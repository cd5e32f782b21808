// A simulation in real time as a hub.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "run/hub.h"
#include "run/simulator_process.h"

namespace viaduct::run {
namespace {

constexpr Duration kServePatience = Duration::Seconds(120);
constexpr Duration kFinishPatience = Duration::Seconds(20);

class SimulatedHub final : public Hub {
 public:
  SimulatedHub(const scenario::Scenario& scenario, const HubOptions& options, sys::EventLoop& loop)
      : Hub(options.quiet), loop_(loop) {
    simulator_ = std::make_unique<SimulatorProcess>(
        FindSimulator(), scenario, UniqueFd(), "", std::vector<Duration>(), LabUse::kOfRun, "",
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
      } else if (event == "statistics") {
        Gather(message->at("results").get<result::HubResult>(), message->value("last", true));
      } else if (event == "claimed") {
        TellClaimed(message->value("node", ""));
      }
    }
    if (simulator_->Ended()) {
      loop_.Forget(simulator_->Fd());
    } else {
      Watch();
    }
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

  sys::EventLoop& loop_;
  std::unique_ptr<SimulatorProcess> simulator_;
  std::optional<result::HubResult> report_;
  bool serves_ = false;
  bool gathers_ = false;
  std::vector<result::ClientResult> gathered_;  // the clients of a part of the statistics
};

}  // namespace

std::unique_ptr<Hub> StartSimulatedHub(const scenario::Scenario& scenario,
                                       const HubOptions& options, sys::EventLoop& loop) {
  return std::make_unique<SimulatedHub>(scenario, options, loop);
}

}  // namespace viaduct::run
