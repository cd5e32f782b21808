// Running a path emulation from start to end: `viaduct path`, and the path of `viaduct shell`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/result/engine.h"
#include "base/time.h"
#include "path/engine/config.h"
#include "path/engine/control.h"
#include "path/engine/engine.h"
#include "path/engine/live_path.h"
#include "path/live/path_ports.h"
#include "path/live/schedule.h"
#include "sys/event_loop.h"
#include "sys/network/link.h"

namespace viaduct::path {

struct PathOptions {
  engine::Config config;  // if its name is empty, the path gets the name of the first pair
  std::optional<Schedule> schedule;
  std::string schedule_file;  // name of the schedule's file, for messages
  std::optional<Duration> duration;
  std::optional<Duration> lateness_limit;
  PortKind port = PortKind::kAfPacket;
  // Output for a person: `status` receives the current state every second (empty: no output);
  // `note` receives events.
  std::function<void(const std::string&)> status;
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

// One path: its engine, control socket, schedule and interfaces. An event loop of the caller, which
// must outlive the path, serves all parts except the engine.
class PathEmulation {
 public:
  // Throws UsageError if the options contradict each other. Does not change any interface.
  explicit PathEmulation(PathOptions options);
  PathEmulation(const PathEmulation&) = delete;
  PathEmulation& operator=(const PathEmulation&) = delete;

  // Starts the path; schedule changes that are due at the start are made before the first frame.
  // Throws Error if the path cannot be started.
  void Start(std::unique_ptr<PathPorts> ports, sys::EventLoop& loop);
  // Returns the end of the path's duration; Never() if the duration is not limited.
  Instant EndsAt() const;
  engine::Statistics Read() const { return engine_->Read(); }
  void Stop() { engine_->Stop(); }
  // Returns the engine's results with the path's name, seed, time of creation and duration in
  // seconds.
  result::EngineResult Describe() const;

  const PathOptions& options() const { return options_; }

 private:
  void CheckSchedule();
  void StartEngine();
  nlohmann::json Serve(const engine::ControlRequest& request);
  void PlanSchedule(sys::EventLoop& loop);
  void PerformNext();
  void PlanStatus(sys::EventLoop& loop);
  void LookAtLinks();
  void LookAtLink(size_t port, const sys::LinkEvent& event);

  PathOptions options_;
  std::unique_ptr<PathPorts> ports_;
  std::unique_ptr<sys::LinkMonitor> monitor_;
  std::set<size_t> gone_;  // ports whose interface has left the namespace
  std::unique_ptr<engine::Engine> engine_;
  engine::LivePath live_;
  std::unique_ptr<engine::ControlServer> server_;
  std::optional<SchedulePlayer> player_;
  std::vector<std::string> failures_;  // failed changes of the schedule
  Instant started_;
};

// Emulates a path until its duration is over, or until SIGINT, SIGTERM or SIGHUP (the only end of a
// path without a duration). Returns the results. There must be a steward (sys/privilege/halves.h),
// whose keeper takes the interfaces (path/live/path_keeper.h); the interfaces are restored on
// return, on an exception, and when this process is killed.
result::EngineResult RunPath(PathOptions options);

}  // namespace viaduct::path
