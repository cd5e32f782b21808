#include "run/traffic/traffic_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/clock.h"
#include "scenario/drain.h"
#include "scenario/events.h"
#include "scenario/multicast.h"
#include "scenario/text/words.h"
#include "sys/process/find_program.h"

namespace viaduct::run {
namespace {

// Time limits: for a flow's programs, beyond the duration of the flow; for any program to end after
// SIGTERM; for receivers to be ready.
constexpr Duration kFlowGrace = Duration::Seconds(5);
constexpr Duration kStopTimeout = Duration::Seconds(2);
constexpr Duration kReceiverTimeout = Duration::Seconds(60);

}  // namespace

struct TrafficRunner::FlowState {
  const scenario::Flow* flow = nullptr;
  scenario::Flow shortened;  // the flow with its actual duration, if the run ended early
  Ending ending;
  FlowCommands commands;
  scenario::Drain drain;
  // The index of the flow that sends this flow's packets (scenario::StreamOf()).
  size_t stream = 0;
  std::unique_ptr<NodeProcess> receiver;
  std::shared_ptr<Process> sender;  // shared by all flows of a stream
  bool sends_here = true, receives_here = true;
  bool ready = false, running = false, done = false;
  result::FlowResult result;
};

struct TrafficRunner::ProgramState {
  const scenario::Program* program = nullptr;
  std::unique_ptr<NodeProcess> process;
  Instant started;
  double seconds = 0;
  bool done = false;
  result::ProgramEnd end;
};

void CheckFlowPrograms(const scenario::Scenario& scenario) {
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    for (const auto& [program, package] : CommandsFor(scenario, i, "").needs) {
      if (sys::FindProgram(program).empty()) {
        throw EnvironmentError(fmt::format("flow '{}' needs {}; install it with apt-get install {}",
                                           scenario.flows[i].name, program, package));
      }
    }
  }
}

TrafficRunner::TrafficRunner(const scenario::Scenario& scenario, sys::EventLoop& loop,
                             broker::Client& client, LinkEvents links, Progress& progress,
                             Machines& machines)
    : scenario_(scenario),
      loop_(loop),
      client_(client),
      links_(links),
      progress_(progress),
      machines_(machines),
      events_left_(scenario.link_events.size()) {
  const bool ours = std::any_of(scenario.flows.begin(), scenario.flows.end(), [](const auto& flow) {
    return flow.kind != scenario::Flow::Kind::kTcp;
  });
  const std::string load = ours ? sys::FindCompanion("viaduct-load").string() : "";
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    FlowState& state = flows_.emplace_back();
    state.flow = &scenario.flows[i];
    state.commands = CommandsFor(scenario, i, load);
    state.stream = scenario::StreamOf(scenario, i);
    state.drain = scenario::DrainOf(scenario, scenario.flows[i]);
    state.sends_here = IsLocal(state.flow->from);
    state.receives_here = IsLocal(state.flow->to);
    state.ready = state.commands.receiver.empty() || !state.receives_here;
    if (state.receives_here && !state.sends_here && !state.commands.clock.empty()) {
      const Duration ahead = machines_.ClockAhead(state.flow->from);
      state.commands.receiver.insert(state.commands.receiver.end(),
                                     {state.commands.clock, std::to_string(ahead.nanoseconds())});
    }
  }
  machines_.OnSenderEnded([this](const RemoteSender& ended) { TakeRemoteEnd(ended); });
  for (const scenario::Program& program : scenario.programs) {
    programs_.emplace_back().program = &program;
  }
}

TrafficRunner::~TrafficRunner() { machines_.OnSenderEnded({}); }

double TrafficRunner::SinceStart() const { return (MonotonicClock::Now() - start_).ToSeconds(); }

void TrafficRunner::At(Instant time, std::function<void()> action) {
  loop_.At(time, [alive = std::weak_ptr<bool>(alive_), action = std::move(action)] {
    if (!alive.expired()) action();
  });
}

bool TrafficRunner::HasWork() const {
  return !scenario_.flows.empty() || !scenario_.programs.empty();
}

bool TrafficRunner::FlowsDone() const {
  return std::all_of(flows_.begin(), flows_.end(), [](const auto& flow) { return flow.done; });
}

bool TrafficRunner::Done() const {
  return events_left_ == 0 && FlowsDone() &&
         std::all_of(programs_.begin(), programs_.end(), [](const ProgramState& state) {
           return state.done || (state.program->background && state.process);
         });
}

