// The part of rank 0 for all machines of a lab: waits for them at each stage of the run, follows
// the routes from machine to machine, collects the results.
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

namespace viaduct::machines {

class Conductor {
 public:
  using SendToAll = std::function<void(const RankMessage&)>;
  // `send_to_all` must include rank 0 itself.
  Conductor(int ranks, SendToAll send_to_all);
  // Must be called before the first machine reports its name. The scenario must outlive this
  // object.
  void SetScenario(const scenario::Scenario& scenario) { scenario_ = &scenario; }

  // Processes a message for rank 0.
  void Take(int from, const RankMessage& message);
  // Notes that a rank's program has ended without a message, or has been silent for too long.
  void Ended(int rank, bool is_silent = false);
  // Sets the clocks before the traffic; the machines wait for them in the first stage.
  void SetClocks(std::vector<ClockReading> clocks);
  const std::vector<ClockReading>& clocks() const { return clocks_; }

  // Whether all machines have removed everything, or are gone.
  bool Over() const;
  struct Failure {
    std::string error;
    int status = 1;
  };
  // The first reason why there are no results.
  const std::optional<Failure>& failure() const { return failure_; }
  // The results by rank; complete unless there was a failure.
  const std::map<int, result::RunResult>& results() const { return results_; }
  // The machine of a rank; "" if it has not reported its name.
  std::string NameOf(int rank) const;
  void Fail(const std::string& error, int status);

 private:
  void Meet(int from, const machines::Meet& meet);
  void MeetFirst(int from, const std::string& machine);
  void TakeRoutes(int from, scenario::Passages passages);

  const scenario::Scenario* scenario_ = nullptr;
  const int ranks_;
  SendToAll send_to_all_;
  std::map<int, std::string> machines_;  // the key is the rank
  std::map<std::string, std::set<int>> stages_;
  std::vector<ClockReading> clocks_;
  std::map<int, scenario::Passages> passages_;  // the key is the rank
  std::map<int, result::RunResult> results_;
  std::set<int> gone_;
  std::optional<Failure> failure_;
  bool converged_ = false;
};

// The passages by node, and then by the number of the destination.
using Passages = decltype(scenario::Passages::passages);
using NodePairs = std::vector<std::pair<std::string, std::string>>;
// Returns the pairs of nodes (from, to) between which packets do not pass by the passages of all
// machines together. Only nodes that have passages count as sources.
NodePairs Unreachable(const scenario::Scenario& scenario, const Passages& passages);

}  // namespace viaduct::machines
