// The steps of every run from start to results, and the kinds of runs: a simulation, and a lab with
// real packets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result/run.h"
#include "base/time.h"
#include "run/run.h"
#include "run/simulator/conversation.h"
#include "run/simulator/progress.h"
#include "run/simulator/simulator_process.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// One run, which can be executed once.
class RunKind {
 public:
  // Both arguments must outlive the run. Throws EnvironmentError if the simulator is not installed.
  RunKind(const scenario::Scenario& scenario, const RunOptions& options);
  RunKind(const RunKind&) = delete;
  RunKind& operator=(const RunKind&) = delete;
  virtual ~RunKind() = default;

  // Implements run::Execute().
  result::RunResult Execute();

 protected:
  // Checks the scenario before anything is created. Throws UsageError.
  virtual void Check() const {}
  // Creates the lab and the processes, and runs until the simulator has reported.
  virtual void Work() = 0;
  // Stores the results that were measured before an error; called after the error.
  virtual void TakeWhatThereIs() {}
  // Removes everything that was created, whatever state the run is in. May be called more than
  // once.
  virtual void CleanUp();
  // Limits the time to wait for processes that are stopped (SIGSTOP). Called after the user has
  // ended the run.
  virtual void LimitTheEnd() {}

  // Starts the simulator and creates the event loop, which blocks signals. Processes that must not
  // inherit blocked signals must be forked earlier.
  void StartSimulator(UniqueFd broker);
  // Records that a signal ends the run early, with the results that have been measured so far;
  // throws `interrupted` if the run must end without results.
  void EndEarly(const sys::Interrupted& interrupted, const std::string& hint,
                const std::string& failure);
  void TakeReport(const scenario::SimulatorDone& report, Instant traffic_start);
  void TakeFlows(std::vector<result::FlowResult> flows);
  void TakePrograms(const std::vector<result::ProgramOutcome>& outcomes);
  void TakeFailures(const std::vector<std::string>& failures);
  std::string CaptureDirectory() const;

  const scenario::Scenario& scenario_;
  const RunOptions& options_;
  Machines& machines_;
  const Instant begin_;
  bool measured_ = false;  // whether the flows and programs have results
  Progress progress_;
  result::RunResult results_;
  std::unique_ptr<sys::EventLoop> loop_;
  std::unique_ptr<SimulatorProcess> simulator_;
  std::unique_ptr<Conversation> conversation_;

 private:
  void Describe();
  void Abandon();
  void NoteCaptures();
  void NoteRefusedRoutes();
  void WriteText(const result::ProgramOutcome& outcome);

  const std::string program_;
  int interrupted_ = 0;  // the signal that ended the run early, or 0
};

// Returns a run of mode simulate.
std::unique_ptr<RunKind> MakeSimulatedRun(const scenario::Scenario& scenario,
                                          const RunOptions& options);
// Returns a run of a real mode.
std::unique_ptr<RunKind> MakeLabRun(const scenario::Scenario& scenario, const RunOptions& options);

}  // namespace viaduct::run
