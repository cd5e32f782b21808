// What every run does from start to results, and its kinds: a simulation, and a lab with real
// packets.
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

// A run executes once.
class RunKind {
 public:
  // Both must outlive the run. Throws EnvironmentError if there is no simulator.
  RunKind(const scenario::Scenario& scenario, const RunOptions& options);
  RunKind(const RunKind&) = delete;
  RunKind& operator=(const RunKind&) = delete;
  virtual ~RunKind() = default;

  // As run::Execute().
  result::RunResult Execute();

 protected:
  // Throws UsageError, before anything is made.
  virtual void Check() const {}
  // Makes what the run needs, and brings it from the start to the simulator's report.
  virtual void Work() = 0;
  // After an error: takes what has been measured until then.
  virtual void TakeWhatThereIs() {}
  // Removes everything that was made, in whatever state it is. May be called again.
  virtual void CleanUp();
  // A user who has ended the run waits for nothing that is stopped.
  virtual void LimitTheEnd() {}

  // The loop is created here, after what must be forked before it (it blocks signals).
  void StartSimulator(UniqueFd broker);
  // Notes that a signal ends the run early, with the results until then; throws it if it is to end
  // without results.
  void EndEarly(const sys::Interrupted& interrupted, const std::string& hint,
                const std::string& failure);
  void TakeReport(const scenario::SimulatorDone& report, Instant traffic_start);
  void TakeFlows(std::vector<result::FlowResult> flows);
  void TakePrograms(const std::vector<result::ProgramOutcome>& outcomes);
  void TakeFailures(const std::vector<std::string>& failures);
  std::string CaptureDirectory() const;

  const scenario::Scenario& scenario_;
  const RunOptions& options_;
  Peers* const peers_;
  const Instant begin_;
  bool measured_ = false;  // the flows have results, and the programs
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
  int interrupted_ = 0;  // the signal that ended it early, if any
};

// Mode simulate.
std::unique_ptr<RunKind> MakeSimulatedRun(const scenario::Scenario& scenario,
                                          const RunOptions& options);
// The real modes.
std::unique_ptr<RunKind> MakeLabRun(const scenario::Scenario& scenario, const RunOptions& options);

}  // namespace viaduct::run
