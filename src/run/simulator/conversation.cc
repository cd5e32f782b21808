#include "run/simulator/conversation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/units.h"

namespace viaduct::run {
namespace {

using nlohmann::json;

// A lab of a thousand nodes takes long to build, but a hung simulator must end the run.
constexpr Duration kSetUpPatience = Duration::Seconds(120);
constexpr Duration kReportPatience = Duration::Seconds(20);
// The simulator itself reports at convergence.timeout; this much later it is considered hung.
constexpr Duration kConvergenceGrace = Duration::Seconds(15);

// "a->b, c->d and 3 more".
std::string ListPairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  constexpr size_t kShown = 6;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, pairs.size()); ++i) {
    text += fmt::format("{}{}->{}", i ? ", " : "", pairs[i].first, pairs[i].second);
  }
  if (pairs.size() > kShown) text += fmt::format(" and {} more", pairs.size() - kShown);
  return text;
}

// "not converged within 60s: 4 of 6 pairs reach; not a->b, b->a".
std::string UnconvergedLine(const scenario::Scenario& scenario,
                            const result::Convergence& convergence) {
  return fmt::format("not converged within {}: {} of {} pairs reach; not {}",
                     FormatDuration(scenario.convergence_timeout), convergence.reachable,
                     convergence.pairs, ListPairs(convergence.unreachable));
}

}  // namespace

std::string ConvergenceLine(const scenario::Scenario& scenario,
                            const result::Convergence& convergence) {
  if (convergence.on_demand.value_or(false)) {
    return "routes on demand: the protocol looks for them when packets need them";
  }
  if (convergence.by_programs.value_or(false)) {
    return "routing: none: routes are made by the nodes' programs, and not waited for";
  }
  if (!convergence.unreachable.empty()) return UnconvergedLine(scenario, convergence);
  return fmt::format("converged in {:.1f} s; {} of {} pairs reach", convergence.seconds,
                     convergence.reachable, convergence.pairs);
}

void CheckConvergence(const scenario::Scenario& scenario, const result::Convergence& convergence) {
  if (!scenario.convergence_required || convergence.unreachable.empty()) return;
  throw NotConverged(UnconvergedLine(scenario, convergence) +
                         "; raise convergence.timeout, or set convergence.required to false",
                     convergence);
}

Conversation::Conversation(const scenario::Scenario& scenario, SimulatorProcess& simulator,
                           sys::EventLoop& loop, Progress& progress, Peers* peers)
    : scenario_(scenario),
      simulator_(simulator),
      loop_(loop),
      progress_(progress),
      peers_(peers),
      begin_(MonotonicClock::Now()) {
  simulator_.OnOutput([this](const std::string& line) { progress_.Line(line); });
  loop_.Watch(simulator_.Fd(), [this] { Read(); });
  if (peers_) {
    peers_->OnConverged([this](const json& everywhere) {
      everywhere_ = everywhere;
      simulator_.Tell({{"command", "go"}, {"unreachable", everywhere.at("unreachable")}});
    });
  }
  loop_.Watch(simulator_.OutputFd(), [this] {
    if (!simulator_.ReadOutput()) loop_.Forget(simulator_.OutputFd());
  });
}

Conversation::~Conversation() {
  simulator_.OnOutput({});
  if (peers_) peers_->OnConverged({});
  if (watching_keys_) loop_.Forget(STDIN_FILENO);
  loop_.Forget(simulator_.Fd());
  loop_.Forget(simulator_.OutputFd());
}

void Conversation::Read() {
  while (const std::optional<json> message = simulator_.Receive()) Handle(*message);
  if (simulator_.Ended()) loop_.Forget(simulator_.Fd());
}

void Conversation::Handle(const json& message) {
  const std::string event = message["event"];
  if (event == "lab") {
    lab_built_ = true;
  } else if (event == "progress" && convergence_) {
    progress_.Status(fmt::format("{:.1f} s simulated", message.value("time", 0.0)));
  } else if (event == "progress") {
    progress_.Status(fmt::format("{:.1f} s: {} of {} pairs{} reach", message.value("time", 0.0),
                                 message.value("reachable", 0), message.value("pairs", 0),
                                 peers_ ? " of this host" : ""));
  } else if (event == "passages" && peers_) {
    peers_->ReportRoutes(message);
  } else if (event == "timing") {
    timing_ = message.get<result::Timing>();
  } else if (event == "converged") {
    convergence_ = message.get<result::Convergence>();
  } else if (event == "difference") {
    Fail(message.value("message", ""));
  } else if (event == "flow") {
    flows_.push_back(message.get<result::FlowResult>());
    Fail(result::FailureOf(flows_.back()));
  } else if (event == "link") {
    events_.push_back(message.get<result::LinkEvent>());
    const result::LinkEvent& changed = events_.back();
    progress_.Line(fmt::format("{:.1f} s: link {} {}", changed.at, changed.link, changed.change));
  } else if (event == "output") {
    progress_.Line(fmt::format("{}: {}", message.value("program", ""), message.value("line", "")));
  } else if (event == "paused") {
    Paused(message);
  } else if (event == "note") {
    progress_.Line(message.value("message", ""));
  } else if (event == "resumed") {
    if (std::exchange(watching_keys_, false)) loop_.Forget(STDIN_FILENO);
    progress_.Line(fmt::format("resumed at {:.6f} s", message.value("time", 0.0)));
  } else if (event == "program") {
    HandleProgram(message);
  } else if (event == "report") {
    report_ = message;
  }
}

