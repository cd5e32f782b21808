#include "engine/waiter.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <cerrno>

#include "base/error.h"
#include "sys/process.h"

namespace viaduct::engine {

Waiter::Waiter()
    : epoll_(SystemCall("epoll_create1", epoll_create1(EPOLL_CLOEXEC))),
      wake_(SystemCall("eventfd", eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  Listen(wake_.get(), kWakeTag);
}

void Waiter::Listen(int fd, uint32_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = tag;
  SystemCall("epoll_ctl", epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event));
}

void Waiter::Ignore(int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

void Waiter::Sleep(Duration duration, const std::function<void(uint32_t)>& ready) {
  std::array<epoll_event, 64> events;
  timespec limit{};
  const bool limited = duration != Duration::Max();
  if (limited && duration > Duration()) {
    limit.tv_sec = duration.nanoseconds() / 1000000000;
    limit.tv_nsec = duration.nanoseconds() % 1000000000;
  }
  const int count = epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 limited ? &limit : nullptr, nullptr);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.u32 != kWakeTag) {
      ready(events[i].data.u32);
      continue;
    }
    eventfd_t value;
    eventfd_read(wake_.get(), &value);
  }
}

void Waiter::Wake() { eventfd_write(wake_.get(), 1); }

void PrepareThread() {
  prctl(PR_SET_TIMERSLACK, 1);
  sys::TakeHighestPriority();
}

void PinThread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  SystemCall(fmt::format("bind the thread to processor {}", cpu),
             sched_setaffinity(0, sizeof(set), &set));
}

}  // namespace viaduct::engine
