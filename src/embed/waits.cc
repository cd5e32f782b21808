// Imports that would wait for the simulator, which cannot do anything meanwhile: it is the same
// thread. They go back to it instead.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "embed/context.h"
#include "embed/import_functions.h"

namespace viaduct::embed::imports {
namespace {

bool Blocks(int fd) { return (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0; }

void Await(int fd, short events) {
  if (Here().copy || !Blocks(fd)) return;
  pollfd entry{fd, events, 0};
  while (poll(&entry, 1, 0) == 0) LetSimulatorRun();
}

}  // namespace

long Syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (Here().copy || number == SYS_getpid) return syscall(number, a, b, c, d, e, f);
  if (number == SYS_renameat2) {  // of hostfs, both names whole
    const bool may =
        MayChange(reinterpret_cast<const char*>(b)) && MayChange(reinterpret_cast<const char*>(d));
    if (may) return syscall(number, a, b, c, d, e);
    errno = EACCES;
    return -1;
  }
  if (number != SYS_futex) {  // and it calls no others
    errno = ENOSYS;
    return -1;
  }
  // Nobody sleeps on the words that it wakes: the simulator looks at them when this returns to it.
  if (b == FUTEX_WAKE) return 0;
  const auto* word = reinterpret_cast<const uint32_t*>(a);
  if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == static_cast<uint32_t>(c)) LetSimulatorRun();
  return 0;
}

int Poll(pollfd* entries, nfds_t count, int milliseconds) {
  if (Here().copy || milliseconds == 0) return poll(entries, count, milliseconds);
  bool interrupted = TakeInput();
  while (!interrupted) {
    const int ready = poll(entries, count, 0);
    if (ready != 0) return ready;
    interrupted = LetSimulatorRun();
  }
  errno = EINTR;
  return -1;
}

ssize_t Read(int fd, void* buffer, size_t length) {
  Await(Real(fd), POLLIN);
  return read(Real(fd), buffer, length);
}

ssize_t Recvmsg(int fd, msghdr* message, int flags) {
  if ((flags & MSG_DONTWAIT) == 0) Await(fd, POLLIN);
  const ssize_t length = recvmsg(fd, message, flags | MSG_CMSG_CLOEXEC);
  if (length < 0) return length;
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const auto* passed = reinterpret_cast<const int*>(CMSG_DATA(part));
    for (size_t i = 0; i < (part->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) Opened(passed[i]);
  }
  return length;
}

// SIGPIPE, which a kernel blocks for itself (change_sig() in main()), is not for the simulator.
ssize_t Write(int fd, const void* buffer, size_t length) {
  const int real = Real(fd);
  Await(real, POLLOUT);
  const ssize_t sent = send(real, buffer, length, MSG_NOSIGNAL);
  return sent < 0 && errno == ENOTSOCK ? write(real, buffer, length) : sent;
}

ssize_t Sendmsg(int fd, const msghdr* message, int flags) {
  if ((flags & MSG_DONTWAIT) == 0) Await(fd, POLLOUT);
  return sendmsg(fd, message, flags | MSG_NOSIGNAL);
}

// Helper threads' and idle's, neither of which time travel has.
int NeverWaits() {
  if (!Here().copy) LetSimulatorRun();
  errno = EINTR;
  return -1;
}

}  // namespace viaduct::embed::imports
