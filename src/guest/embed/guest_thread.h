// The thread that all guests of this process share and in which the guests run one at a time, and
// the thread's signals.
#pragma once

#include <csignal>
#include <memory>

#include "guest/embed/context.h"
#include "guest/embed/faults.h"

namespace viaduct::embed {

class GuestThread {
 public:
  // Returns the object for the thread of this process in which guests run. This thread must be the
  // calling thread. The object is created with the first guest and destroyed with the last guest.
  // Throws Error if guests run in another thread.
  static std::shared_ptr<GuestThread> Join();
  // Returns the reason why a guest cannot run in the calling thread; empty if it can.
  static const char* Unavailable();

  GuestThread(const GuestThread&) = delete;
  GuestThread& operator=(const GuestThread&) = delete;
  ~GuestThread();

  // Prepares the thread for running the guest of `context`: faults of the guest's kernel are
  // handled on the guest's stack for signals.
  void Enter(Context& context) {
    if (&context != last_) Change(context);
  }
  // Forgets the guest of `context`, whose memory is about to be released.
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
