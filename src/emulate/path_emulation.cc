#include "emulate/path_emulation.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/within.h"
#include "emulate/path_keeper.h"
#include "emulate/path_report.h"
#include "engine/classifier.h"
#include "engine/control.h"
#include "engine/describe.h"
#include "engine/engine.h"
#include "engine/live_path.h"
#include "sys/event_loop.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/process.h"

namespace viaduct::emulate {
namespace {

using nlohmann::json;

class PathEmulation {
 public:
  explicit PathEmulation(PathOptions options)
      : options_(std::move(options)),
        live_(options_.config, [this](const engine::Change& change) { engine_->Apply(change); }) {}

  result::EngineResult Run() {
    sys::EventLoop loop;  // from here on it receives the signals
    CheckSchedule();
    const engine::Classifier check(options_.config);  // before anything is touched
    kept_.emplace(options_.config);
    StartEngine();
    Forward(loop);
    engine_->Stop();
    return Describe();
  }

 private:
  void CheckSchedule() {
    if (!options_.schedule) return;
    for (const ScheduledChange& change : options_.schedule->changes) {
      Within(fmt::format("{}:{}", options_.schedule_file, change.line),
             [&] { live_.Check(change.target); });
    }
    player_.emplace(*options_.schedule);
  }

  void StartEngine() {
    std::vector<std::unique_ptr<io::AnyPort>> ports;
    for (size_t port = 0; port < options_.config.ports.size(); ++port) {
      ports.push_back(kept_->OpenPort(port));
    }
    monitor_ = std::make_unique<sys::LinkMonitor>(sys::OpenCurrentNamespace().get());
    sys::FavourOwnSession();
    engine::Config config = options_.config;
    config.name = kept_->name();
    engine_ = std::make_unique<engine::Engine>(std::move(config), std::move(ports));
    // What is due at its start is due before the first frame.
    while (player_ && player_->NextAt() == Duration()) PerformNext();
    engine_->Start();
    started_ = MonotonicClock::Now();
  }

  void Forward(sys::EventLoop& loop) {
    engine::ControlServer server(
        kept_->TakeListener(),
        [this](const engine::ControlRequest& request) { return Serve(request); });
    loop.Watch(server.Fd(), [&server] { server.Serve(); });
    loop.Watch(monitor_->Fd(), [this] { LookAtLinks(); });
    loop.Watch(kept_->Fd(), [] { throw Error("root's half of the path has died"); });
    PlanSchedule(loop);
    PlanStatus(loop);
    options_.note(fmt::format("path {} is on (seed {}){}", kept_->name(), options_.config.seed,
                              options_.duration ? "" : "; end it with Ctrl-C"));
    try {
      loop.Run([] { return false; },
               options_.duration ? started_ + *options_.duration : Instant::Never());
    } catch (const sys::Interrupted&) {
      // This is the normal end of a path without a duration.
    }
    loop.IgnoreSignals();
  }

  json Serve(const engine::ControlRequest& request) {
    if (request.kind == engine::ControlRequest::Kind::kStats) return {{"stats", Describe()}};
    engine::PerformSet(request, options_.config, live_);
    return json::object();
  }

  void PlanSchedule(sys::EventLoop& loop) {
    const auto next = player_ ? player_->NextAt() : std::nullopt;
    if (!next) return;
    loop.At(started_ + *next, [this, &loop] {
      PerformNext();
      PlanSchedule(loop);
    });
  }

  void PerformNext() {
    const ScheduledChange& change = player_->Take();
    try {
      Perform(change, live_);
    } catch (const Error& error) {  // a file it names cannot be read any more
      options_.note(fmt::format("{}:{}: {}; the path is unchanged", options_.schedule_file,
                                change.line, error.what()));
    }
  }

  void PlanStatus(sys::EventLoop& loop) {
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

  void LookAtLinks() {
    for (const sys::LinkEvent& event : monitor_->Read()) {
      const std::vector<std::string>& names = options_.config.ports;
      for (size_t port = 0; port < names.size(); ++port) {
        if (names[port] == event.name) LookAtLink(port, event);
      }
    }
  }

  void LookAtLink(size_t port, const sys::LinkEvent& event) {
    if (event.removed) {
      if (event.ifindex != kept_->ifindex(port)) return;
      options_.note(fmt::format("interface {} has gone; the path waits for it", event.name));
      return;
    }
    if (event.ifindex == kept_->ifindex(port)) return;
    try {
      engine_->ReplacePort(port, kept_->OpenPort(port));
      options_.note(fmt::format("interface {} is back", event.name));
    } catch (const Error& error) {
      options_.note(fmt::format("interface {} is back, but: {}", event.name, error.what()));
    }
  }

  result::EngineResult Describe() {
    result::EngineResult done =
        engine::DescribeStatistics(engine_->Read(), options_.lateness_limit);
    done.name = kept_->name();
    done.seed = options_.config.seed;
    done.started = kept_->created();
    done.seconds = (MonotonicClock::Now() - started_).ToSeconds();
    return done;
  }

  PathOptions options_;
  std::optional<KeptPath> kept_;
  std::unique_ptr<sys::LinkMonitor> monitor_;
  std::unique_ptr<engine::Engine> engine_;
  engine::LivePath live_;
  std::optional<SchedulePlayer> player_;
  Instant started_;
};

}  // namespace

result::EngineResult RunPath(PathOptions options) {
  return PathEmulation(std::move(options)).Run();
}

}  // namespace viaduct::emulate
