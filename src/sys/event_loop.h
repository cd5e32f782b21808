// A single-threaded event loop for descriptors, timers and termination signals.
#pragma once

#include <poll.h>

#include <functional>
#include <map>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"

namespace viaduct::sys {

// The exception that reports that a SIGINT, SIGTERM or SIGHUP has arrived. The exit status is 128 +
// signal, as in a shell.
class Interrupted : public Error {
 public:
  explicit Interrupted(int signal);
  int signal() const { return signal_; }

 private:
  int signal_;
};

class EventLoop {
 public:
  // Blocks SIGINT, SIGTERM and SIGHUP for this process, so that only Run() receives these signals.
  EventLoop();
  // Makes the loop call `handle` for the signals of this descriptor (sys/signals.h). Run() throws
  // the exceptions of `handle`.
  EventLoop(UniqueFd signals, std::function<void(int signal)> handle);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `ready` while `fd` is readable (or meets other `events` of poll(2)) or its other end is
  // closed. A descriptor has at most one watcher.
  void Watch(int fd, std::function<void()> ready, short events = POLLIN);
  void Forget(int fd);
  // Calls `action` at `time` of the monotonic clock; actions of the same time run in the order in
  // which they were added.
  void At(Instant time, std::function<void()> action);
  // Runs until `done()` is true or `deadline` has passed; returns done(). Checks signals and
  // descriptors between two actions, and at least once. Throws Interrupted, and any exception of a
  // callback.
  bool Run(const std::function<bool()>& done, Instant deadline = Instant::Never());
  // Makes this process discard signals, so that signals cannot interrupt the clean-up.
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
