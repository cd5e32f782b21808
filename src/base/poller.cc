#include "base/poller.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/error.h"
#include "base/timespec.h"

namespace viaduct {

Poller::Poller() : epoll_(SystemCall("epoll_create1", epoll_create1(EPOLL_CLOEXEC))) {}

void Poller::Control(int operation, int fd, uint64_t tag, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  if (epoll_ctl(epoll_.get(), operation, fd, &event) == 0) return;
  throw SystemError("epoll_ctl of descriptor " + std::to_string(fd), errno);
}

void Poller::Add(int fd, uint64_t tag, uint32_t events) { Control(EPOLL_CTL_ADD, fd, tag, events); }

void Poller::Change(int fd, uint64_t tag, uint32_t events) {
  Control(EPOLL_CTL_MOD, fd, tag, events);
}

void Poller::Remove(int fd) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

Poller::Ready Poller::Wait(Duration timeout) {
  const bool limited = timeout != Duration::Max();
  const timespec limit = ToTimespec(limited ? std::max(timeout, Duration()) : Duration());
  Ready ready;
  const int count =
      epoll_pwait2(epoll_.get(), ready.events_.data(), static_cast<int>(ready.events_.size()),
                   limited ? &limit : nullptr, nullptr);
  if (count < 0 && errno != EINTR) throw SystemError("epoll_pwait2", errno);
  ready.interrupted_ = count < 0;
  if (count > 0) ready.size_ = static_cast<size_t>(count);
  return ready;
}

}  // namespace viaduct
