// The traffic of the scenario in the network of a hub, in addition to the traffic of clients:
// flows, programs, events, captures, and the states of kernels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result/hub.h"
#include "lab/broker/client.h"
#include "run/simulator/engine_watch.h"
#include "run/simulator/progress.h"
#include "run/traffic/captures.h"
#include "run/traffic/traffic_runner.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// Whether the scenario has flows, programs, events, captures or states of kernels.
bool HasHubTraffic(const scenario::Scenario& scenario);
// Whether the scenario has traffic whose times are counted from convergence: flows, programs or
// events.
bool HasTimedTraffic(const scenario::Scenario& scenario);
// Throws UsageError naming a flow or program of a remote node, because its client runs its
// programs; throws EnvironmentError if a lab's flows need a program that is missing.
void CheckHubTraffic(const scenario::Scenario& scenario);
// Returns the folder of the capture files, in the working directory.
std::string HubCaptureFolder(const scenario::Scenario& scenario);
// Returns the results of flows and programs.
result::HubTraffic DescribeTraffic(const scenario::Scenario& scenario,
                                   std::vector<result::FlowResult> flows,
                                   const std::vector<result::ProgramOutcome>& programs);
// Returns a line that reports that the last `count` events of a scenario had not happened when its
// hub ended, with the first of these events; empty if `count` is 0.
std::string EventsToCome(const scenario::Scenario& scenario, size_t count);
// Returns the results of the traffic as a table and lines, which `viaduct hub` prints at its end.
std::string HubTrafficTable(const result::HubTraffic& traffic);

// Runs the scenario's traffic in a lab, at the times that the scenario sets, counted from Start().
class LabTraffic {
 public:
  // All arguments must outlive this object; `engine` may be null if no link has a SPEC. The
  // constructor starts the captures. Throws Error.
  LabTraffic(const scenario::Scenario& scenario, sys::EventLoop& loop, broker::Client& client,
             EngineWatch* engine, Progress& progress);

  // Starts the traffic. Returns when the receivers of all flows are ready; times are counted from
  // that moment.
  void Start();
  // Ends the flows and programs that still run and returns the results. Adds a line for each
  // failure to `failures`.
  result::HubTraffic Finish(std::vector<std::string>* failures);

 private:
  const scenario::Scenario& scenario_;
  sys::EventLoop& loop_;
  std::unique_ptr<Captures> captures_;
  TrafficRunner runner_;
};

}  // namespace viaduct::run
