// The imports that act on the process. The guest's kernel assumes that it does not share the
// process.
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "guest/embed/context.h"
#include "guest/embed/import_functions.h"

namespace viaduct::embed::imports {
namespace {

constexpr int kExited = 8;  // the lowest bit of the exit status in a wait status

// Returns whether the signal is a fault, for which the kernel's handler is called. The kernel's
// other handlers are only for helper threads, which do not exist in time travel, and for signals
// that would end the kernel.
bool IsFault(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE ||
         number == SIGTRAP;
}

// The function and argument with which a program's process begins. They are not stored on the
// stack, because the stack is memory of the guest, which the copy shares with the guest.
struct CloneStart {
  int (*function)(void*) = nullptr;
  void* argument = nullptr;
} clone_start;

int CloneEntry(void*) {
  Here().copy = true;
  return clone_start.function(clone_start.argument);
}

bool IsOurs(const void* start, size_t length) {
  return Here().copy || Here().place.Contains(start, length);
}

}  // namespace

void Exit(int status) { End((status & 0xff) << kExited); }

// Ends the guest, because the kernel executes itself only to restart.
int Execute() { End(1 << kExited); }

pid_t Fork() {
  BlockChildSignals(Here());
  const pid_t pid = fork();
  if (pid == 0) Here().copy = true;
  if (pid > 0) Here().processes.insert(pid);
  return pid;
}

int Clone(int (*function)(void*), void* stack, int flags, void* argument) {
  const bool shares = (flags & CLONE_VM) != 0;
  // The kernel starts a helper thread (shared memory without CLONE_VFORK), which is not supported.
  if (shares && (flags & CLONE_VFORK) == 0) {
    errno = EPERM;
    return -1;
  }
  BlockChildSignals(Here());
  clone_start = {function, argument};
  const int pid = clone(CloneEntry, stack, flags, nullptr);
  // clone() with shared memory returns here after the copy has ended or has executed a program.
  if (shares) Here().copy = false;
  if (pid > 0) Here().processes.insert(pid);
  return pid;
}

int Kill(pid_t pid, int number) {
  if (Here().copy || Here().processes.contains(pid)) {
    BlockChildSignals(Here());
    return kill(pid, number);
  }
  if (pid == getpid() && number != SIGIO) End(number);
  Here().input_not_looked_for = true;  // SIGIO means that there may be input
  // Returns success without sending the signal: os_dump_core() signals all processes that the
  // kernel has started before the kernel ends itself.
  if (pid == 0 || pid == getpid()) return 0;
  errno = ESRCH;
  return -1;
}

int64_t Ptrace(int request, pid_t pid, void* address, void* data) {
  BlockChildSignals(Here());
  return ptrace(static_cast<__ptrace_request>(request), pid, address, data);
}

pid_t Waitpid(pid_t pid, int* status, int options) {
  if (!Here().copy && !Here().processes.contains(pid)) {
    errno = ECHILD;
    return -1;
  }
  int ended = 0;
  const pid_t found = waitpid(pid, &ended, options);
  if (found > 0 && !Here().copy && (WIFEXITED(ended) || WIFSIGNALED(ended))) {
    Here().processes.erase(found);
  }
  if (status != nullptr) *status = ended;
  return found;
}

int PthreadCreate() { return EAGAIN; }

// Returns the flags of a process without randomized addresses, so that the kernel does not restart
// itself to disable address randomization.
int Personality(unsigned long persona) { return static_cast<int>(persona); }

int Sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  if (Here().copy) return sigaction(number, action, old);
  struct sigaction& handler = Here().handlers[number];
  const struct sigaction before = handler;
  if (action != nullptr && (IsFault(number) || number == SIGIO)) handler = *action;
  if (old != nullptr) *old = before;
  return 0;
}

void (*Signal(int number, void (*handler)(int)))(int) {
  if (Here().copy) return signal(number, handler);
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  // Ignores SIG_IGN and SIG_DFL, which are not functions that can be called.
  if (handler != SIG_IGN && handler != SIG_DFL) action.sa_handler = handler;
  Sigaction(number, &action, nullptr);
  return SIG_DFL;
}

int Sigprocmask(int how, const sigset_t* set, sigset_t* old) {
  if (Here().copy) return sigprocmask(how, set, old);
  if (old != nullptr) sigemptyset(old);
  return 0;
}

int Sigaltstack(const stack_t* stack, stack_t* old) {
  if (stack != nullptr && !Here().copy) Here().signal_stack = *stack;
  const int result = sigaltstack(stack, old);
  // Reports SS_ONSTACK also while the handler of SIGIO runs: it runs on the signal stack, but is
  // not called by a signal.
  if (old != nullptr && !Here().copy && Here().in_handler > 0) old->ss_flags |= SS_ONSTACK;
  return result;
}

// Returns a descriptor that is never ready, because no process sends the signals for which
// signalfd() waits.
int Signalfd(int, const sigset_t*, int flags) {
  return Eventfd(0, (flags & SFD_NONBLOCK) != 0 ? EFD_NONBLOCK : 0);
}

int Nothing() { return 0; }

void* Sbrk(intptr_t) { return reinterpret_cast<void*>(Here().heap); }

void* Mmap(void* start, size_t length, int protection, int flags, int fd, off_t offset) {
  if ((flags & MAP_FIXED) != 0 && !IsOurs(start, length)) {
    errno = EINVAL;
    return MAP_FAILED;
  }
  return mmap(start, length, protection, flags, fd, offset);
}

// Unmaps memory; addresses in the guest's place stay reserved for the guest.
int Munmap(void* start, size_t length) {
  if (Here().copy || !Here().place.Contains(start, length)) return munmap(start, length);
  void* kept = mmap(start, length, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return kept == MAP_FAILED ? -1 : 0;
}

int Mprotect(void* start, size_t length, int protection) {
  if (IsOurs(start, length)) return mprotect(start, length, protection);
  errno = EINVAL;
  return -1;
}

// Draws random bytes by splitmix64, as libviaduct-random.so does for guests that are separate
// processes.
ssize_t Getrandom(void* buffer, size_t length, unsigned) {
  auto* bytes = static_cast<unsigned char*>(buffer);
  for (size_t i = 0; i < length; ++i) {
    uint64_t z = Here().random_state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    bytes[i] = static_cast<unsigned char>(z ^ (z >> 31));
  }
  return static_cast<ssize_t>(length);
}

char* Getenv(const char* name) {
  const std::string prefix = std::string(name) + "=";
  for (std::string& each : Here().environment) {
    if (each.starts_with(prefix)) return each.data() + prefix.size();
  }
  return nullptr;
}

int Printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vdprintf(Real(1), format, arguments);
  va_end(arguments);
  return length;
}

int Vfprintf(FILE*, const char* format, va_list arguments) {
  return vdprintf(Real(2), format, arguments);
}

size_t Fwrite(const void* data, size_t size, size_t count, FILE* file) {
  if (file != stdout && file != stderr) return fwrite(data, size, count, file);
  const ssize_t written = Write(2, data, size * count);
  return written < 0 ? 0 : static_cast<size_t>(written) / (size == 0 ? 1 : size);
}

void Perror(const char* text) { dprintf(Real(2), "%s: %s\n", text, strerror(errno)); }

}  // namespace viaduct::embed::imports
