// The tasks of rank 0 for all machines of a lab: waits for the machines at each stage of the run,
// follows the routes from machine to machine, and collects the results.
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
  // `send_to_all` must send a message to all ranks, including rank 0.
  Conductor(int ranks, SendToAll send_to_all);
  // Sets the scenario, which must outlive this object. Must be called before the first machine
  // reports its name.
  void SetScenario(const scenario::Scenario& scenario) { scenario_ = &scenario; }

  // Processes a message that rank `from` has sent to rank 0.
  void Take(int from, const RankMessage& message);
  // Records that a rank's program has ended without a message, or has been silent for too long.
  void Ended(int rank, bool is_silent = false);
  // Sets the clocks that were measured before the traffic; the machines wait for them in the first
  // stage.
  void SetClocks(std::vector<ClockReading> clocks);
  const std::vector<ClockReading>& clocks() const { return clocks_; }

  // Whether each machine has removed its part of the lab, or has ended.
  bool Over() const;
  struct Failure {
    std::string error;
    int status = 1;
  };
  // Returns the first reason for which there are no results.
  const std::optional<Failure>& failure() const { return failure_; }
  // Returns the results by rank; complete unless there was a failure.
  const std::map<int, result::RunResult>& results() const { return results_; }
  // Returns the name of a rank's machine; "" if the machine has not reported its name.
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

// The next hops (passages), by node and then by the number of the destination.
using Passages = decltype(scenario::Passages::passages);
using NodePairs = std::vector<std::pair<std::string, std::string>>;
// Returns the pairs of nodes (from, to) for which the passages of all machines together do not lead
// packets to their destination. Only nodes that have passages count as sources.
NodePairs Unreachable(const scenario::Scenario& scenario, const Passages& passages);

}  // namespace viaduct::machines
