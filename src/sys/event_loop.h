// A single-threaded event loop for descriptors, timers and termination signals.
#pragma once

#include <poll.h>

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
  // Has the signals of this descriptor (sys/signals.h) handled instead; what `handle` throws, Run()
  // throws.
  EventLoop(UniqueFd signals, std::function<void(int signal)> handle);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `ready` while `fd` is readable (or what else poll(2) shall look for) or its other end is
  // closed. A descriptor has one watcher at most.
  void Watch(int fd, std::function<void()> ready, short events = POLLIN);
  void Forget(int fd);
  // Calls `action` at `time` of the monotonic clock; actions of the same time run in the order they
  // were added.
  void At(Instant time, std::function<void()> action);
  // Runs until `done()` is true or `deadline` has passed; returns done(). Between two actions, and
  // at least once, it looks at the signals and descriptors. Throws Interrupted, and whatever a
  // callback throws.
  bool Run(const std::function<bool()>& done, Instant deadline = Instant::Never());
  // From now on signals are discarded, so that they cannot interrupt the clean-up.
  void IgnoreSignals() {
    handle_ = [](int) {};
  }

 private:
  void RunDueAction();
  void Wait(Instant until);
  void ReadSignal();

  struct Watcher {
    std::function<void()> ready;
    short events;
  };

  UniqueFd signals_;
  std::function<void(int)> handle_;
  std::map<int, Watcher> watchers_;
  std::multimap<Instant, std::function<void()>> actions_;
};

}  // namespace viaduct::sys
