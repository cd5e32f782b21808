// Waits for many descriptors at once.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct {

// An epoll(7) instance, level-triggered. The watched descriptors still belong to their owners, who
// must remove them from the poller before closing them: a duplicate of a closed descriptor, in any
// process, keeps it in the epoll set. Only one thread may wait; any thread may add and remove
// descriptors.
class Poller {
 public:
  // The ready descriptors that one Wait() returns: each event has the tag of its descriptor in
  // data.u64.
  class Ready {
   public:
    const epoll_event* begin() const { return events_.data(); }
    const epoll_event* end() const { return events_.data() + size_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    // True if no descriptor is ready because a signal was handled; the caller may want to wait
    // again.
    bool interrupted() const { return interrupted_; }

   private:
    friend class Poller;
    // The events: at most 64 for each Wait(). The next calls return further ready descriptors,
    // because epoll returns ready descriptors in rotation.
    std::array<epoll_event, 64> events_;  // only the first size_ elements are set
    size_t size_ = 0;
    bool interrupted_ = false;
  };

  Poller();  // throws SystemError

  // Returns a descriptor that is readable while any watched descriptor is ready, so that another
  // poller can watch this one.
  int fd() const { return epoll_.get(); }
  // Watches `fd` for EPOLL... events; EPOLLERR and EPOLLHUP are always reported. Throws SystemError
  // for a regular file and for a descriptor that is in the set already.
  void Add(int fd, uint64_t tag, uint32_t events = EPOLLIN);
  // Changes the events and the tag of a descriptor that is in the set. Throws SystemError.
  void Change(int fd, uint64_t tag, uint32_t events);
  // Removes a descriptor. Does nothing if the descriptor is closed or not in the set.
  void Remove(int fd);

  // Waits until a descriptor is ready, a signal was handled, or `timeout` has passed. With
  // Duration() it returns at once, with Duration::Max() it waits without limit. Throws SystemError.
  Ready Wait(Duration timeout = Duration::Max());

 private:
  void Control(int operation, int fd, uint64_t tag, uint32_t events);

  UniqueFd epoll_;
};

}  // namespace viaduct
