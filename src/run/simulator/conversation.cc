#include "run/simulator/conversation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/units.h"

namespace viaduct::run {
namespace {

// The time within which the lab must be built. A lab of a thousand nodes takes long, but a hung
// simulator must end the run.
constexpr Duration kSetUpTimeout = Duration::Seconds(120);
constexpr Duration kReportTimeout = Duration::Seconds(20);
// The time after convergence.timeout after which the simulator is considered hung: the simulator
// itself must report at convergence.timeout.
constexpr Duration kConvergenceGrace = Duration::Seconds(15);

// Returns pairs of nodes as text: "a->b, c->d and 3 more".
std::string ListPairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  constexpr size_t kShown = 6;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, pairs.size()); ++i) {
    text += fmt::format("{}{}->{}", i ? ", " : "", pairs[i].first, pairs[i].second);
  }
  if (pairs.size() > kShown) text += fmt::format(" and {} more", pairs.size() - kShown);
  return text;
}

// Returns a line about missing convergence: "not converged within 60s: 4 of 6 pairs are reachable;
// unreachable: a->b, b->a".
std::string UnconvergedLine(const scenario::Scenario& scenario,
                            const result::Convergence& convergence) {
  return fmt::format("not converged within {}: {} of {} pairs are reachable; unreachable: {}",
                     FormatDuration(scenario.convergence_timeout), convergence.reachable,
                     convergence.pairs, ListPairs(convergence.unreachable));
}

}  // namespace

std::string ConvergenceLine(const scenario::Scenario& scenario,
                            const result::Convergence& convergence) {
  if (convergence.on_demand.value_or(false)) {
    return "routes on demand: the protocol searches for routes when packets need them";
  }
  if (convergence.by_programs.value_or(false)) {
    return "routing: none: the programs of the nodes create routes; the run does not wait for "
           "these routes";
  }
  if (!convergence.unreachable.empty()) return UnconvergedLine(scenario, convergence);
  return fmt::format("converged in {:.1f} s; {} of {} pairs are reachable", convergence.seconds,
                     convergence.reachable, convergence.pairs);
}

void CheckConvergence(const scenario::Scenario& scenario, const result::Convergence& convergence) {
  if (!scenario.convergence_required || convergence.unreachable.empty()) return;
  throw NotConverged(UnconvergedLine(scenario, convergence) +
                         "; raise convergence.timeout, or set convergence.required to false",
                     convergence);
}

Conversation::Conversation(const scenario::Scenario& scenario, SimulatorProcess& simulator,
                           sys::EventLoop& loop, Progress& progress, Machines& machines)
    : SimulatedTraffic(progress),
      scenario_(scenario),
      simulator_(simulator),
      loop_(loop),
      progress_(progress),
      machines_(machines),
      begin_(MonotonicClock::Now()) {
  simulator_.OnOutput([this](const std::string& line) { progress_.Line(line); });
  loop_.Watch(simulator_.fd(), [this] { Read(); });
  machines_.OnConverged([this](const scenario::Go& everywhere) {
    everywhere_ = everywhere;
    simulator_.Tell(everywhere);
  });
  loop_.Watch(simulator_.OutputFd(), [this] {
    if (!simulator_.ReadOutput()) loop_.Forget(simulator_.OutputFd());
  });
}

Conversation::~Conversation() {
  simulator_.OnOutput({});
  machines_.OnConverged({});
  if (watching_keys_) loop_.Forget(STDIN_FILENO);
  loop_.Forget(simulator_.fd());
  loop_.Forget(simulator_.OutputFd());
}

void Conversation::Read() {
  while (const auto event = simulator_.Receive()) {
    std::visit([this](const auto& message) { Take(message); }, *event);
  }
  if (simulator_.Ended()) loop_.Forget(simulator_.fd());
}

void Conversation::Take(const scenario::LabBuilt&) { lab_built_ = true; }

void Conversation::Take(const scenario::SimulatorProgress& progress) {
  if (convergence_) return progress_.Status(fmt::format("{:.1f} s simulated", progress.time));
  progress_.Status(fmt::format("{:.1f} s: {} of {} pairs{} are reachable", progress.time,
                               progress.reachable.value_or(0), progress.pairs.value_or(0),
                               machines_.AreSeveral() ? " of this machine" : ""));
}

