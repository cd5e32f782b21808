// An event loop: descriptors, timers, and the user's signals, on one thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"

namespace viaduct::sys {

// SIGINT, SIGTERM or SIGHUP arrived. The exit status is 128 + signal, as a shell would say.
class Interrupted : public Error {
 public:
  explicit Interrupted(int signal);
  int signal() const { return signal_; }

 private:
  int signal_;
};

class EventLoop {
 public:
  // Blocks SIGINT, SIGTERM and SIGHUP for this process from here on: they are seen by Run() only.
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Calls `ready` while `fd` is readable or closed at the other end. One watcher a descriptor.
  void Watch(int fd, std::function<void()> ready);
  void Forget(int fd);
  // Calls `action` at that time of the monotonic clock; those of one time in the order given.
  void At(Instant time, std::function<void()> action);
  // Works until `done()` or `deadline`; returns done(). Throws Interrupted, and whatever a callback
  // throws.
  bool Run(const std::function<bool()>& done, Instant deadline = Instant::Never());
  // From now on signals are taken and dropped: cleaning up must not be cut short.
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
