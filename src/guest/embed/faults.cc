#include "guest/embed/faults.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "guest/embed/context.h"
#include "guest/embed/stacks.h"

namespace viaduct::embed {
namespace {

struct sigaction before[NSIG];
std::atomic<bool> installed{false};

using Handler = void (*)(int, siginfo_t*, void*);

void OnFault(int number, siginfo_t* info, void* interrupted) {
  if (!installed || !IsAnybodyHere() || (!Here().inside && !Here().copy)) {
    sigaction(number, &before[number], nullptr);  // after the return, the instruction faults again
    return;
  }
  Context& context = Here();
  const Handler handler = context.handlers[number].sa_sigaction;
  if (handler == nullptr) End(number);
  ++context.in_handler;
  handler(number, info, interrupted);
  --context.in_handler;
}

void OnLeave(int, siginfo_t*, void*) {
  if (!installed || !IsAnybodyHere()) return;
  Context& context = Here();
  if (!context.inside || context.switches != context.unwanted) return;
  context.stuck = true;
  context.inside = false;
  // Unblocks the signals that the kernel would unblock at a return from this handler.
  sigset_t all;
  sigemptyset(&all);
  sigaddset(&all, kLeave);
  sigprocmask(SIG_UNBLOCK, &all, nullptr);
  void* never = nullptr;
  viaduct_embed_switch(&never, context.simulator_place);
}

void Install(int number, Handler handler, int flags) {
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
  sigaction(number, &action, &before[number]);
}

sigset_t FaultSet() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : Faults::kSignals) sigaddset(&set, number);
  sigaddset(&set, kLeave);
  return set;
}

sigset_t mask_before;

}  // namespace

Faults::Faults() {
  // Unblocks the fault signals: a blocked fault ends the process, and the processes that the guest
  // forks inherit the signal mask.
  const sigset_t set = FaultSet();
  pthread_sigmask(SIG_UNBLOCK, &set, &mask_before);
  for (const int number : kSignals) Install(number, OnFault, SA_NODEFER);
  Install(kLeave, OnLeave, 0);
  installed = true;
}

Faults::~Faults() {
  installed = false;
  for (const int number : kSignals) sigaction(number, &before[number], nullptr);
  sigaction(kLeave, &before[kLeave], nullptr);
  sigset_t blocked;
  sigset_t set = FaultSet();
  sigandset(&blocked, &set, &mask_before);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
}

void MakeLeave(Context& context, pid_t thread, uint64_t switches) {
  context.unwanted = switches;
  syscall(SYS_tgkill, getpid(), thread, kLeave);
}

}  // namespace viaduct::embed
