#include "sys/event_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/clock.h"
#include "base/timespec.h"
#include "sys/signals.h"

namespace viaduct::sys {
namespace {

std::string DescribeInterruption(int signal) {
  return signal == SIGINT ? "interrupted" : signal == SIGTERM ? "terminated" : "terminal closed";
}

}  // namespace

Interrupted::Interrupted(int signal)
    : Error(fmt::format("{}; everything was cleaned up", DescribeInterruption(signal))),
      signal_(signal) {}

EventLoop::EventLoop()
    : EventLoop(CatchSignals({SIGINT, SIGTERM, SIGHUP}),
                [](int signal) { throw Interrupted(signal); }) {}

EventLoop::EventLoop(UniqueFd signals, std::function<void(int)> handle)
    : signals_(std::move(signals)), handle_(std::move(handle)) {}

EventLoop::~EventLoop() = default;

void EventLoop::Watch(int fd, std::function<void()> ready, short events) {
  watchers_[fd] = {std::move(ready), events};
}

void EventLoop::Forget(int fd) { watchers_.erase(fd); }

void EventLoop::At(Instant time, std::function<void()> action) {
  actions_.emplace(time, std::move(action));
}

bool EventLoop::Run(const std::function<bool()>& done, Instant deadline) {
  for (;;) {
    RunDueAction();
    if (done()) return true;
    // Waits for descriptors once even after the deadline, because a caller that misses every
    // deadline would otherwise never receive a signal.
    const bool is_over = MonotonicClock::Now() >= deadline;
    Wait(actions_.empty() ? deadline : std::min(deadline, actions_.begin()->first));
    if (is_over) return done();
  }
}

// Runs at most one action: many actions may be due at once, run long, and add actions that are due
// already. If all due actions ran here, signals and descriptors would be checked only after the
// last action.
void EventLoop::RunDueAction() {
  if (actions_.empty() || actions_.begin()->first > MonotonicClock::Now()) return;
  const std::function<void()> action = std::move(actions_.begin()->second);
  actions_.erase(actions_.begin());
  action();
}

void EventLoop::Wait(Instant until) {
  std::vector<pollfd> fds = {{signals_.get(), POLLIN, 0}};
  for (const auto& [fd, watcher] : watchers_) fds.push_back({fd, watcher.events, 0});
  timespec timeout{3600, 0};
  if (until != Instant::Never()) {
    const int64_t left = std::max<int64_t>(0, (until - MonotonicClock::Now()).nanoseconds());
    timeout = ToTimespec(Duration::Nanoseconds(left));
  }
  if (ppoll(fds.data(), fds.size(), &timeout, nullptr) <= 0) return;
  if (fds[0].revents) ReadSignal();
  for (size_t i = 1; i < fds.size(); ++i) {
    if (!fds[i].revents) continue;
    // The previous callback may have removed this watcher, or the watcher to which that callback
    // belongs.
    const auto watcher = watchers_.find(fds[i].fd);
    if (watcher == watchers_.end()) continue;
    const std::function<void()> ready = watcher->second.ready;
    ready();
  }
}

void EventLoop::ReadSignal() {
  while (const int signal = TakeSignal(signals_.get())) handle_(signal);
}

}  // namespace viaduct::sys