std::string TrafficRunner::Describe() const {
  std::string text =
      // The time since the start is below 0 if several machines have agreed on a start in the
      // future.
      fmt::format("{:.0f} of {:.0f} s", std::max(SinceStart(), 0.0),
                  scenario_.duration.ToSeconds());
  for (const FlowState& flow : flows_) {
    if (flow.running) text += ", " + flow.flow->name;
  }
  for (const ProgramState& program : programs_) {
    if (program.process && !program.done) text += ", " + program.program->name;
  }
  return text;
}

void TrafficRunner::Start() {
  for (FlowState& flow : flows_) {
    if (!flow.commands.receiver.empty() && flow.receives_here) StartReceiver(flow);
  }
  const auto ready = [&] {
    return std::all_of(flows_.begin(), flows_.end(),
                       [](const auto& flow) { return flow.ready || flow.done; });
  };
  loop_.Run(ready, MonotonicClock::Now() + kReceiverTimeout);
  start_ = machines_.MeetToStart();
  for (FlowState& flow : flows_) {
    // Marks the flow as done if another machine has its result. The machine of the receiver has the
    // result of a UDP flow; the machine of the sender has the result of any other flow.
    const bool udp = flow.flow->kind == scenario::Flow::Kind::kUdp;
    if (!flow.sends_here && !(udp && flow.receives_here)) flow.done = true;
    At(start_ + flow.flow->start, [this, &flow] { StartSender(flow); });
  }
  for (ProgramState& program : programs_) {
    At(start_ + program.program->start, [this, &program] { StartProgram(program); });
  }
  for (const scenario::LinkEvent& event : scenario_.link_events) {
    At(start_ + event.at, [this, &event] { ApplyEvent(event); });
  }
}

void TrafficRunner::StartReceiver(FlowState& flow) {
  broker::ProgramOptions options;
  options.node = flow.flow->to;
  options.arguments = flow.commands.receiver;
  options.names = false;
  NodeProcess::Callbacks callbacks;
  callbacks.line = [&flow](const std::string& line) {
    if (line.find(flow.commands.ready) != std::string::npos) flow.ready = true;
  };
  callbacks.ended = [this, &flow] {
    if (flow.running && flow.sender && flow.sender->wait_status()) {
      FinishFlow(flow, ReceiverTrouble(flow));
    }
    if (!flow.ready) FinishFlow(flow, "the receiver " + flow.receiver->DescribeEnd());
  };
  flow.receiver = std::make_unique<NodeProcess>(loop_, client_, options, callbacks);
}

void TrafficRunner::StartSender(FlowState& flow) {
  if (flow.done || finished_) return;
  if (!flow.ready) {
    FinishFlow(flow, "the receiver was not ready when the flow was to start");
    return;
  }
  if (flow.sends_here) {
    LaunchSender(flow);
  } else if (!flow.sender) {
    flow.sender = std::make_shared<RemoteProcess>();
  }
  flow.running = true;
  const Duration longest = flow.flow->duration + kFlowGrace * 2 + flow.drain.limit;
  At(MonotonicClock::Now() + longest, [this, &flow] {
    if (flow.done) return;
    const bool sender = !flow.sender->wait_status();
    if (flow.receives_here || flow.commands.receiver.empty()) {
      FinishFlow(flow, fmt::format("the {} did not exit within the timeout",
                                   sender ? "sender" : "receiver"));
    }
    (sender ? flow.sender.get() : flow.receiver.get())->Kill(SIGKILL);
  });
  // If the sender of this flow's stream was started for another flow, the sender may have ended
  // already.
  if (flow.sender->wait_status()) SenderEnded(flow);
}

void TrafficRunner::LaunchSender(FlowState& flow) {
  broker::ProgramOptions options;
  options.node = flow.flow->from;
  options.arguments = flow.commands.sender;
  options.names = false;
  options.environment = {{"LC_ALL", "C"}};
  NodeProcess::Callbacks callbacks;
  callbacks.ended = [this, &flow] {
    for (FlowState& other : flows_) {
      if (other.sender == flow.sender) SenderEnded(other);
    }
  };
  const auto same = std::ranges::find_if(
      flows_, [&](const FlowState& other) { return other.stream == flow.stream && other.sender; });
  if (same != flows_.end()) {
    flow.sender = same->sender;
  } else {
    flow.sender = std::make_shared<NodeProcess>(loop_, client_, options, callbacks);
  }
}

