#include "sys/signals.h"

#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/error.h"

namespace viaduct::sys {
namespace {

constexpr int kLastFixed = 31;  // number of the last signal with a fixed meaning: SIGSYS, signal(7)

// The structure of the kernel's rt_sigaction(2) on 64-bit machines.
struct KernelAction {
  uintptr_t handler = 0;
  uint64_t flags = 0;
  uintptr_t restorer = 0;
  uint64_t mask = 0;
};

// Stops ignoring a signal of the C library. The library reserves signals 32 and 33 for its threads,
// refuses them in signal(3), and leaves them ignored in programs that posix_spawn(3) starts
// (glibc's sysdeps/unix/sysv/linux/spawni.c). A handler of the library is kept: execve(2) resets
// it.
void StopIgnoringLibrarySignal(int number) {
  KernelAction action;
  constexpr size_t kSetSize = sizeof action.mask;
  if (syscall(SYS_rt_sigaction, number, nullptr, &action, kSetSize) != 0) return;
  if (action.handler != reinterpret_cast<uintptr_t>(SIG_IGN)) return;
  action = {};
  syscall(SYS_rt_sigaction, number, &action, nullptr, kSetSize);
}

}  // namespace

sigset_t SignalSet(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

bool IgnoresHangUp() {
  struct sigaction action {};
  return sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

UniqueFd CatchSignals(std::initializer_list<int> signals) {
  sigset_t set = SignalSet(signals);
  // Leaves out SIGHUP if it is ignored, because a blocked signal is passed to the descriptor even
  // if it is ignored (kernel/signal.c, sig_ignored()).
  if (IgnoresHangUp()) sigdelset(&set, SIGHUP);
  UniqueFd fd(SystemCall("signalfd", signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)));
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return fd;
}

int TakeSignal(int fd) {
  signalfd_siginfo info;
  return read(fd, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void UnblockSignals() {
  const sigset_t none = SignalSet({});
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) {
    const bool is_librarys = number > kLastFixed && number < SIGRTMIN;
    if (is_librarys) StopIgnoringLibrarySignal(number);
    // The actions of SIGKILL and SIGSTOP cannot be changed.
    else if (number != SIGKILL && number != SIGSTOP)
      signal(number, SIG_DFL);
  }
}

}  // namespace viaduct::sys
