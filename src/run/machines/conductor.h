// What rank 0 does for all hosts of a lab: waits for them at each stage of the run, follows the
// routes from host to host, collects the results.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result/run.h"
#include "run/machines/messages.h"
#include "run/machines/mpi_link.h"
#include "scenario/scenario.h"

namespace viaduct::hosts {

class Conductor {
 public:
  using SendToAll = std::function<void(const RankMessage&)>;
  // `send_to_all`: including rank 0 itself.
  Conductor(int ranks, SendToAll send_to_all);
  // Must outlive this object; before the first host says which it is.
  void SetScenario(const scenario::Scenario& scenario) { scenario_ = &scenario; }

  // A message for rank 0.
  void Take(int from, const RankMessage& message);
  // A rank's program has ended, without saying so, or has been silent for too long.
  void Ended(int rank, bool is_silent = false);
  // Before the traffic. Hosts that have said who they are have waited for them.
  void SetClocks(std::vector<ClockReading> clocks);
  const std::vector<ClockReading>& clocks() const { return clocks_; }

  // All hosts have removed everything, or are gone.
  bool Over() const;
  struct Failure {
    std::string error;
    int status = 1;
  };
  // Why there are no results; the first reason.
  const std::optional<Failure>& failure() const { return failure_; }
  // By rank; complete unless there was a failure.
  const std::map<int, result::RunResult>& results() const { return results_; }
  // "" if it has not said.
  std::string HostOf(int rank) const;
  void Fail(const std::string& error, int status);

 private:
  void Meet(int from, const hosts::Meet& meet);
  void MeetFirst(int from, const std::string& host);
  void TakeRoutes(int from, scenario::Passages passages);

  const scenario::Scenario* scenario_ = nullptr;
  const int ranks_;
  SendToAll send_to_all_;
  std::map<int, std::string> hosts_;  // by rank
  std::map<std::string, std::set<int>> stages_;
  std::vector<ClockReading> clocks_;
  std::map<int, scenario::Passages> passages_;  // by rank
  std::map<int, result::RunResult> results_;
  std::set<int> gone_;
  std::optional<Failure> failure_;
  bool converged_ = false;
};

// By node, and then by the number of the destination.
using Passages = decltype(scenario::Passages::passages);
using NodePairs = std::vector<std::pair<std::string, std::string>>;
// Which nodes packets do not get to by the passages of all hosts together, from which of those that
// have some.
NodePairs Unreachable(const scenario::Scenario& scenario, const Passages& passages);

}  // namespace viaduct::hosts
