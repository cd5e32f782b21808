// What the command does with a simulator in every case: waits for the lab, for convergence, for its
// report, and says so.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "result/run.h"
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
  result::Convergence WaitForConvergence();
  // Until the simulator has reported and ended. `stop`: asks it to (it would go on), and does not
  // wait for ever. Returns the "report" message.
  nlohmann::json WaitForReport(bool stop);

  // Results of flows that the simulator carried itself, and of programs that it ran.
  const std::vector<result::FlowResult>& flows() const { return flows_; }
  const std::vector<result::ProgramOutcome>& programs() const { return programs_; }
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
  std::optional<result::Convergence> convergence_;
  nlohmann::json report_;  // null until it arrives
  std::vector<result::FlowResult> flows_;
  std::vector<result::ProgramOutcome> programs_;
  std::vector<std::string> failures_;
  bool watching_keys_ = false;
};

}  // namespace viaduct::run
