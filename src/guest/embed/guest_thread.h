// The thread that all guests of this process share, in which they run one at a time, and its
// signals.
#pragma once

#include <csignal>
#include <memory>

#include "guest/embed/context.h"
#include "guest/embed/faults.h"

namespace viaduct::embed {

class GuestThread {
 public:
  // Returns the thread of this process's guests, which is the calling one; created by the first
  // guest, destroyed with the last. Throws Error when guests run in another thread.
  static std::shared_ptr<GuestThread> Join();
  // Returns the reason why a guest cannot run in the calling thread; empty if it can.
  static const char* Unavailable();

  GuestThread(const GuestThread&) = delete;
  GuestThread& operator=(const GuestThread&) = delete;
  ~GuestThread();

  // Prepares the thread before this guest is let run: faults of its kernel are handled on its stack
  // for signals.
  void Enter(Context& context) {
    if (&context != last_) Change(context);
  }
  // Forgets this guest, whose memory is about to be released.
  void Forget(Context& context);

 private:
  GuestThread();

  void Change(Context& context);
  void SetStack(const stack_t& stack);

  Context* last_ = nullptr;
  stack_t simulators_stack_{};
  Faults faults_;
};

}  // namespace viaduct::embed
