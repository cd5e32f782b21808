// The imports that create or use descriptors, and the imports that change files.
#include <dirent.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "guest/embed/context.h"
#include "guest/embed/import_functions.h"

namespace viaduct::embed::imports {
namespace {

int Fail(int error_number) {
  errno = error_number;
  return -1;
}

void Forget(int fd) {
  if (Here().copy) return;
  Here().descriptors.erase(fd);
  Here().stream_of.erase(fd);
}

// Calls `action`, which changes the file `path`, if the guest may change that file; otherwise fails
// with EACCES, as Landlock does.
template <typename Action>
int Change(const char* path, Action action) {
  return MayChange(path) ? AtName(path, action) : Fail(EACCES);
}

}  // namespace

int Open(const char* path, int flags, mode_t mode) {
  const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  if (changes && !MayChange(path)) return Fail(EACCES);
  return Opened(AtName(path, [&] { return open(path, flags | O_CLOEXEC, mode); }));
}

int Socket(int domain, int type, int protocol) {
  if (domain != AF_UNIX) return Fail(EACCES);
  return Opened(socket(domain, type | SOCK_CLOEXEC, protocol));
}

int Socketpair(int domain, int type, int protocol, int* pair) {
  const int result = socketpair(domain, type | SOCK_CLOEXEC, protocol, pair);
  if (result == 0) {
    Opened(pair[0]);
    Opened(pair[1]);
  }
  return result;
}

int Accept(int fd, sockaddr* address, socklen_t* length) {
  return Opened(accept4(fd, address, length, SOCK_CLOEXEC));
}

int Eventfd(unsigned value, int flags) { return Opened(eventfd(value, flags | EFD_CLOEXEC)); }

int EpollCreate(int) {
  const int fd = Opened(epoll_create1(EPOLL_CLOEXEC));
  Here().events = fd;  // only os_setup_epoll() calls this function
  return fd;
}

int EpollControl(int events, int operation, int fd, epoll_event* event) {
  Here().input_not_looked_for = true;
  return epoll_ctl(events, operation, Real(fd), event);
}

int Dup(int fd) { return Opened(fcntl(Real(fd), F_DUPFD_CLOEXEC, 0)); }
// Duplicates `fd` to `other`. In a copy of the process, which sets up the descriptors of a program,
// `other` is not translated by Real().
int Dup2(int fd, int other) { return dup2(Real(fd), Here().copy ? other : Real(other)); }
int MemfdCreate(const char* name, unsigned flags) {
  return Opened(memfd_create(name, flags | MFD_CLOEXEC));
}
int Mkstemp(char* name) {
  return Opened(Change(name, [&] { return mkostemp(name, O_CLOEXEC); }));
}

int Openpty(int*, int*, char*, const termios*, const winsize*) { return Fail(EACCES); }

DIR* Opendir(const char* path) {
  DIR* folder = AtName(path, [&] { return opendir(path); });
  if (folder != nullptr) Opened(dirfd(folder));
  return folder;
}

int Closedir(DIR* folder) {
  Forget(dirfd(folder));
  return closedir(folder);
}

FILE* Fopen(const char* path, const char* mode) {
  if (mode[0] != 'r' && !MayChange(path)) {
    errno = EACCES;
    return nullptr;
  }
  FILE* file = AtName(path, [&] { return fopen(path, mode); });
  if (file != nullptr) Opened(fileno(file));
  return file;
}

int Fclose(FILE* file) {
  Forget(fileno(file));
  return fclose(file);
}

int Close(int fd) {
  if (fd >= 0 && fd <= 2) return 0;
  Forget(fd);
  return close(fd);
}

int Access(const char* path, int mode) {
  return AtName(path, [&] { return access(path, mode); });
}

int Stat(const char* path, struct stat* about) {
  return AtName(path, [&] { return stat(path, about); });
}

ssize_t Readlink(const char* path, char* target, size_t size) {
  return AtName(path, [&] { return readlink(path, target, size); });
}

int Connect(int fd, const sockaddr* address, socklen_t length) {
  const char* path =
      address->sa_family == AF_UNIX ? reinterpret_cast<const sockaddr_un*>(address)->sun_path : "/";
  const int result = AtName(path, [&] { return connect(fd, address, length); });
  Context& context = Here();
  if (result == 0 && !context.copy && path == context.streams_name) {
    context.stream_of[fd] = context.streams.size();
    context.streams.push_back(std::make_shared<LocalStream>());
  }
  return result;
}

// Ignores requests for SIGIO, which is never sent: TakeInput() polls for input instead.
int Fcntl(int fd, int command, long argument) {
  if (command == F_SETOWN || command == F_SETSIG) return 0;
  if (command == F_SETFL) argument &= ~long{O_ASYNC};
  const int result = fcntl(Real(fd), command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? Opened(result) : result;
}

int Ioctl(int fd, unsigned long command, void* argument) {
  return ioctl(Real(fd), command, argument);
}
int Fstat(int fd, struct stat* about) { return fstat(Real(fd), about); }
int Isatty(int fd) { return isatty(Real(fd)); }
int Tcgetattr(int fd, termios* settings) { return tcgetattr(Real(fd), settings); }
int Tcsetattr(int fd, int when, const termios* settings) {
  return tcsetattr(Real(fd), when, settings);
}

int Mkdir(const char* path, mode_t mode) {
  return Change(path, [&] { return mkdir(path, mode); });
}
int Mknod(const char* path, mode_t mode, dev_t device) {
  return Change(path, [&] { return mknod(path, mode, device); });
}
int Unlink(const char* path) {
  return Change(path, [&] { return unlink(path); });
}
int Rmdir(const char* path) {
  return Change(path, [&] { return rmdir(path); });
}
int Rename(const char* from, const char* to) {
  return Change(from, [&] { return Change(to, [&] { return rename(from, to); }); });
}
int Link(const char* from, const char* to) {
  return Change(from, [&] { return Change(to, [&] { return link(from, to); }); });
}
int Symlink(const char* from, const char* to) {
  return Change(to, [&] { return symlink(from, to); });
}

// Returns success, without changing anything, if the mode is the one that the guest sets for its
// memory file; otherwise fails. The seccomp filter of a guest's process does the same
// (Confinement).
int Fchmod(int, mode_t mode) { return mode == 0777 ? 0 : Fail(EPERM); }
int Refuse() { return Fail(EPERM); }

}  // namespace viaduct::embed::imports
