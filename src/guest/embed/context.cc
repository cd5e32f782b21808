#include "guest/embed/context.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "guest/embed/stacks.h"

namespace viaduct::embed {
namespace {

Context* here = nullptr;

}  // namespace

Context& Here() { return *here; }
bool IsAnybodyHere() { return here != nullptr; }
void SetContext(Context* context) { here = context; }

bool LetSimulatorRun() {
  const int saved = errno;
  here->inside = false;
  viaduct_embed_switch(&here->guest_place, here->simulator_place);
  here->inside = true;
  const bool input = TakeInput();
  errno = saved;
  return input;
}

// Calls the guest's handler of SIGIO in the way in which a signal calls hard_handler() of
// arch/um/os-Linux/signal.c: on the stack for signals, where the kernel looks for thread_info, and
// never while another signal is handled (sa_mask).
bool TakeInput() {
  Context& context = *here;
  const auto handler = context.handlers[SIGIO].sa_sigaction;
  if (!context.input_not_looked_for || context.events < 0 || context.in_handler > 0 ||
      handler == nullptr || context.signal_stack.ss_sp == nullptr) {
    return false;
  }
  pollfd input{context.events, POLLIN, 0};
  const int found = poll(&input, 1, 0);
  if (found < 0) return false;  // poll() was interrupted by a signal: the next call polls again
  context.input_not_looked_for = false;
  if (found == 0) return false;
  const int saved = errno;
  static siginfo_t info;  // for SIGIO, the kernel's handler reads neither siginfo_t nor ucontext_t
  static ucontext_t interrupted;
  const auto end =
      reinterpret_cast<uintptr_t>(context.signal_stack.ss_sp) + context.signal_stack.ss_size;
  ++context.in_handler;
  viaduct_embed_call_on(reinterpret_cast<void*>(end & ~uintptr_t{15}),
                        reinterpret_cast<void*>(handler), SIGIO, &info, &interrupted);
  --context.in_handler;
  errno = saved;
  return true;
}

void End(int status) {
  Context& context = *here;
  if (context.copy) _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  context.ended = status;
  CleanUp(context);
  for (;;) LetSimulatorRun();
}

void CleanUp(Context& context) {
  for (const pid_t pid : context.processes) kill(pid, SIGKILL);
  for (const pid_t pid : context.processes) waitpid(pid, nullptr, __WALL);
  context.processes.clear();
  context.events = -1;
  for (const int fd : context.descriptors) close(fd);
  context.descriptors.clear();
  context.streams.clear();
  context.stream_of.clear();
  context.requests.clear();
  for (int& fd : context.standard) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
}

void BlockChildSignals(Context& context) {
  if (context.copy || context.mask_before) return;
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &child, &context.mask_before.emplace());
}

void RestoreSignals(Context& context) {
  if (!context.mask_before) return;
  const sigset_t mask = *context.mask_before;
  context.mask_before.reset();
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

int Opened(int fd) {
  if (fd >= 0 && !here->copy) here->descriptors.insert(fd);
  return fd;
}

int Real(int fd) { return fd >= 0 && fd <= 2 ? here->standard[fd] : fd; }

LocalStream* StreamOf(int fd) {
  if (here->copy) return nullptr;
  const auto found = here->stream_of.find(fd);
  return found == here->stream_of.end() ? nullptr : here->streams[found->second].get();
}

bool MayChange(const char* path) {
  const std::filesystem::path wanted(path);
  for (const auto& part : wanted) {
    if (part == "..") return false;
  }
  if (wanted.is_relative()) return here->boot_folder >= 0;
  for (const auto& folder : here->writable) {
    const auto rest = wanted.lexically_relative(folder);
    if (!rest.empty() && *rest.begin() != "..") return true;
  }
  return false;
}

void LeaveBootFolder() {
  const int saved = errno;
  // If the simulator's working directory were not set again, relative names would refer to files in
  // the guest's folder.
  if (fchdir(here->simulator_folder) < 0) abort();
  errno = saved;
}

}  // namespace viaduct::embed
