#include "emulate/path_emulation.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/within.h"
#include "emulate/interfaces.h"
#include "emulate/path_record.h"
#include "engine/classifier.h"
#include "engine/control.h"
#include "engine/describe.h"
#include "engine/engine.h"
#include "engine/live_path.h"
#include "sys/event_loop.h"
#include "sys/guardian.h"
#include "sys/invoking_user.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/process.h"
#include "sys/unix_socket.h"

namespace viaduct::emulate {
namespace {

using nlohmann::json;

// Changes to the invoking user's identity, but keeps the capabilities that are needed to reopen an
// interface.
void BecomeUserWithNetworkPrivileges() {
  sys::AllowHighestPriority();
  sys::FavourOwnSession();
  SystemCall("prctl PR_SET_KEEPCAPS", prctl(PR_SET_KEEPCAPS, 1));
  sys::BecomeInvokingUser();
  if (geteuid() == 0) return;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct keep[2] = {};
  keep[0].permitted = keep[0].effective = 1U << CAP_NET_ADMIN | 1U << CAP_NET_RAW;
  SystemCall("capset", static_cast<int>(syscall(SYS_capset, &header, keep)));
}

PathInfo Introduce(const engine::Config& config) {
  PathInfo info;
  info.uid = sys::InvokingUser().uid;
  info.namespace_inode = sys::NamespaceInode(sys::OpenCurrentNamespace().get());
  info.interfaces = config.ports;
  for (const engine::Pair& pair : config.pairs) info.pairs.push_back(pair.name);
  info.name = config.name;
  if (!info.name.empty()) return info;
  info.name = config.pairs.front().name;
  // A path in another network namespace may have interfaces with the same names.
  const auto paths = ListPaths();
  const bool taken = std::any_of(paths.begin(), paths.end(), [&](const PathInfo& other) {
    return other.alive && other.name == info.name;
  });
  if (taken) info.name += fmt::format("-{}", getpid());
  return info;
}

class PathEmulation {
 public:
  explicit PathEmulation(PathOptions options)
      : options_(std::move(options)),
        info_(Introduce(options_.config)),
        live_(options_.config, [this](const engine::Change& change) { engine_->Apply(change); }) {}

  result::EngineResult Run() {
    sys::EventLoop loop;  // from here on it receives the signals
    CheckSchedule();
    TakeInterfaces();
    RecordPath(&info_);
    const sys::Guardian guardian([this](int connection) {
      sys::AwaitEnd(connection);
      RemovePathRecord(info_);
      for (TakenInterface& interface : interfaces_) interface.GiveBack();
    });
    for (TakenInterface& interface : interfaces_) interface.LeaveToOthers();
    for (const TakenInterface& interface : interfaces_) interface.SwitchOffloadsOff();
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

  void TakeInterfaces() {
    const engine::Classifier check(options_.config);  // before anything is touched
    const std::string holder = fmt::format("path {}, process {}", info_.name, getpid());
    for (const std::string& name : options_.config.ports) interfaces_.emplace_back(name, holder);
  }

  void StartEngine() {
    std::vector<std::unique_ptr<io::AnyPort>> ports;
    for (TakenInterface& interface : interfaces_) ports.push_back(interface.OpenPort());
    const sys::Identity user = sys::InvokingUser();
    listener_ = sys::ListenAt(info_.control_socket(), user.uid, user.gid, SOCK_STREAM);
    monitor_ = std::make_unique<sys::LinkMonitor>(sys::OpenCurrentNamespace().get());
    BecomeUserWithNetworkPrivileges();
    engine::Config config = options_.config;
    config.name = info_.name;
    engine_ = std::make_unique<engine::Engine>(std::move(config), std::move(ports));
    engine_->Start();
    started_ = MonotonicClock::Now();
  }

  void Forward(sys::EventLoop& loop) {
    engine::ControlServer server(
        std::move(listener_),
        [this](const engine::ControlRequest& request) { return Serve(request); });
    loop.Watch(server.Fd(), [&server] { server.Serve(); });
    loop.Watch(monitor_->Fd(), [this] { LookAtLinks(); });
    PlanSchedule(loop);
    PlanStatus(loop);
    options_.note(fmt::format("path {} is on (seed {}){}", info_.name, options_.config.seed,
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
      const ScheduledChange& change = player_->Take();
      try {
        Perform(change, live_);
      } catch (const Error& error) {  // a file it names cannot be read any more
        options_.note(fmt::format("{}:{}: {}; the path is unchanged", options_.schedule_file,
                                  change.line, error.what()));
      }
      PlanSchedule(loop);
    });
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
      for (size_t port = 0; port < interfaces_.size(); ++port) {
        if (interfaces_[port].name() == event.name) LookAtLink(port, event);
      }
    }
  }

  void LookAtLink(size_t port, const sys::LinkEvent& event) {
    TakenInterface& interface = interfaces_[port];
    if (event.removed) {
      if (event.ifindex != interface.ifindex()) return;
      options_.note(fmt::format("interface {} has gone; the path waits for it", event.name));
      return;
    }
    if (event.ifindex == interface.ifindex()) return;
    try {
      interface.SwitchOffloadsOff();
      engine_->ReplacePort(port, interface.OpenPort());
      options_.note(fmt::format("interface {} is back", event.name));
    } catch (const Error& error) {
      options_.note(fmt::format("interface {} is back, but: {}", event.name, error.what()));
    }
  }

  result::EngineResult Describe() {
    result::EngineResult done =
        engine::DescribeStatistics(engine_->Read(), options_.lateness_limit);
    done.name = info_.name;
    done.seed = options_.config.seed;
    done.started = info_.created;
    done.seconds = (MonotonicClock::Now() - started_).ToSeconds();
    return done;
  }

  PathOptions options_;
  PathInfo info_;
  std::vector<TakenInterface> interfaces_;
  UniqueFd listener_;
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
