// The traffic of the scenario itself in the network of a hub, in addition to the clients': its
// flows, programs, events, captures and the states of its kernels.
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

// Whether the scenario has any such traffic.
bool HasHubTraffic(const scenario::Scenario& scenario);
// Whether any of the traffic has a time, counted from convergence.
bool HasTimedTraffic(const scenario::Scenario& scenario);
// Throws UsageError naming a flow or program of a remote node, whose programs are its client's, and
// EnvironmentError if a lab's flows need a program that is missing.
void CheckHubTraffic(const scenario::Scenario& scenario);
// The folder of the capture files, in the working directory.
std::string HubCaptureFolder(const scenario::Scenario& scenario);
// The results of flows and programs.
result::HubTraffic DescribeTraffic(const scenario::Scenario& scenario,
                                   std::vector<result::FlowResult> flows,
                                   const std::vector<result::ProgramOutcome>& programs);
// Returns a line that the last `count` events of a scenario had not happened when its hub ended,
// with the first of them; empty: all had.
std::string EventsToCome(const scenario::Scenario& scenario, size_t count);
// Returns the traffic's results as a table and lines, which `viaduct hub` prints at its end.
std::string HubTrafficTable(const result::HubTraffic& traffic);

// Runs the scenario's traffic in a lab, at its times from Start() on.
class LabTraffic {
 public:
  // All must outlive this object; `engine` may be null if no link has a SPEC. Captures begin now.
  // Throws Error.
  LabTraffic(const scenario::Scenario& scenario, sys::EventLoop& loop, broker::Client& client,
             EngineWatch* engine, Progress& progress);

  // Returns when the receivers of all flows are ready; times count from then.
  void Start();
  // Ends the flows and programs that still run. `failures` gets a line for each failure.
  result::HubTraffic Finish(std::vector<std::string>* failures);

 private:
  const scenario::Scenario& scenario_;
  sys::EventLoop& loop_;
  std::unique_ptr<Captures> captures_;
  TrafficRunner runner_;
};

}  // namespace viaduct::run
