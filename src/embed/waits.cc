// Imports that would wait for the simulator, which cannot do anything meanwhile: it is the same
// thread. They go back to it instead.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/socket.h>
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

// What `action`, which does not wait, returns; where the caller would wait, when that is over.
template <typename Action>
ssize_t OnceReady(int fd, short events, Action action) {
  const ssize_t first = action();
  if (first >= 0 || errno != EAGAIN) return first;
  Await(fd, events);
  return action();
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

// Most of what the kernel reads and writes are sockets, which can be asked not to wait.
ssize_t Read(int fd, void* buffer, size_t length) {
  const int real = Real(fd);
  if (!Here().copy) {
    const ssize_t had =
        OnceReady(real, POLLIN, [&] { return recv(real, buffer, length, MSG_DONTWAIT); });
    if (had >= 0 || errno != ENOTSOCK) return had;
  }
  Await(real, POLLIN);
  return read(real, buffer, length);
}

ssize_t Recvmsg(int fd, msghdr* message, int flags) {
  flags |= MSG_CMSG_CLOEXEC;
  const bool as_told = (flags & MSG_DONTWAIT) != 0 || Here().copy;
  const ssize_t length =
      as_told ? recvmsg(fd, message, flags)
              : OnceReady(fd, POLLIN, [&] { return recvmsg(fd, message, flags | MSG_DONTWAIT); });
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
  const int waits = Here().copy ? 0 : MSG_DONTWAIT;
  const ssize_t sent =
      OnceReady(real, POLLOUT, [&] { return send(real, buffer, length, MSG_NOSIGNAL | waits); });
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  Await(real, POLLOUT);
  return write(real, buffer, length);
}

ssize_t Sendmsg(int fd, const msghdr* message, int flags) {
  flags |= MSG_NOSIGNAL;
  if ((flags & MSG_DONTWAIT) != 0 || Here().copy) return sendmsg(fd, message, flags);
  return OnceReady(fd, POLLOUT, [&] { return sendmsg(fd, message, flags | MSG_DONTWAIT); });
}

// Helper threads' and idle's, neither of which time travel has.
int NeverWaits() {
  if (!Here().copy) LetSimulatorRun();
  errno = EINTR;
  return -1;
}

}  // namespace viaduct::embed::imports
