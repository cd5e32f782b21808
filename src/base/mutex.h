// A mutex whose use clang's thread safety analysis checks (setup/check-locks, a step of lint).
// libstdc++'s mutex has no annotations. For compilers other than clang the annotations are empty.
#pragma once

#include <mutex>

#ifdef __clang__
#define VIADUCT_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define VIADUCT_THREAD_SAFETY(attribute)
#endif

// Declares that a member is read and written only while `mutex` is held.
#define VIADUCT_GUARDED_BY(mutex) VIADUCT_THREAD_SAFETY(guarded_by(mutex))

namespace viaduct {

// A mutex that meets the BasicLockable requirements, so that std::condition_variable_any can wait
// with it.
class VIADUCT_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  void lock() VIADUCT_THREAD_SAFETY(acquire_capability()) { mutex_.lock(); }
  void unlock() VIADUCT_THREAD_SAFETY(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds a mutex from the constructor to the destructor.
class VIADUCT_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) VIADUCT_THREAD_SAFETY(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() VIADUCT_THREAD_SAFETY(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace viaduct
