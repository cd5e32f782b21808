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

// Throws EnvironmentError that names the package if a program that the flows need is missing.
void CheckFlowPrograms(const scenario::Scenario& scenario);

class TrafficRunner {
 public:
  // All must outlive this object. `machines`: each machine of several runs
  // the end of a flow between machines that is in its nodes.
  TrafficRunner(const scenario::Scenario& scenario, sys::EventLoop& loop, broker::Client& client,
                LinkEvents links, Progress& progress, Machines& machines = Machines::Alone());
  ~TrafficRunner();

  // Starts the receivers, and schedules everything else on the loop's clock; times count from now.
  void Start();
  // Whether all flows have results, all programs except those in the background have ended, and all
  // events have happened.
  bool Done() const;
  // Whether all flows have results. True in the end: programs that do not end are given up.
  bool FlowsDone() const;
  // Whether there are flows or programs at all; a run without them lasts its whole duration.
  bool HasWork() const;
  // The instant from which the times of flows, programs and events count.
  Instant start() const { return start_; }
  // Describes the current activity, for the status line.
  std::string Describe() const;
  // Makes the running flows end and report their measurements; nothing else is begun any more. Not
  // for flows between machines. FlowsDone() becomes true as usual.
  void EndEarly();
  // Stops all flows and programs. Foreground programs that must be stopped count as failed.
  void Finish();

  // Must be called after Finish().
  std::vector<result::FlowResult> Flows() const;
  std::vector<result::ProgramOutcome> Programs() const;
  const std::vector<result::LinkEvent>& events() const { return events_; }
  // Events whose time had not come when EndEarly() was called.
  size_t EventsToCome() const;
  // The delay from an event's time until it had been applied, in nanoseconds.
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
  // Fails if events of the time until the run's end were not applied.
  void CountMissedEvents();
  // Events of the time until the run's end.
  size_t EventsDue() const;
  // Adds a failure; does nothing if `what` is empty.
  void Fail(const std::string& what);
  double SinceStart() const;
  // Calls `action` at this time, as EventLoop::At() does, but not after this object's destruction.
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
  std::vector<result::LinkEvent> events_;  // the applied ones, in the scenario's order
  Histogram event_lateness_;
  size_t events_left_ = 0;
  std::optional<Instant> interrupted_;
  bool finished_ = false;
  std::vector<std::string> failures_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // expires with this object
};

}  // namespace viaduct::run
