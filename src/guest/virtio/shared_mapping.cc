#include "guest/virtio/shared_mapping.h"

#include <sys/mman.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/error.h"

namespace viaduct::guest {

// All mappings of this process. The lock is a spin lock, because the handler of SIGBUS takes it as
// well. The handler's thread never holds the lock already, because no mapping is accessed while the
// lock is held.
struct SharedMappings {
  static void Add(SharedMapping& mapping) {
    static const bool installed = Install();
    (void)installed;
    const Lock lock;
    mapping.next_ = first;
    first = &mapping;
  }

  static void Remove(const SharedMapping& mapping) {
    const Lock lock;
    SharedMapping** at = &first;
    while (*at != &mapping) at = &(*at)->next_;
    *at = mapping.next_;
  }

 private:
  struct Lock {
    Lock() {
      while (busy.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { busy.clear(std::memory_order_release); }
  };

  static bool Install() {
    struct sigaction action {};
    action.sa_sigaction = &Handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    SystemCall("sigaction SIGBUS", sigaction(SIGBUS, &action, &before));
    return true;
  }

  static void Handle(int, siginfo_t* info, void*) {
    if (info->si_code > 0 && Replace(info->si_addr)) return;
    // The fault is outside all mappings, so the access is repeated with the handler of SIGBUS that
    // was installed before this handler.
    sigaction(SIGBUS, &before, nullptr);
    if (info->si_code <= 0) raise(SIGBUS);  // a process, not a fault, has sent the signal
  }

  static bool Replace(const void* address) {
    const Lock lock;
    for (SharedMapping* mapping = first; mapping != nullptr; mapping = mapping->next_) {
      const auto offset =
          reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(mapping->start_);
      if (offset >= mapping->length_) continue;
      mapping->lost_.store(true, std::memory_order_relaxed);
      const int saved = errno;
      const void* zeros = mmap(mapping->start_, mapping->length_, PROT_READ | PROT_WRITE,
                               MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      errno = saved;
      return zeros != MAP_FAILED;
    }
    return false;
  }

  static inline std::atomic_flag busy = ATOMIC_FLAG_INIT;
  static inline SharedMapping* first = nullptr;
  static inline struct sigaction before {};
};

SharedMapping::SharedMapping(const UniqueFd& fd, size_t length) : length_(length) {
  void* start = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (start == MAP_FAILED) throw SystemError("map a guest's memory", errno);
  start_ = static_cast<std::byte*>(start);
  SharedMappings::Add(*this);
}

SharedMapping::~SharedMapping() {
  SharedMappings::Remove(*this);
  munmap(start_, length_);
}

}  // namespace viaduct::guest
