// Running a path emulation from start to end: `viaduct path`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "emulate/schedule.h"
#include "engine/config.h"
#include "result/engine.h"

namespace viaduct::emulate {

struct PathOptions {
  engine::Config config;  // an empty name: that of the first pair
  std::optional<Schedule> schedule;
  std::string schedule_file;  // for messages
  std::optional<Duration> duration;
  std::optional<Duration> lateness_limit;
  // Output for a person: the present state, every second (empty: not wanted), and events.
  std::function<void(const std::string&)> status;
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

// Emulates until the duration is over, or until SIGINT, SIGTERM or SIGHUP (the only end of a path
// without a duration). Returns the engine's results with name, seed, seconds and start. There must
// be a steward (privilege/halves.h), whose keeper takes the interfaces (emulate/path_keeper.h);
// they are restored on return, on an exception, and when this process is killed.
result::EngineResult RunPath(PathOptions options);

}  // namespace viaduct::emulate
