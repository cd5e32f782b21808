#include "sys/event_loop.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/clock.h"
#include "base/timespec.h"
#include "sys/signals.h"

namespace viaduct::sys {
namespace {

std::string DescribeInterruption(int signal) {
  return signal == SIGINT ? "interrupted" : signal == SIGTERM ? "terminated" : "hung up";
}

}  // namespace

Interrupted::Interrupted(int signal)
    : Error(fmt::format("{}; everything was cleaned up", DescribeInterruption(signal))),
      signal_(signal) {}

EventLoop::EventLoop() { signals_ = CatchSignals({SIGINT, SIGTERM, SIGHUP}); }

EventLoop::~EventLoop() = default;

void EventLoop::Watch(int fd, std::function<void()> ready) { watchers_[fd] = std::move(ready); }

void EventLoop::Forget(int fd) { watchers_.erase(fd); }

void EventLoop::At(Instant time, std::function<void()> action) {
  actions_.emplace(time, std::move(action));
}

bool EventLoop::Run(const std::function<bool()>& done, Instant deadline) {
  for (;;) {
    RunDueActions();
    if (done()) return true;
    if (MonotonicClock::Now() >= deadline) return false;
    Wait(actions_.empty() ? deadline : std::min(deadline, actions_.begin()->first));
  }
}

void EventLoop::RunDueActions() {
  while (!actions_.empty() && actions_.begin()->first <= MonotonicClock::Now()) {
    const std::function<void()> action = std::move(actions_.begin()->second);
    actions_.erase(actions_.begin());
    action();
  }
}

void EventLoop::Wait(Instant until) {
  std::vector<pollfd> fds = {{signals_.get(), POLLIN, 0}};
  for (const auto& [fd, ready] : watchers_) fds.push_back({fd, POLLIN, 0});
  timespec timeout{3600, 0};
  if (until != Instant::Never()) {
    const int64_t left = std::max<int64_t>(0, (until - MonotonicClock::Now()).nanoseconds());
    timeout = ToTimespec(Duration::Nanoseconds(left));
  }
  if (ppoll(fds.data(), fds.size(), &timeout, nullptr) <= 0) return;
  if (fds[0].revents) ReadSignal();
  for (size_t i = 1; i < fds.size(); ++i) {
    if (!fds[i].revents) continue;
    // A callback may have removed this watcher, or its own.
    const auto watcher = watchers_.find(fds[i].fd);
    if (watcher == watchers_.end()) continue;
    const std::function<void()> ready = watcher->second;
    ready();
  }
}

void EventLoop::ReadSignal() {
  while (const int signal = TakeSignal(signals_.get())) {
    if (!ignore_signals_) throw Interrupted(signal);
  }
}

}  // namespace viaduct::sys
