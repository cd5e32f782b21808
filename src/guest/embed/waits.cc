// The imports that would wait for the simulator. The simulator runs in the same thread and could
// not continue during a wait, so these imports switch to the simulator instead.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "guest/embed/context.h"
#include "guest/embed/import_functions.h"

namespace viaduct::embed::imports {
namespace {

bool Blocks(int fd) { return (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0; }

bool IsReady(int fd, short events) {
  pollfd entry{fd, events, 0};
  int ready = 0;
  do {
    ready = poll(&entry, 1, 0);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

void Await(int fd, short events) {
  if (Here().copy || !Blocks(fd)) return;
  while (!IsReady(fd, events)) LetSimulatorRun();
}

// Returns the result of `action`, which must not wait. If `action` fails with EAGAIN, waits until
// the descriptor is ready for `events` and then calls `action` again.
template <typename Action>
ssize_t OnceReady(int fd, short events, Action action) {
  const ssize_t first = action();
  if (first >= 0 || errno != EAGAIN) return first;
  Await(fd, events);
  return action();
}

// Returns the stream of a connection as soon as the stream has bytes to read. Returns nullptr for
// other descriptors, and for an empty stream if `may_wait` is false or the connection's socket is
// readable.
LocalStream* AwaitStream(int fd, bool may_wait) {
  LocalStream* stream = StreamOf(fd);
  if (stream == nullptr) return nullptr;
  while (!stream->readable() && may_wait && Blocks(fd) && !IsReady(fd, POLLIN)) LetSimulatorRun();
  return stream->readable() ? stream : nullptr;
}

// Returns the number of entries whose streams in memory are readable, and sets `revents` of all
// entries as poll(2) does.
int ReadableInMemory(std::span<pollfd> entries) {
  int ready = 0;
  for (pollfd& entry : entries) {
    const LocalStream* stream = StreamOf(entry.fd);
    const bool readable = stream != nullptr && stream->readable() && (entry.events & POLLIN) != 0;
    entry.revents = readable ? POLLIN : 0;
    ready += readable ? 1 : 0;
  }
  return ready;
}

// Returns whether the guest waits for an answer that the simulator cannot have sent yet: the
// simulator has not run since the guest's last request, so nothing can be readable.
bool JustAsked(std::span<const pollfd> entries) {
  const auto is_stream = [](const pollfd& entry) { return StreamOf(entry.fd) != nullptr; };
  return Here().requested == Here().switches &&
         std::any_of(entries.begin(), entries.end(), is_stream);
}

}  // namespace

long Syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (Here().copy || number == SYS_getpid) return syscall(number, a, b, c, d, e, f);
  if (number == SYS_renameat2) {  // hostfs makes this call; both names are absolute
    const bool may =
        MayChange(reinterpret_cast<const char*>(b)) && MayChange(reinterpret_cast<const char*>(d));
    if (may) return syscall(number, a, b, c, d, e);
    errno = EACCES;
    return -1;
  }
  if (number != SYS_futex) {  // the kernel makes no other system calls by syscall()
    errno = ENOSYS;
    return -1;
  }
  // Skips the wake-up, because no thread sleeps on the kernel's futex words: the simulator reads
  // the words when the guest switches to it.
  if (b == FUTEX_WAKE) return 0;
  const auto* word = reinterpret_cast<const uint32_t*>(a);
  if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == static_cast<uint32_t>(c)) LetSimulatorRun();
  return 0;
}

int Poll(pollfd* entries, nfds_t count, int milliseconds) {
  if (Here().copy) return poll(entries, count, milliseconds);
  const std::span all(entries, count);
  bool interrupted = milliseconds != 0 && TakeInput();
  while (!interrupted) {
    if (const int ready = ReadableInMemory(all); ready != 0) return ready;
    if (milliseconds == 0 || !JustAsked(all)) {
      const int ready = poll(entries, count, 0);
      if (ready != 0 || milliseconds == 0) return ready;
    }
    interrupted = LetSimulatorRun();
  }
  errno = EINTR;
  return -1;
}

// Reads from a descriptor. Most descriptors that the kernel reads and writes are sockets, so recv()
// without waiting (MSG_DONTWAIT) is tried first.
ssize_t Read(int fd, void* buffer, size_t length) {
  const int real = Real(fd);
  if (LocalStream* stream = AwaitStream(fd, true)) {
    return static_cast<ssize_t>(stream->Receive({static_cast<std::byte*>(buffer), length}));
  }
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
  LocalStream* stream = AwaitStream(fd, (flags & MSG_DONTWAIT) == 0);
  if (stream != nullptr && message->msg_iovlen > 0) {
    // Only the first piece of the message is filled, because a stream may return fewer bytes than
    // requested.
    const iovec& piece = message->msg_iov[0];
    message->msg_controllen = 0;
    message->msg_flags = 0;
    return static_cast<ssize_t>(
        stream->Receive({static_cast<std::byte*>(piece.iov_base), piece.iov_len}));
  }
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

// Writes to a descriptor, possibly to a pipe from which the guest itself reads. MSG_NOSIGNAL
// prevents SIGPIPE, which a kernel in a separate process blocks (change_sig() in main()) and which
// must not reach the simulator.
ssize_t Write(int fd, const void* buffer, size_t length) {
  const int real = Real(fd);
  const int waits = Here().copy ? 0 : MSG_DONTWAIT;
  Here().input_not_looked_for = true;
  const ssize_t sent =
      OnceReady(real, POLLOUT, [&] { return send(real, buffer, length, MSG_NOSIGNAL | waits); });
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  Await(real, POLLOUT);
  return write(real, buffer, length);
}

ssize_t Sendmsg(int fd, const msghdr* message, int flags) {
  flags |= MSG_NOSIGNAL;
  if (LocalStream* stream = StreamOf(fd)) {
    const ssize_t sent = stream->Send(*message);
    if (sent <= 0) return sent;
    Here().requests.push_back(Here().stream_of[fd]);
    Here().requested = Here().switches;
    return sent;
  }
  if ((flags & MSG_DONTWAIT) != 0 || Here().copy) return sendmsg(fd, message, flags);
  return OnceReady(fd, POLLOUT, [&] { return sendmsg(fd, message, flags | MSG_DONTWAIT); });
}

// Replaces the functions in which helper threads and the kernel's idle loop wait; these waits do
// not happen in time travel. Switches to the simulator instead of waiting.
int NeverWaits() {
  if (!Here().copy) LetSimulatorRun();
  errno = EINTR;
  return -1;
}

}  // namespace viaduct::embed::imports
