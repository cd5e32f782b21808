#include "guest/embed/guest_thread.h"

#include <thread>

#include "base/error.h"
#include "base/mutex.h"

namespace viaduct::embed {
namespace {

// The GuestThread that exists at present, if any, and its thread.
struct Present {
  Mutex mutex;
  std::weak_ptr<GuestThread> it VIADUCT_GUARDED_BY(mutex);
  std::thread::id thread VIADUCT_GUARDED_BY(mutex);
};

Present present;

const char* UnavailableIn(std::thread::id thread, const std::weak_ptr<GuestThread>& it) {
  return it.expired() || thread == std::this_thread::get_id()
             ? ""
             : "cannot run here: other guests run in another thread of this process";
}

}  // namespace

std::shared_ptr<GuestThread> GuestThread::Join() {
  const MutexLock lock(present.mutex);
  if (const char* why = UnavailableIn(present.thread, present.it); *why != 0) throw Error(why);
  if (auto joined = present.it.lock()) return joined;
  std::shared_ptr<GuestThread> made(new GuestThread);
  present.it = made;
  present.thread = std::this_thread::get_id();
  return made;
}

const char* GuestThread::Unavailable() {
  const MutexLock lock(present.mutex);
  return UnavailableIn(present.thread, present.it);
}

GuestThread::GuestThread() { sigaltstack(nullptr, &simulators_stack_); }

GuestThread::~GuestThread() = default;

// Selects the guest that runs next. The guest sets its signal stack itself when it boots
// (Sigaltstack() of process.cc).
void GuestThread::Change(Context& context) {
  last_ = &context;
  SetContext(&context);
  SetStack(context.signal_stack.ss_sp != nullptr ? context.signal_stack : simulators_stack_);
}

void GuestThread::Forget(Context& context) {
  if (&context != last_) return;
  last_ = nullptr;
  SetContext(nullptr);
  SetStack(simulators_stack_);
}

void GuestThread::SetStack(const stack_t& stack) { sigaltstack(&stack, nullptr); }

}  // namespace viaduct::embed
