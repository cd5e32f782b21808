#include "sys/hybrid_waiter.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace viaduct::sys {

HybridWaiter::HybridWaiter()
    : wake_(SystemCall("eventfd", eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  poller_.Add(wake_.get(), kWoken);
}

Poller::Ready HybridWaiter::Sleep(Duration duration) {
  const Poller::Ready ready = poller_.Wait(duration);
  const bool woken = std::any_of(ready.begin(), ready.end(),
                                 [](const epoll_event& event) { return event.data.u64 == kWoken; });
  eventfd_t count;
  if (woken) eventfd_read(wake_.get(), &count);
  return ready;
}

void HybridWaiter::Wake() const {
  const int saved = errno;
  // The write fails only if the counter of the eventfd is full, and a full counter wakes the loop
  // too.
  eventfd_write(wake_.get(), 1);
  errno = saved;
}

}  // namespace viaduct::sys
