// How a thread sleeps: until an instant, or until one of the descriptors it listens to is ready.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct::engine {

// One thread's, except Wake().
class Waiter {
 public:
  Waiter();  // throws SystemError
  // From now on a readable `fd` ends Sleep(), which then reports `tag`. A listened-to descriptor
  // costs whoever makes it readable a call back, so busy ones are not listened to.
  void Listen(int fd, uint32_t tag);
  void Ignore(int fd);
  // Returns after `duration` at the latest (Duration::Max(): no limit), and calls `ready` for each
  // ready descriptor. Zero only looks.
  void Sleep(Duration duration, const std::function<void(uint32_t)>& ready);
  // Any thread: ends the Sleep() that is under way, or the next.
  void Wake();

 private:
  static constexpr uint32_t kWakeTag = UINT32_MAX;
  UniqueFd epoll_;
  UniqueFd wake_;
};

// Timer slack of 1 ns (the default of 50 us is added to every sleep) and the highest priority that
// is permitted. Never a real-time class: together with spinning the kernel's throttle stalls it.
void PrepareThread();
// Binds the calling thread to one processor. Throws SystemError.
void PinThread(int cpu);

}  // namespace viaduct::engine
