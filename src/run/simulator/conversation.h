// The command's side of the dialogue with a simulator in every mode: waits for the lab, for
// convergence and for the report, and shows the progress.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result/run.h"
#include "run/simulator/machines.h"
#include "run/simulator/progress.h"
#include "run/simulator/simulated_traffic.h"
#include "run/simulator/simulator_process.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// Returns a progress line about the convergence: "converged in 1.2 s; 6 of 6 pairs reach".
std::string ConvergenceLine(const scenario::Scenario& scenario,
                            const result::Convergence& convergence);
// The exception for routes that have not converged although the scenario requires convergence.
class NotConverged : public Error {
 public:
  NotConverged(const std::string& why, result::Convergence convergence)
      : Error(why), convergence_(std::move(convergence)) {}
  const result::Convergence& convergence() const { return convergence_; }

 private:
  result::Convergence convergence_;
};

// Throws NotConverged if routes have not converged, and the scenario requires convergence.
void CheckConvergence(const scenario::Scenario& scenario, const result::Convergence& convergence);

class Conversation : private SimulatedTraffic {
 public:
  // All arguments must outlive the conversation. The loop's Run() throws the errors of the
  // simulator.
  Conversation(const scenario::Scenario& scenario, SimulatorProcess& simulator,
               sys::EventLoop& loop, Progress& progress, Machines& machines = Machines::Alone());
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Waits until the lab is built, in real modes. Returns the seconds since this object was created.
  double WaitForLab();
  // Waits until all pairs of nodes can reach each other or convergence.timeout has passed. Throws
  // Error if some pairs cannot reach each other and the scenario requires convergence. Returns the
  // simulator's message about the convergence.
  result::Convergence WaitForConvergence();
  // Waits until the simulator has reported and ended, and returns its report. If `stop` is true,
  // first sends the command that ends the simulator, which would otherwise continue, and limits the
  // time of waiting.
  scenario::SimulatorDone WaitForReport(bool stop);

  using SimulatedTraffic::events;
  using SimulatedTraffic::failures;
  using SimulatedTraffic::flows;
  using SimulatedTraffic::programs;
  bool lab_built() const { return lab_built_; }
  // Returns the lateness of the simulator's events so far, if the simulator reports it. Only the
  // simulator of a lab's hub reports it, every half second after convergence.
  const std::optional<result::Timing>& timing() const { return timing_; }

 private:
  using SimulatedTraffic::Take;

  void Read();
  void Take(const scenario::LabBuilt& built);
  void Take(const scenario::SimulatorProgress& progress);
  void Take(const scenario::Passages& passages);
  void Take(const scenario::Converged& converged);
  void Take(const scenario::TimingNow& now);
  void Take(const scenario::RouteDifference& difference);
  void Take(const scenario::Paused& paused);
  void Take(const scenario::Note& note);
  void Take(const scenario::Resumed& resumed);
  void Take(const scenario::SimulatorDone& done) { report_ = done; }
  // Throws for all other messages: either they are only sent by a simulated hub, or
  // SimulatorProcess handles them.
  template <class Message>
  void Take(const Message&) {
    throw Error(
        fmt::format("the simulator sent '{}', which is a message of hubs only", Message::kName));
  }
  // Returns the pairs of nodes that reach each other. If the lab has several hosts, the pairs of
  // all hosts are included.
  result::Convergence Everywhere() const;

  const scenario::Scenario& scenario_;
  SimulatorProcess& simulator_;
  sys::EventLoop& loop_;
  Progress& progress_;
  Machines& machines_;
  const Instant begin_;
  bool lab_built_ = false;
  std::optional<result::Convergence> convergence_;
  std::optional<scenario::Go> everywhere_;  // set by the function of Machines::OnConverged()
  std::optional<result::Timing> timing_;
  std::optional<scenario::SimulatorDone> report_;
  bool watching_keys_ = false;
};

}  // namespace viaduct::run
