#include "sys/signals.h"

#include <sys/signalfd.h>

#include "base/error.h"

namespace viaduct::sys {

sigset_t SignalSet(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

UniqueFd CatchSignals(std::initializer_list<int> signals) {
  const sigset_t set = SignalSet(signals);
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
    // These two cannot be changed. Those that the C library keeps for itself it refuses.
    if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
  }
}

}  // namespace viaduct::sys
