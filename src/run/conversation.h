// What the command does with a simulator in every case: waits for the lab, for convergence, for its
// report, and says so.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "run/progress.h"
#include "run/simulator_process.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::run {

class Conversation {
 public:
  // All outlive the conversation. Everything thrown by the simulator comes out of the loop's Run().
  Conversation(const scenario::Scenario& scenario, SimulatorProcess& simulator,
               sys::EventLoop& loop, Progress& progress);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Real modes: until the lab stands. Returns the seconds since this object was made.
  double WaitForLab();
  // Until all pairs reach or the simulator's patience (convergence.timeout) is at its end. Throws
  // Error if some do not and the scenario requires it. Returns what the simulator said of it.
  nlohmann::json WaitForConvergence();
  // Until the simulator has reported and ended. `stop`: asks it to (it would go on), and does not
  // wait for ever.
  nlohmann::json WaitForReport(bool stop);

  // Results of flows that the simulator carried itself, and of programs that it ran.
  const nlohmann::json& flows() const { return flows_; }
  const nlohmann::json& programs() const { return programs_; }
  // Those programs' whole output: name, text.
  const std::vector<std::pair<std::string, std::string>>& program_outputs() const {
    return program_outputs_;
  }
  // What of that did not go as the scenario wants.
  const std::vector<std::string>& failures() const { return failures_; }
  bool lab_built() const { return lab_built_; }

 private:
  void Read();
  void Handle(const nlohmann::json& message);
  void HandleProgram(const nlohmann::json& message);
  void Paused(const nlohmann::json& message);

  const scenario::Scenario& scenario_;
  SimulatorProcess& simulator_;
  sys::EventLoop& loop_;
  Progress& progress_;
  const Instant begin_;
  bool lab_built_ = false;
  nlohmann::json convergence_, report_;  // null until they arrive
  nlohmann::json flows_ = nlohmann::json::array(), programs_ = nlohmann::json::array();
  std::vector<std::pair<std::string, std::string>> program_outputs_;
  std::vector<std::string> failures_;
  bool watching_keys_ = false;
};

}  // namespace viaduct::run
