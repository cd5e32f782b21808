#include "hosts/conductor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "hosts/messages.h"
#include "scenario/lab_hosts.h"

namespace viaduct::hosts {
namespace {

using nlohmann::json;

// Between the last host's word that it is ready and the start of the traffic: the message takes
// less.
constexpr Duration kHeadStart = Duration::Milliseconds(100);
constexpr int kVoid = static_cast<int>(ExitStatus::kVoid);

}  // namespace

bool PassagesReachAll(const scenario::Scenario& scenario,
                      const std::map<std::string, std::vector<int>>& passages) {
  const auto nodes = static_cast<int>(scenario.nodes.size());
  for (int to = 0; to < nodes; ++to) {
    for (const auto& [entry, next] : passages) {
      const std::string* at = &entry;
      for (size_t hops = 0; *at != scenario.nodes[to].name; ++hops) {
        const auto found = passages.find(*at);
        if (hops > passages.size() || found == passages.end()) return false;
        const int passed_to = to < static_cast<int>(found->second.size()) ? found->second[to] : -1;
        if (passed_to < 0 || passed_to >= nodes) return false;
        at = &scenario.nodes[passed_to].name;
      }
    }
  }
  return true;
}

Conductor::Conductor(int ranks, SendToAll send_to_all)
    : ranks_(ranks), send_to_all_(std::move(send_to_all)) {}

std::string Conductor::HostOf(int rank) const {
  const auto host = hosts_.find(rank);
  return host == hosts_.end() ? "" : host->second;
}

void Conductor::Fail(const std::string& error, int status) {
  if (failure_) return;
  failure_ = Failure{error, status};
  send_to_all_({{"type", kFailed}, {"error", error}, {"status", status}});
}

void Conductor::Take(int from, const json& message) {
  const std::string type = message.at("type");
  if (type == kMeet) Meet(from, message);
  if (type == kRoutes) TakeRoutes(from, message.at("passages"));
  if (type == kResult) results_[from] = message.at("result").get<result::RunResult>();
  if (type == kFailed) Fail(message.at("error"), message.at("status"));
  if (type == kBye) gone_.insert(from);
}

void Conductor::Ended(int rank) {
  if (!gone_.insert(rank).second) return;
  const std::string host = HostOf(rank);
  Fail(fmt::format("host {}: viaduct's processes there have ended; the run is VOID",
                   host.empty() ? fmt::format("of rank {}", rank) : host),
       kVoid);
}

bool Conductor::Over() const { return static_cast<int>(gone_.size()) == ranks_; }

void Conductor::SetClocks(std::vector<ClockReading> clocks) {
  if (!clocks_.empty()) return;  // those of after the traffic
  clocks_ = std::move(clocks);
  if (static_cast<int>(stages_["hello"].size()) == ranks_) Meet(-1, {{"stage", "hello"}});
}

void Conductor::MeetFirst(int from, const std::string& host) {
  for (const auto& [rank, other] : hosts_) {
    if (other == host) {
      return Fail(fmt::format("ranks {} and {} are both on host {}; see hosts.NAME.login", rank,
                              from, host),
                  static_cast<int>(ExitStatus::kUsage));
    }
  }
  hosts_[from] = host;
}

void Conductor::Meet(int from, const json& message) {
  const std::string stage = message.at("stage");
  if (message.contains("host")) MeetFirst(from, message["host"]);
  std::set<int>& there = stages_[stage];
  if (from >= 0) there.insert(from);
  if (static_cast<int>(there.size()) < ranks_ || failure_) return;
  json answer = {{"type", kMet}, {"stage", stage}};
  if (stage == "hello") {
    if (clocks_.empty()) return;  // they are being measured
    json& clocks = answer["clocks"] = json::object();
    for (const auto& [rank, host] : hosts_) {
      clocks[host] = clocks_.at(rank).ahead;
      answer["ranks"][host] = rank;
    }
  }
  answer["start"] = (MonotonicClock::Now() + kHeadStart).nanoseconds();
  send_to_all_(answer);
}

void Conductor::TakeRoutes(int from, const json& passages) {
  passages_[from] = passages;
  if (converged_ || static_cast<int>(passages_.size()) < ranks_) return;
  std::map<std::string, std::vector<int>> all;
  for (const auto& [rank, message] : passages_) {
    if (!message.at("unreachable").empty()) return;
    all.merge(message.at("passages").get<decltype(all)>());
  }
  if (!PassagesReachAll(*scenario_, all)) return;
  converged_ = true;
  send_to_all_({{"type", kConverged}});
}

}  // namespace viaduct::hosts
