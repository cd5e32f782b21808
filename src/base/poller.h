// Waiting for many descriptors at once.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct {

// An epoll(7) instance, level-triggered. The descriptors still belong to their owners, who must
// remove them before closing them (a duplicate elsewhere would keep a closed one in the set). Only
// one thread may wait; any thread may add and remove.
class Poller {
 public:
  // What one Wait() found: each event has the tag of its descriptor in data.u64.
  class Ready {
   public:
    const epoll_event* begin() const { return events_.data(); }
    const epoll_event* end() const { return events_.data() + size_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    // True if nothing is ready because a signal was handled; the caller may want to wait again.
    bool interrupted() const { return interrupted_; }

   private:
    friend class Poller;
    // Further ready descriptors are returned by the next calls: epoll takes turns among them.
    std::array<epoll_event, 64> events_;  // only the first size_ hold anything
    size_t size_ = 0;
    bool interrupted_ = false;
  };

  Poller();  // throws SystemError

  // Readable while any of its descriptors is ready, so that a poller can be watched by another.
  int fd() const { return epoll_.get(); }
  // Watches `fd` for EPOLL... events; EPOLLERR and EPOLLHUP are always reported. Throws SystemError
  // for a regular file and for a descriptor that is in the set already.
  void Add(int fd, uint64_t tag, uint32_t events = EPOLLIN);
  // Changes the events and the tag of a descriptor that is in the set. Throws SystemError.
  void Change(int fd, uint64_t tag, uint32_t events);
  // Removes a descriptor. It is no error if it is not in the set, or closed.
  void Remove(int fd);

  // Returns when something is ready, a signal was handled, or `timeout` has passed:
  // Duration() returns at once, Duration::Max() waits without limit. Throws SystemError.
  Ready Wait(Duration timeout = Duration::Max());

 private:
  void Control(int operation, int fd, uint64_t tag, uint32_t events);

  UniqueFd epoll_;
};

}  // namespace viaduct
