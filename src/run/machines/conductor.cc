#include "run/machines/conductor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "run/machines/messages.h"
#include "scenario/machines.h"

namespace viaduct::machines {
namespace {

// The time between the last machine's message that it is ready and the start of the traffic; the
// message of the start reaches all machines within this time.
constexpr Duration kHeadStart = Duration::Milliseconds(100);
constexpr int kVoid = static_cast<int>(ExitStatus::kVoid);

}  // namespace

NodePairs Unreachable(const scenario::Scenario& scenario, const Passages& passages) {
  const auto nodes = static_cast<int>(scenario.nodes.size());
  // Returns the number of the node to which a node sends packets for `to`; -1: none.
  const auto next = [&](const std::string& node, int to) {
    const auto found = passages.find(node);
    if (found == passages.end() || to >= static_cast<int>(found->second.size())) return -1;
    return found->second[to] < nodes ? found->second[to] : -1;
  };
  NodePairs pairs;
  for (int to = 0; to < nodes; ++to) {
    for (const auto& [from, unused] : passages) {
      if (from == scenario.nodes[to].name) continue;
      int at = next(from, to);
      for (size_t hops = 0; at >= 0 && at != to; ++hops) {
        at = hops < passages.size() ? next(scenario.nodes[at].name, to) : -1;
      }
      if (at < 0) pairs.emplace_back(from, scenario.nodes[to].name);
    }
  }
  return pairs;
}

Conductor::Conductor(int ranks, SendToAll send_to_all)
    : ranks_(ranks), send_to_all_(std::move(send_to_all)) {}

std::string Conductor::NameOf(int rank) const {
  const auto machine = machines_.find(rank);
  return machine == machines_.end() ? "" : machine->second;
}

void Conductor::Fail(const std::string& error, int status) {
  if (failure_) return;
  failure_ = Failure{error, status};
  send_to_all_(Failed{error, status});
}

void Conductor::Take(int from, const RankMessage& message) {
  if (const auto* meet = std::get_if<machines::Meet>(&message)) Meet(from, *meet);
  if (const auto* routes = std::get_if<Routes>(&message)) TakeRoutes(from, routes->passages);
  if (const auto* done = std::get_if<PartDone>(&message)) results_[from] = done->result;
  if (const auto* failed = std::get_if<Failed>(&message)) Fail(failed->error, failed->status);
  if (std::holds_alternative<Bye>(message)) gone_.insert(from);
}

void Conductor::Ended(int rank, bool is_silent) {
  if (!gone_.insert(rank).second) return;
  const std::string machine = NameOf(rank);
  const std::string what =
      fmt::format("machine {}: {}",
                  machine.empty() ? fmt::format("of rank {} (the first is 0)", rank) : machine,
                  is_silent ? kSilent : kEnded);
  // Reports a problem of the environment and not a VOID run, because the run has not begun before
  // all machines have reached the first stage.
  if (static_cast<int>(machines_.size()) < ranks_) {
    return Fail(what, static_cast<int>(ExitStatus::kEnvironment));
  }
  Fail(what + "; the run is VOID", kVoid);
}

bool Conductor::Over() const { return static_cast<int>(gone_.size()) == ranks_; }

void Conductor::SetClocks(std::vector<ClockReading> clocks) {
  if (!clocks_.empty()) return;  // `clocks` were measured after the traffic
  clocks_ = std::move(clocks);
  if (static_cast<int>(stages_["hello"].size()) == ranks_) Meet(-1, {"hello"});
}

void Conductor::MeetFirst(int from, const std::string& machine) {
  for (const auto& [rank, other] : machines_) {
    if (other == machine) {
      return Fail(fmt::format("ranks {} and {} are both on machine {}; check machines.NAME.login",
                              rank, from, machine),
                  static_cast<int>(ExitStatus::kUsage));
    }
  }
  machines_[from] = machine;
}

void Conductor::Meet(int from, const machines::Meet& meet) {
  if (!meet.machine.empty()) MeetFirst(from, meet.machine);
  std::set<int>& there = stages_[meet.stage];
  if (from >= 0) there.insert(from);
  if (static_cast<int>(there.size()) < ranks_ || failure_) return;
  Met answer{meet.stage};
  if (meet.stage == "hello") {
    if (clocks_.empty()) return;  // the measurement of the clocks is not complete
    for (const auto& [rank, machine] : machines_) {
      answer.clocks[machine] = clocks_.at(rank).ahead;
      answer.ranks[machine] = rank;
    }
  }
  answer.start = (MonotonicClock::Now() + kHeadStart).nanoseconds();
  send_to_all_(answer);
}

void Conductor::TakeRoutes(int from, scenario::Passages passages) {
  passages_[from] = std::move(passages);
  if (converged_ || static_cast<int>(passages_.size()) < ranks_) return;
  // The time limit for convergence has passed on all machines: each machine reports `late` for all
  // its nodes.
  const bool late =
      std::ranges::all_of(passages_, [](const auto& of_rank) { return of_rank.second.late; });
  Passages all;
  uint32_t pairs = 0;
  for (const auto& [rank, reported] : passages_) {
    if (!late && !reported.here.unreachable.empty()) return;
    pairs += reported.here.pairs;
    all.insert(reported.passages.begin(), reported.passages.end());
  }
  const NodePairs unreachable = Unreachable(*scenario_, all);
  if (!late && !unreachable.empty()) return;
  converged_ = true;
  send_to_all_(RoutesConverged{{pairs, unreachable}});
}

}  // namespace viaduct::machines
