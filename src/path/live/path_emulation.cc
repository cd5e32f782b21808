#include "path/live/path_emulation.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/within.h"
#include "path/engine/classifier.h"
#include "path/engine/describe.h"
#include "path/live/path_keeper.h"
#include "path/live/path_report.h"
#include "sys/network/netns.h"
#include "sys/process/process.h"

namespace viaduct::path {

PathEmulation::PathEmulation(PathOptions options)
    : options_(std::move(options)),
      live_(
          options_.config, [this](const engine::Change& change) { engine_->Check(change); },
          [this](const engine::Change& change) { engine_->Apply(change); }) {
  CheckSchedule();
  const engine::Classifier check(options_.config);
}

void PathEmulation::Start(std::unique_ptr<PathPorts> ports, sys::EventLoop& loop) {
  ports_ = std::move(ports);
  StartEngine();
  server_ = std::make_unique<engine::ControlServer>(
      ports_->TakeListener(),
      [this](const engine::ControlRequest& request) { return Serve(request); });
  loop.Watch(server_->fd(), [this] { server_->Serve(); });
  if (monitor_) loop.Watch(monitor_->fd(), [this] { LookAtLinks(); });
  loop.Watch(ports_->fd(),
             [] { throw Error("the path's process that runs as root has exited unexpectedly"); });
  PlanSchedule(loop);
  PlanStatus(loop);
}

Instant PathEmulation::EndsAt() const {
  return options_.duration ? started_ + *options_.duration : Instant::Never();
}

void PathEmulation::CheckSchedule() {
  if (!options_.schedule) return;
  engine::ChangeTrial trial(options_.config);
  engine::LivePath tried(
      options_.config, [](const engine::Change&) {},
      [&](const engine::Change& change) { trial.Apply(change); });
  // The second round of a schedule's loop begins with the SPECs that the first round has left.
  for (int round = 0; round < (options_.schedule->loop ? 2 : 1); ++round) {
    for (const ScheduledChange& change : options_.schedule->changes) {
      Within(fmt::format("{}:{}", options_.schedule_file, change.line),
             [&] { Perform(change, tried); });
    }
  }
  player_.emplace(*options_.schedule);
}

void PathEmulation::StartEngine() {
  std::vector<std::unique_ptr<io::AnyPort>> ports;
  for (size_t port = 0; port < options_.config.ports.size(); ++port) {
    ports.push_back(ports_->OpenPort(port));
  }
  if (ports_->CanComeBack()) {
    monitor_ = std::make_unique<sys::LinkMonitor>(sys::OpenCurrentNamespace().get());
  }
  sys::FavourOwnSession();
  engine::Config config = options_.config;
  config.name = ports_->name();
  engine_ = std::make_unique<engine::Engine>(std::move(config), std::move(ports));
  // Changes that are due at the start are made before the first frame.
  while (player_ && player_->NextAt() == Duration()) PerformNext();
  engine_->Start();
  started_ = MonotonicClock::Now();
}

nlohmann::json PathEmulation::Serve(const engine::ControlRequest& request) {
  if (request.kind == engine::ControlRequest::Kind::kStats) return {{"stats", Describe()}};
  if (request.kind != engine::ControlRequest::Kind::kSet) {
    throw UsageError("this path has no remote nodes");
  }
  engine::PerformSet(request, options_.config, live_);
  return nlohmann::json::object();
}

void PathEmulation::PlanSchedule(sys::EventLoop& loop) {
  const auto next = player_ ? player_->NextAt() : std::nullopt;
  if (!next) return;
  loop.At(started_ + *next, [this, &loop] {
    PerformNext();
    PlanSchedule(loop);
  });
}

void PathEmulation::PerformNext() {
  const ScheduledChange& change = player_->Take();
  try {
    Perform(change, live_);
  } catch (const std::exception& error) {  // a file that the change names can no longer be read
    failures_.push_back(fmt::format("{}:{}: {}; the path is unchanged", options_.schedule_file,
                                    change.line, error.what()));
    options_.note(failures_.back());
  }
}

void PathEmulation::PlanStatus(sys::EventLoop& loop) {
  if (!options_.status) return;
  loop.At(MonotonicClock::Now() + Duration::Seconds(1), [this, &loop] {
    const engine::Statistics statistics = engine_->Read();
    uint64_t arrived = 0, delivered = 0, waiting = 0;
    for (const auto& pipeline : statistics.pipelines) {
      arrived += pipeline.counters.arrived;
      delivered += pipeline.counters.of(path::Fate::kDelivered);
      waiting += pipeline.waiting;
    }
    options_.status(fmt::format(
        "{:.0f} s: {} packets arrived, {} delivered, {} waiting; lateness p99 {:.1f} us",
        (MonotonicClock::Now() - started_).ToSeconds(), arrived, delivered, waiting,
        static_cast<double>(statistics.lateness.Quantile(0.99)) / 1e3));
    PlanStatus(loop);
  });
}

void PathEmulation::LookAtLinks() {
  for (const sys::LinkEvent& event : monitor_->Read()) {
    const std::vector<std::string>& names = options_.config.ports;
    for (size_t port = 0; port < names.size(); ++port) {
      if (names[port] == event.name) LookAtLink(port, event);
    }
  }
}

void PathEmulation::LookAtLink(size_t port, const sys::LinkEvent& event) {
  if (event.removed) {
    if (event.ifindex != ports_->ifindex(port)) return;
    gone_.insert(port);
    options_.note(fmt::format(
        "interface {} has disappeared; the path waits for the interface to return", event.name));
    return;
  }
  // If an interface was in another network namespace in the meantime, it has kept its index, but
  // its port must be opened again, because the interface has lost its sockets.
  if (event.ifindex == ports_->ifindex(port) && !gone_.contains(port)) return;
  try {
    engine_->ReplacePort(port, ports_->OpenPort(port));
    gone_.erase(port);
    options_.note(fmt::format("interface {} is back", event.name));
  } catch (const Error& error) {
    options_.note(
        fmt::format("interface {} is back, but cannot be used: {}", event.name, error.what()));
  }
}

result::EngineResult PathEmulation::Describe() const {
  result::EngineResult done = engine::DescribeStatistics(engine_->Read(), options_.lateness_limit);
  done.failures.insert(done.failures.end(), failures_.begin(), failures_.end());
  done.verdict = result::UnlessFailed(done.verdict, done.failures);
  done.name = ports_->name();
  done.seed = options_.config.seed;
  done.started = ports_->created();
  done.seconds = (MonotonicClock::Now() - started_).ToSeconds();
  return done;
}

result::EngineResult RunPath(PathOptions options) {
  sys::EventLoop loop;  // receives signals as soon as it is constructed
  PathEmulation path(std::move(options));
  const PathOptions& given = path.options();
  auto ports = std::make_unique<KeptPath>(given.config, given.port, given.note);
  const std::string name = ports->name();
  path.Start(std::move(ports), loop);
  given.note(fmt::format("path {} is running (seed {}){}", name, given.config.seed,
                         given.duration ? "" : "; end the path with Ctrl-C"));
  try {
    loop.Run([] { return false; }, path.EndsAt());
  } catch (const sys::Interrupted&) {
    // A signal is the normal end of a path without a duration.
  }
  loop.IgnoreSignals();
  path.Stop();
  return path.Describe();
}

}  // namespace viaduct::path
