#include "guest/embed/watchdog.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

#include "base/clock.h"
#include "guest/embed/faults.h"

namespace viaduct::embed {
namespace {

constexpr int kLooks = 10;  // the number of checks during one timeout
constexpr std::chrono::milliseconds kLongest{1000};

}  // namespace

Watchdog::Watchdog(Context& context, const volatile uint64_t& clock)
    : context_(context),
      clock_(clock),
      watched_(static_cast<pid_t>(syscall(SYS_gettid))),
      thread_([this] { Watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  end_.notify_all();
  thread_.join();
}

void Watchdog::Watch() {
  sigset_t all;  // blocks all signals, so that the simulator's handlers run in other threads
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  uint64_t switches = 0, clock = 0;
  Instant since = MonotonicClock::Now();
  std::unique_lock lock(mutex_);
  while (!ends_) {
    const Duration timeout = Duration::Nanoseconds(timeout_);
    const std::chrono::nanoseconds part(timeout.nanoseconds() / kLooks);
    end_.wait_for(lock, timeout > Duration() && part < kLongest ? part : kLongest);
    const Instant now = MonotonicClock::Now();
    if (!context_.inside || context_.switches != switches || clock_ != clock) {
      switches = context_.switches;
      clock = clock_;
      since = now;
    } else if (timeout > Duration() && now - since > timeout) {
      MakeLeave(context_, watched_, switches);
    }
  }
}

}  // namespace viaduct::embed
