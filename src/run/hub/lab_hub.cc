// A hub with a lab, whose path engine has the tunnel to the clients.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/result/timing.h"
#include "path/engine/control.h"
#include "run/hub/hub.h"
#include "run/hub/traffic.h"
#include "run/lab_failures.h"
#include "run/simulator/conversation.h"
#include "run/simulator/engine_watch.h"
#include "run/simulator/simulator_process.h"
#include "run/traffic/traffic.h"

namespace viaduct::run {
namespace {

using engine::ControlRequest;

constexpr Duration kUpdateInterval = Duration::Milliseconds(500);

// Returns, by node, the number of packets that the guards of ns-3's protocols have dropped in the
// node.
std::map<std::string, uint64_t> UnreadablePackets(const result::SimulatorReport& report) {
  constexpr std::string_view kGuards = "/protocols";
  std::map<std::string, uint64_t> by_node;
  for (const auto& [place, counters] : report.counters) {
    const auto found = counters.drops.find("malformed_datagrams");
    if (!place.ends_with(kGuards) || found == counters.drops.end()) continue;
    by_node[place.substr(0, place.size() - kGuards.size())] = found->second;
  }
  return by_node;
}

// Adds to a client's drops the packets that were lost between the node and the client, which runs
// the node's programs.
void AddLossesOfPrograms(const result::SimulatorReport& report, result::ClientResult* client) {
  const auto programs = report.counters.find(client->node + "/programs");
  if (programs == report.counters.end()) return;
  for (const auto& [cause, count] : programs->second.drops) client->drops[cause] += count;
  const uint64_t unresolved = programs->second.frames.tx_dropped_error;
  if (unresolved > 0) client->drops["unresolved"] += unresolved;
}

// Adds the number of frames of clients that the nodes' ends of links refused, and that have not
// reached the nodes.
void AddRefused(const scenario::Scenario& scenario, const result::EngineResult& engine,
                result::HubResult* hub) {
  std::map<std::string, const scenario::LinkSettings*> pairs;
  for (const scenario::LinkSettings& link : scenario.links) {
    if (link.kind == lab::Link::Kind::kPair) pairs[link.name] = &link;
  }
  std::map<std::string, uint64_t> by_node;
  for (const result::PipelineResult& pipeline : engine.pipelines) {
    const auto link = pairs.find(pipeline.pair);
    const auto refused = pipeline.fates.find("refused");
    if (link == pairs.end() || refused == pipeline.fates.end()) continue;
    by_node[link->second->nodes[pipeline.direction == "up" ? 0 : 1]] += refused->second;
  }
  for (result::ClientResult& client : hub->clients) {
    const auto found = by_node.find(client.node);
    if (found == by_node.end() || found->second == 0) continue;
    client.drops["refused"] += found->second;
    client.rx_frames -= std::min(client.rx_frames, found->second);
  }
}

class LabHub final : public Hub {
 public:
  LabHub(const scenario::Scenario& scenario, const HubOptions& options, broker::Client broker,
         sys::EventLoop& loop)
      : Hub(options.quiet), scenario_(scenario), loop_(loop), client_(std::move(broker)) {
    if (options.inner_socket >= 0) client_.LendInnerSocket(options.inner_socket);
    simulator_ = std::make_unique<SimulatorProcess>(
        SimulatorStart{.program = FindSimulator(),
                       .scenario = scenario,
                       .broker = client_.NewConnection(),
                       .lab = LabUse::kStays,
                       .hub = HubPlace{fmt::format("{}:{}", options.address, options.port)}});
    conversation_ = std::make_unique<Conversation>(scenario, *simulator_, loop_, progress());
    try {
      Serve();
    } catch (...) {
      CleanUp();
      throw;
    }
  }

  ~LabHub() override { CleanUp(); }

  void Claim(const std::string& node, const std::string& address) override {
    ControlRequest request = About(ControlRequest::Kind::kClaim, node);
    request.address = address;
    engine::Ask(socket_, request);
  }

  void Release(const std::string& node) override {
    engine::Ask(socket_, About(ControlRequest::Kind::kRelease, node));
  }

  bool ClaimsAtOnce() const override { return true; }

  void AskStatistics() override {
    loop_.At(MonotonicClock::Now(), [this] {
      if (!ends_) TellStatistics(DescribeNow());
    });
  }