void Conversation::Take(const scenario::Passages& passages) { machines_.ReportRoutes(passages); }

void Conversation::Take(const scenario::Converged& converged) {
  convergence_ = converged.convergence;
}

void Conversation::Take(const scenario::TimingNow& now) { timing_ = now.timing; }

void Conversation::Take(const scenario::RouteDifference& difference) { Fail(difference.message); }

void Conversation::Take(const scenario::Note& note) { progress_.Line(note.message); }

void Conversation::Take(const scenario::Resumed& resumed) {
  if (std::exchange(watching_keys_, false)) loop_.Forget(STDIN_FILENO);
  progress_.Line(fmt::format("resumed at {:.6f} s", resumed.time));
}

void Conversation::Take(const scenario::Paused& paused) {
  const std::vector<std::string>& nodes = paused.nodes;
  progress_.Line(
      fmt::format("{} is paused at {:.6f} s; in another terminal:", scenario_.name, paused.time));
  progress_.Line(
      fmt::format("  viaduct view {:<15}show the state in the browser; as text: viaduct ls {}",
                  scenario_.name, scenario_.name));
  if (!nodes.empty()) {
    progress_.Line(fmt::format("  viaduct kernel shell NODE   open a shell on a node ({}{})",
                               nodes[0], nodes.size() > 1 ? " ... " + nodes.back() : ""));
  }
  const bool on_terminal = isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp();
  progress_.Line(fmt::format("  viaduct kernel resume       continue the simulation{}",
                             on_terminal ? ", as does the Enter key here" : ""));
  if (!on_terminal) return;
  watching_keys_ = true;
  loop_.Watch(STDIN_FILENO, [this] {
    char keys[256];
    if (read(STDIN_FILENO, keys, sizeof keys) <= 0) {
      watching_keys_ = false;
      return loop_.Forget(STDIN_FILENO);
    }
    simulator_.Tell(scenario::Resume());
  });
}

double Conversation::WaitForLab() {
  const std::string what =
      fmt::format("{} nodes, {} links", scenario_.nodes.size(), scenario_.links.size());
  progress_.Status(fmt::format("building the lab {}: {}", scenario_.name, what));
  if (!loop_.Run([&] { return lab_built_; }, begin_ + kSetUpTimeout)) {
    throw Error("the simulator hangs: the lab is not built");
  }
  const double seconds = (MonotonicClock::Now() - begin_).ToSeconds();
  progress_.Line(fmt::format("lab {}: {}, built in {:.2f} s", scenario_.name, what, seconds));
  return seconds;
}

result::Convergence Conversation::Everywhere() const {
  result::Convergence reach = *convergence_;
  if (!everywhere_) return reach;
  reach.pairs = everywhere_->pairs;
  // Takes the pairs of nodes for which the routes of all hosts together lack a path. If there are
  // no such pairs, keeps the pairs for which this host was still waiting.
  if (!everywhere_->unreachable.empty()) reach.unreachable = everywhere_->unreachable;
  reach.reachable = reach.pairs - static_cast<uint32_t>(reach.unreachable.size());
  return reach;
}

result::Convergence Conversation::WaitForConvergence() {
  const bool real = scenario_.mode != scenario::Mode::kSimulate;
  const Instant deadline =
      real ? MonotonicClock::Now() + scenario_.convergence_timeout + kConvergenceGrace
           : Instant::Never();
  if (!loop_.Run([&] { return convergence_.has_value(); }, deadline)) {
    throw Error("the simulator hangs: no report about convergence arrives");
  }
  const result::Convergence everywhere = Everywhere();
  CheckConvergence(scenario_, everywhere);
  progress_.Line(ConvergenceLine(scenario_, everywhere));
  return *convergence_;
}

scenario::SimulatorDone Conversation::WaitForReport(bool stop) {
  const auto deadline = [&] {
    return stop ? MonotonicClock::Now() + kReportTimeout : Instant::Never();
  };
  if (stop) simulator_.Tell(scenario::Stop());
  if (!loop_.Run([&] { return report_.has_value(); }, deadline())) {
    throw Error("the simulator hangs: no report arrives");
  }
  loop_.Run([&] { return simulator_.Ended(); }, MonotonicClock::Now() + kReportTimeout);
  return *report_;
}

}  // namespace viaduct::run
