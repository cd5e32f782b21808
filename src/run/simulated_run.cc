// A run in mode simulate: the simulator carries all traffic itself.
#include "base/clock.h"
#include "run/run_kind.h"
#include "run/traffic/traffic.h"

namespace viaduct::run {
namespace {

class SimulatedRun final : public RunKind {
 public:
  using RunKind::RunKind;

 private:
  void Work() override {
    StartSimulator(UniqueFd());
    results_.convergence = conversation_->WaitForConvergence();
    const scenario::SimulatorDone report = WaitForReport();
    TakeReport(report, Instant());
    TakeWhatThereIs();
    AddLosses(report.lost_at, &results_.flows);
  }

  scenario::SimulatorDone WaitForReport() {
    try {
      return conversation_->WaitForReport(false);
    } catch (const sys::Interrupted& interrupted) {
      EndEarly(interrupted, "; interrupt again to stop immediately",
               "interrupted: the results cover only the time until the interruption");
      return WaitUnlessItHangs();
    }
  }

  // Waits for the report, with a limit, because a simulation that hangs in a protocol or a program
  // never reads commands. A further signal ends the wait at once, because a user who sends a second
  // signal does not want results.
  scenario::SimulatorDone WaitUnlessItHangs() {
    try {
      return conversation_->WaitForReport(true);
    } catch (const sys::Interrupted&) {
      simulator_->Kill();
      throw;
    }
  }

  void TakeWhatThereIs() override {
    if (!conversation_) return;
    TakeFlows(conversation_->flows());
    results_.events = conversation_->events();
    measured_ = !results_.flows.empty();
    TakePrograms(conversation_->programs());
    TakeFailures(conversation_->failures());
  }
};

}  // namespace

std::unique_ptr<RunKind> MakeSimulatedRun(const scenario::Scenario& scenario,
                                          const RunOptions& options) {
  return std::make_unique<SimulatedRun>(scenario, options);
}

}  // namespace viaduct::run