// Sends the sender's output to the receiver's machine, which needs the output for the flow's
// result.
void TrafficRunner::PassOnEnd(FlowState& flow) {
  flow.done = true;
  flow.running = false;
  machines_.Tell(flow.flow->to, {.flow = static_cast<uint32_t>(flow.flow - scenario_.flows.data()),
                                 .status = *flow.sender->wait_status(),
                                 .output = flow.sender->standard_output(),
                                 .error = flow.sender->standard_error()});
}

void TrafficRunner::TakeRemoteEnd(const RemoteSender& ended) {
  if (ended.flow >= flows_.size())
    throw Error("another machine reported a flow that does not exist");
  FlowState& flow = *std::next(flows_.begin(), ended.flow);
  auto sender = std::make_shared<RemoteProcess>();
  sender->End(ended.status, ended.output, ended.error);
  flow.sender = std::move(sender);
  if (flow.running) SenderEnded(flow);
}

// Returns the failure of a UDP receiver: a receiver that was killed has measured nothing, whatever
// its sender reports.
std::string TrafficRunner::ReceiverTrouble(const FlowState& flow) {
  const bool failed = flow.flow->kind == scenario::Flow::Kind::kUdp && flow.receiver &&
                      flow.receiver->wait_status() && !flow.receiver->Succeeded();
  return failed ? "the receiver " + flow.receiver->DescribeEnd() : "";
}

void TrafficRunner::SenderEnded(FlowState& flow) {
  if (flow.done) return;
  const bool udp = flow.flow->kind == scenario::Flow::Kind::kUdp;
  if (udp && !flow.receives_here) return PassOnEnd(flow);
  if (udp && flow.sender->Succeeded() && !flow.receiver->wait_status()) {
    // Sends SIGUSR1 to the receiver to report that the sender has ended, because all end markers
    // may have been lost. The receiver ends, and writes its report, when all packets have arrived
    // or no more packets arrive.
    flow.receiver->Kill(SIGUSR1);
    At(MonotonicClock::Now() + flow.drain.limit, [&flow] { flow.receiver->Kill(SIGTERM); });
    return;
  }
  const std::string trouble = ReceiverTrouble(flow);
  if (flow.sender->Succeeded() && !trouble.empty()) return FinishFlow(flow, trouble);
  const bool said_why = !udp && !flow.sender->standard_output().empty();
  const std::string errors = flow.sender->standard_error();
  FinishFlow(flow, flow.sender->Succeeded() || said_why
                       ? ""
                       : fmt::format("the sender {}: {}", flow.sender->DescribeEnd(),
                                     errors.substr(0, errors.find('\n'))));
}

void TrafficRunner::FinishFlow(FlowState& flow, const std::string& trouble) {
  if (flow.done) return;
  flow.done = true;
  flow.running = false;
  const auto output = [](const auto& process) {
    return process ? process->standard_output() : std::string();
  };
  const std::string errors = flow.sender ? flow.sender->standard_error() : "";
  flow.result = !trouble.empty() ? FailedFlow(*flow.flow, trouble)
                                 : ParseFlow(*flow.flow, output(flow.receiver), output(flow.sender),
                                             errors, flow.ending);
  Fail(result::FailureOf(flow.result));
}

void TrafficRunner::StartProgram(ProgramState& state) {
  if (finished_) return;
  const scenario::Program& program = *state.program;
  broker::ProgramOptions options;
  options.node = program.node;
  options.arguments = program.command;
  options.environment = program.environment;
  options.new_privileges = program.new_privileges;
  NodeProcess::Callbacks callbacks;
  callbacks.line = [this, &program](const std::string& line) {
    progress_.Line(fmt::format("{}: {}", program.name, line));
  };
  callbacks.ended = [this, &state] { ProgramEnded(state); };
  state.started = MonotonicClock::Now();
  try {
    state.process = std::make_unique<NodeProcess>(loop_, client_, options, callbacks);
  } catch (const sys::Interrupted&) {
    throw;  // the run is interrupted, not only this program
  } catch (const Error& e) {
    state.done = true;
    state.end.trouble = e.what();
    Fail(Judge(state).failure);
    return;
  }
  if (!program.timeout) return;
  At(state.started + *program.timeout, [&state] {
    if (state.done) return;
    state.end.timed_out = true;
    state.process->Kill(SIGKILL);
  });
}

void TrafficRunner::ProgramEnded(ProgramState& state) {
  state.done = true;
  state.seconds = (MonotonicClock::Now() - state.started).ToSeconds();
  Fail(Judge(state).failure);
}