  result::HubResult Finish() override {
    OnUpdate({});
    ends_ = true;
    WatchForwarder();
    std::vector<std::string> failures;
    std::optional<result::HubTraffic> traffic;
    if (traffic_) traffic = traffic_->Finish(&failures);
    result::HubResult result = DescribeNow();
    result.traffic = std::move(traffic);
    result.Fail(failures);
    traffic_.reset();
    engine_.reset();  // the simulator removes the lab, and with the lab its engine
    const scenario::SimulatorDone done = conversation_->WaitForReport(true);
    const result::SimulatorReport& report = done.results;
    if (result.traffic) AddLosses(done.lost_at, &result.traffic->flows);
    if (report.timing) result.events = *report.timing;
    for (const std::string& line : report.refused) result.failures.push_back("refused: " + line);
    result.unreadable = UnreadablePackets(report);
    uint64_t from_clients = 0;
    for (result::ClientResult& client : result.clients) {
      from_clients += client.rx_frames;
      AddLossesOfPrograms(report, &client);
    }
    result.Judge(from_clients, scenario_.lateness_limit);
    return result;
  }

 private:
  static ControlRequest About(ControlRequest::Kind kind, const std::string& node) {
    ControlRequest request;
    request.kind = kind;
    request.node = node;
    return request;
  }

  nlohmann::json Asked(ControlRequest::Kind kind) const {
    ControlRequest request;
    request.kind = kind;
    return engine::Ask(socket_, request);
  }

  result::HubResult DescribeNow() const {
    auto result = Asked(ControlRequest::Kind::kClients).at("clients").get<result::HubResult>();
    result.failures = conversation_->failures();
    if (!failure_.empty()) result.failures.push_back(failure_);
    result.name = scenario_.name;
    result.seed = scenario_.seed;
    const result::EngineResult engine = engine_->Read();
    result.frames = engine.timing;
    AddRefused(scenario_, engine, &result);
    // Adds the simulator's last reported timing, which is at most half a second old, as long as the
    // simulator has not sent its final report.
    if (const auto& events = conversation_->timing()) result.events = *events;
    uint64_t refused = 0;
    for (const result::ClientResult& client : result.clients) {
      const auto found = client.drops.find("to_client_refused");
      if (found != client.drops.end()) refused += found->second;
    }
    result.frames.lost = result.frames.lost.value_or(0) + refused;
    return result;
  }

  void Serve() {
    conversation_->WaitForLab();
    const nlohmann::json lab = client_.Describe();
    socket_ = lab.at("engine").at("socket").get<std::string>();
    has_forwarder_ = lab.contains("forwarder");
    engine_ = std::make_unique<EngineWatch>(socket_, loop_);
    if (HasHubTraffic(scenario_)) {
      traffic_ = std::make_unique<LabTraffic>(scenario_, loop_, client_, engine_.get(), progress());
    }
    conversation_->WaitForConvergence();
    if (traffic_) traffic_->Start();
    Poll();
  }

  void Poll() {
    if (ends_) return;
    Update(Asked(ControlRequest::Kind::kHub).at("hub").get<result::HubProgress>());
    WatchForwarder();
    loop_.At(MonotonicClock::Now() + kUpdateInterval, [this] { Poll(); });
  }

  // Reports a failure of the forwarder on the terminal, and keeps the failure for the results.
  void WatchForwarder() {
    if (!has_forwarder_) return;
    const nlohmann::json lab = client_.Describe();
    const bool is_being_replaced = !ends_ && !lab.at("forwarder").at("running").get<bool>();
    const std::string failure = ForwarderFailure(lab);
    if (is_being_replaced || failure == failure_) return;
    failure_ = failure;
    progress().Line(failure);
  }

  // Removes everything that the hub has created, whatever state the hub is in.
  void CleanUp() {
    ends_ = true;
    traffic_.reset();
    engine_.reset();
    conversation_.reset();
    simulator_.reset();
    try {
      client_.DestroyLab();
    } catch (const Error&) {
      // Ignores the error: the simulator has removed the lab, or never built it; otherwise the
      // lab's record is kept for `viaduct clean`.
    }
  }

  const scenario::Scenario& scenario_;
  sys::EventLoop& loop_;
  broker::Client client_;
  std::unique_ptr<SimulatorProcess> simulator_;
  std::unique_ptr<Conversation> conversation_;
  std::string socket_;  // the control socket of the lab's engine
  std::unique_ptr<EngineWatch> engine_;
  std::unique_ptr<LabTraffic> traffic_;  // the traffic of the scenario, if it has any
  bool has_forwarder_ = false;
  std::string failure_;  // the reason why the forwarder failed
  bool ends_ = false;
};

}  // namespace

std::unique_ptr<Hub> StartLabHub(const scenario::Scenario& scenario, const HubOptions& options,
                                 broker::Client broker, sys::EventLoop& loop) {
  return std::make_unique<LabHub>(scenario, options, std::move(broker), loop);
}

}  // namespace viaduct::run
