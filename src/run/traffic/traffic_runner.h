// Runs the flows, programs and link events of a scenario at their times in the nodes of a lab.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/result/run.h"
#include "lab/broker/client.h"
#include "run/simulator/machines.h"
#include "run/simulator/progress.h"
#include "run/traffic/link_events.h"
#include "run/traffic/node_process.h"
#include "run/traffic/traffic.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// Throws EnvironmentError that names the Debian package if a program that the flows need is
// missing.
void CheckFlowPrograms(const scenario::Scenario& scenario);

class TrafficRunner {
 public:
  // All arguments must outlive this object. `machines`: the other machines, if there are any; each
  // machine runs the end of a flow between machines that is in its part of the lab.
  TrafficRunner(const scenario::Scenario& scenario, sys::EventLoop& loop, broker::Client& client,
                LinkEvents links, Progress& progress, Machines& machines = Machines::Alone());
  ~TrafficRunner();

  // Starts the receivers, and schedules everything else on the loop's clock; times are counted from
  // now.
  void Start();
  // Whether all flows have results, all programs except background programs have ended, and all
  // events have happened.
  bool Done() const;
  // Whether all flows have results. Always becomes true: a flow whose programs do not end in time
  // fails.
  bool FlowsDone() const;
  // Whether there are any flows or programs; a run without them lasts for the scenario's duration.
  bool HasWork() const;
  // Returns the instant from which the times of flows, programs and events are counted.
  Instant start() const { return start_; }
  // Returns a description of the current activity, for the status line.
  std::string Describe() const;
  // Makes the running flows end and report their measurements; starts no further flows, programs or
  // events. Not for flows between machines. FlowsDone() becomes true as usual.
  void EndEarly();
  // Stops all flows and programs. Foreground programs that had to be stopped count as failed.
  void Finish();

  // Return the results of flows and programs. Must be called after Finish().
  std::vector<result::FlowResult> Flows() const;
  std::vector<result::ProgramOutcome> Programs() const;
  const std::vector<result::LinkEvent>& events() const { return events_; }
  // Returns the number of events whose time had not been reached when EndEarly() was called.
  size_t EventsToCome() const;
  // Returns the delays from an event's time until the event had been applied, in nanoseconds.
  const Histogram& event_lateness() const { return event_lateness_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  struct FlowState;
  struct ProgramState;

  bool IsLocal(const std::string& node) const { return machines_.IsLocal(node); }
  void StartReceiver(FlowState& flow);
  void LaunchSender(FlowState& flow);
  void PassOnEnd(FlowState& flow);
  void TakeRemoteEnd(const RemoteSender& ended);
  void StartSender(FlowState& flow);
  static std::string ReceiverTrouble(const FlowState& flow);
  void SenderEnded(FlowState& flow);
  void FinishFlow(FlowState& flow, const std::string& trouble);
  void StartProgram(ProgramState& program);
  static result::ProgramOutcome Judge(const ProgramState& program);
  void ProgramEnded(ProgramState& program);
  void ApplyEvent(const scenario::LinkEvent& event);
  // Adds a failure if events before the run's end were not applied.
  void CountMissedEvents();
  // Returns the number of events before the run's end.
  size_t EventsDue() const;
  // Adds a failure; does nothing if `what` is empty.
  void Fail(const std::string& what);
  double SinceStart() const;
  // Calls `action` at this time, as EventLoop::At() does, unless this object has been destroyed.
  void At(Instant time, std::function<void()> action);

  const scenario::Scenario& scenario_;
  sys::EventLoop& loop_;
  broker::Client& client_;
  LinkEvents links_;
  Progress& progress_;
  Machines& machines_;
  Instant start_;
  std::list<FlowState> flows_;
  std::list<ProgramState> programs_;
  std::vector<result::LinkEvent> events_;  // the applied events, in the scenario's order
  Histogram event_lateness_;
  size_t events_left_ = 0;
  std::optional<Instant> interrupted_;
  bool finished_ = false;
  std::vector<std::string> failures_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // expires with this object
};

}  // namespace viaduct::run
