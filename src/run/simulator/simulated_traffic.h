// The traffic and events that the simulator carries out itself: collects the results that the
// simulator reports while it runs, and shows them on the progress display.
#pragma once

#include <string>
#include <vector>

#include "base/result/flow.h"
#include "base/result/program.h"
#include "base/result/run.h"
#include "run/simulator/progress.h"
#include "scenario/messages/simulator_messages.h"

namespace viaduct::run {

class SimulatedTraffic {
 public:
  // `progress` must outlive this object.
  explicit SimulatedTraffic(Progress& progress) : progress_(progress) {}

  // Each collects one report of the simulator.
  void Take(const scenario::FlowDone& done);
  void Take(const scenario::ProgramDone& done);
  void Take(const scenario::ProgramOutput& output);
  void Take(const scenario::LinkChanged& changed);

  // Records and shows a failed expectation of the scenario; does nothing if `failure` is empty.
  void Fail(const std::string& failure);

  // The results of flows that the simulator has carried, and of programs that it has run.
  const std::vector<result::FlowResult>& flows() const { return flows_; }
  const std::vector<result::ProgramOutcome>& programs() const { return programs_; }
  // The link events that the simulator has applied.
  const std::vector<result::LinkEvent>& events() const { return events_; }
  // The failed expectations of the scenario, of routes, flows and programs.
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  Progress& progress_;
  std::vector<result::FlowResult> flows_;
  std::vector<result::ProgramOutcome> programs_;
  std::vector<result::LinkEvent> events_;
  std::vector<std::string> failures_;
};

}  // namespace viaduct::run
