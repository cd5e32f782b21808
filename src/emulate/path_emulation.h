// A path from start to end: `viaduct path`.
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
  // What is told to a person: the present state, every second (nothing: nobody looks), and events.
  std::function<void(const std::string&)> status;
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

// Emulates until the duration is over, or SIGINT, SIGTERM or SIGHUP (how a path without one ends).
// Returns what the engine has done, with name, seed, seconds and start. Needs root; forwards with
// the invoking user's identity. Everything is given back on return, on an exception, and when
// this process is killed.
result::EngineResult RunPath(PathOptions options);

}  // namespace viaduct::emulate