void TrafficRunner::ApplyEvent(const scenario::LinkEvent& event) {
  if (finished_) return;
  links_.Apply(event);
  --events_left_;
  const Duration late = MonotonicClock::Now() - start_ - event.at;
  event_lateness_.Record(late.nanoseconds());
  events_.push_back({event.link, scenario::DescribeEvent(event), SinceStart(),
                     static_cast<double>(late.nanoseconds()) / 1e6});
  progress_.Line(
      fmt::format("{:.1f} s: link {} {}", SinceStart(), event.link, events_.back().change));
}

size_t TrafficRunner::EventsDue() const {
  const Duration end = interrupted_.value_or(Instant::Never()) - start_;
  const std::vector<scenario::LinkEvent>& all = scenario_.link_events;
  return static_cast<size_t>(std::ranges::lower_bound(all, end, {}, &scenario::LinkEvent::at) -
                             all.begin());
}

size_t TrafficRunner::EventsToCome() const {
  return scenario_.link_events.size() - std::max(EventsDue(), events_.size());
}

void TrafficRunner::CountMissedEvents() {
  const std::vector<scenario::LinkEvent>& all = scenario_.link_events;
  const size_t due = EventsDue();
  if (due <= events_.size()) return;
  const scenario::LinkEvent& first = all[events_.size()];
  Fail(fmt::format(
      "{} of {} events were due but not applied before the end of the run: too many to apply in "
      "that time; the first is {}: link {} {} at {}",
      due - events_.size(), all.size(), first.where, first.link, scenario::DescribeEvent(first),
      FormatDuration(first.at)));
}

void TrafficRunner::EndEarly() {
  finished_ = true;
  const Instant now = MonotonicClock::Now();
  interrupted_ = now;
  const Duration since_start = now - start_;
  for (FlowState& flow : flows_) {
    if (flow.done) continue;
    if (!flow.running || since_start <= flow.flow->start) {
      FinishFlow(flow, "the flow had not begun when the run was interrupted");
      continue;
    }
    if (flow.sender->wait_status()) continue;  // only the receiver of this flow is still waiting
    flow.shortened = *flow.flow;
    flow.shortened.duration = std::min(flow.flow->duration, since_start - flow.flow->start);
    flow.flow = &flow.shortened;
    flow.ending.with_run = true;
    if (flow.sends_here) flow.ending.at = now;
    flow.sender->Kill(SIGINT);
  }
}

void TrafficRunner::Finish() {
  finished_ = true;
  CountMissedEvents();
  std::vector<Process*> left;
  for (FlowState& flow : flows_) {
    if (!flow.done) FinishFlow(flow, "the flow had not ended at the end of the run");
    if (flow.receiver && !flow.receiver->wait_status()) left.push_back(flow.receiver.get());
    if (flow.sends_here && flow.sender && !flow.sender->wait_status()) {
      left.push_back(flow.sender.get());
    }
  }
  for (ProgramState& program : programs_) {
    if (!program.process || program.done) continue;
    program.end.stopped = true;
    left.push_back(program.process.get());
  }
  for (Process* process : left) process->Kill(SIGTERM);
  const auto gone = [&] {
    return std::all_of(left.begin(), left.end(), [](Process* p) { return p->wait_status(); });
  };
  if (loop_.Run(gone, MonotonicClock::Now() + kStopTimeout)) return;
  for (Process* process : left) process->Kill(SIGKILL);
  loop_.Run(gone, MonotonicClock::Now() + kStopTimeout);
}

void TrafficRunner::Fail(const std::string& what) {
  if (what.empty()) return;
  failures_.push_back(what);
  progress_.Line(what);
}

std::vector<result::FlowResult> TrafficRunner::Flows() const {
  std::vector<result::FlowResult> results;
  for (const FlowState& flow : flows_) results.push_back(flow.result);
  return results;
}

result::ProgramOutcome TrafficRunner::Judge(const ProgramState& state) {
  const scenario::Program& program = *state.program;
  result::ProgramOutcome outcome;
  outcome.program = {program.name, program.node, scenario::JoinWords(program.command),
                     program.background};
  outcome.program.seconds = state.seconds;
  result::ProgramEnd end = state.end;
  end.expected_status = program.expect;
  end.timeout = program.timeout;
  if (state.process) {
    end.started = true;
    end.wait_status = state.process->wait_status();
    outcome.SetText(state.process->standard_output() + state.process->standard_error());
  }
  outcome.Judge(end);
  return outcome;
}

std::vector<result::ProgramOutcome> TrafficRunner::Programs() const {
  std::vector<result::ProgramOutcome> outcomes;
  for (const ProgramState& program : programs_) outcomes.push_back(Judge(program));
  return outcomes;
}

}  // namespace viaduct::run
