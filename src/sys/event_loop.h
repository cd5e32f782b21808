// A single-threaded event loop for descriptors, timers and termination signals.
#pragma once

#include <functional>
#include <map>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"

namespace viaduct::sys {

// SIGINT, SIGTERM or SIGHUP arrived. The exit status is 128 + signal, as in a shell.
class Interrupted : public Error {
 public:
  explicit Interrupted(int signal);
  int signal() const { return signal_; }

 private:
  int signal_;
};

class EventLoop {
 public:
  // Blocks SIGINT, SIGTERM and SIGHUP for this process: only Run() sees them from now on.
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `ready` while `fd` is readable or its other end is closed. A descriptor has one watcher
  // at most.
  void Watch(int fd, std::function<void()> ready);
  void Forget(int fd);
  // Calls `action` at `time` of the monotonic clock; actions of the same time run in the order they
  // were added.
  void At(Instant time, std::function<void()> action);
  // Runs until `done()` is true or `deadline` has passed; returns done(). Throws Interrupted, and
  // whatever a callback throws.
  bool Run(const std::function<bool()>& done, Instant deadline = Instant::Never());
  // From now on signals are discarded, so that they cannot interrupt the clean-up.
  void IgnoreSignals() { ignore_signals_ = true; }

 private:
  void RunDueActions();
  void Wait(Instant until);
  void ReadSignal();

  UniqueFd signals_;
  bool ignore_signals_ = false;
  std::map<int, std::function<void()>> watchers_;
  std::multimap<Instant, std::function<void()>> actions_;
};

}  // namespace viaduct::sys