void Conversation::HandleProgram(const json& message) {
  programs_.push_back(message.get<result::ProgramOutcome>());
  Fail(programs_.back().failure);
}

void Conversation::Fail(const std::string& failure) {
  if (failure.empty()) return;
  failures_.push_back(failure);
  progress_.Line(failure);
}

void Conversation::Paused(const json& message) {
  const auto nodes = message.at("nodes").get<std::vector<std::string>>();
  progress_.Line(fmt::format("{} is paused at {:.6f} s; in another terminal:", scenario_.name,
                             message.value("time", 0.0)));
  progress_.Line(
      fmt::format("  viaduct view {:<15}its state, in the browser; as text: viaduct ls {}",
                  scenario_.name, scenario_.name));
  if (!nodes.empty()) {
    progress_.Line(fmt::format("  viaduct kernel shell NODE   a shell on a node ({}{})", nodes[0],
                               nodes.size() > 1 ? " ... " + nodes.back() : ""));
  }
  const bool on_terminal = isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
  progress_.Line(fmt::format("  viaduct kernel resume       continue{}",
                             on_terminal ? "; so does the Enter key here" : ""));
  if (!on_terminal) return;
  watching_keys_ = true;
  loop_.Watch(STDIN_FILENO, [this] {
    char keys[256];
    if (read(STDIN_FILENO, keys, sizeof keys) <= 0) {
      watching_keys_ = false;
      return loop_.Forget(STDIN_FILENO);
    }
    simulator_.Resume();
  });
}

double Conversation::WaitForLab() {
  const std::string what =
      fmt::format("{} nodes, {} links", scenario_.nodes.size(), scenario_.links.size());
  progress_.Status(fmt::format("building the lab {}: {}", scenario_.name, what));
  if (!loop_.Run([&] { return lab_built_; }, begin_ + kSetUpPatience)) {
    throw Error("the simulator hangs: it does not build the lab");
  }
  const double seconds = (MonotonicClock::Now() - begin_).ToSeconds();
  progress_.Line(fmt::format("lab {}: {}, built in {:.2f} s", scenario_.name, what, seconds));
  return seconds;
}

result::Convergence Conversation::Everywhere() const {
  result::Convergence reach = *convergence_;
  if (!everywhere_) return reach;
  everywhere_->at("pairs").get_to(reach.pairs);
  // What the routes of all hosts lacked; of those that this host still awaited then, its own.
  const json& lacked = everywhere_->at("unreachable");
  if (!lacked.empty()) lacked.get_to(reach.unreachable);
  reach.reachable = reach.pairs - static_cast<uint32_t>(reach.unreachable.size());
  return reach;
}

result::Convergence Conversation::WaitForConvergence() {
  const bool real = scenario_.mode != scenario::Mode::kSimulate;
  const Instant deadline =
      real ? MonotonicClock::Now() + scenario_.convergence_timeout + kConvergenceGrace
           : Instant::Never();
  if (!loop_.Run([&] { return convergence_.has_value(); }, deadline)) {
    throw Error("the simulator hangs: it reports nothing about convergence");
  }
  const result::Convergence everywhere = Everywhere();
  CheckConvergence(scenario_, everywhere);
  progress_.Line(ConvergenceLine(scenario_, everywhere));
  return *convergence_;
}

json Conversation::WaitForReport(bool stop) {
  const auto deadline = [&] {
    return stop ? MonotonicClock::Now() + kReportPatience : Instant::Never();
  };
  if (stop) simulator_.Stop();
  if (!loop_.Run([&] { return !report_.is_null(); }, deadline())) {
    throw Error("the simulator hangs: it does not report");
  }
  loop_.Run([&] { return simulator_.Ended(); }, MonotonicClock::Now() + kReportPatience);
  return report_;
}

}  // namespace viaduct::run
