// Waiting for many descriptors at once.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct {

// An epoll(7) instance, level-triggered. The descriptors stay their owners', who remove them before
// they close them (a duplicate elsewhere keeps a closed one in the set). One thread's, except that
// other threads may add and remove.
class Poller {
 public:
  // What one Wait() found: each event has the tag of its descriptor in data.u64.
  class Ready {
   public:
    const epoll_event* begin() const { return events_.data(); }
    const epoll_event* end() const { return events_.data() + size_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    // It is empty because a signal was handled; its waiter may want to go on.
    bool interrupted() const { return interrupted_; }

   private:
    friend class Poller;
    // A set with more ready descriptors has the others in its next answers: epoll takes turns.
    std::array<epoll_event, 64> events_;  // only the first size_ hold anything
    size_t size_ = 0;
    bool interrupted_ = false;
  };

  Poller();  // throws SystemError

  // Readable while any of its descriptors is ready, so that a poller can be watched by another.
  int fd() const { return epoll_.get(); }
  // Watches `fd` for EPOLL... events; EPOLLERR and EPOLLHUP are always among them. Throws
  // SystemError: a plain file, or a descriptor that is in the set already.
  void Add(int fd, uint64_t tag, uint32_t events = EPOLLIN);
  // The same for a descriptor that is in the set. Throws SystemError.
  void Change(int fd, uint64_t tag, uint32_t events);
  // One that is not in the set, or is closed, is no error.
  void Remove(int fd);

  // Returns when something is ready, a signal was handled, or `patience` has passed:
  // Duration() only looks, Duration::Max() waits without limit. Throws SystemError.
  Ready Wait(Duration patience = Duration::Max());

 private:
  void Control(int operation, int fd, uint64_t tag, uint32_t events);

  UniqueFd epoll_;
};

}  // namespace viaduct
