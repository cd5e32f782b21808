#include "guest/embed/imports.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "guest/embed/import_functions.h"

namespace viaduct::embed {
namespace {

template <typename F>
Function Ours(F* function) {
  return reinterpret_cast<Function>(function);
}

constexpr const char* kWaits =
    "the guest must return control to the simulator, which runs in the same thread, instead of "
    "waiting for the simulator";
constexpr const char* kTracked = "the descriptors of a guest are closed when the guest ends";
constexpr const char* kStandard =
    "descriptors 0, 1 and 2 of a guest are not those of the simulator";
constexpr const char* kConfined = "a guest must not change files of the machine (Confinement)";
constexpr const char* kBoots = "the working directory of a booting guest is not the simulator's";
constexpr const char* kClock = "in time travel the simulator is the only clock";
constexpr const char* kSignals =
    "the simulator handles all signals except faults of the guest's kernel";
constexpr const char* kWrites =
    "output of a guest goes to the guest's console, not to the simulator's output";
constexpr const char* kEnds = "only the guest must end, not the simulator";
constexpr const char* kAddresses = "a guest must use only its own memory addresses";
constexpr const char* kOwnProcesses = "a guest must use only processes that the guest has started";
constexpr const char* kNoThreads =
    "a guest consists of one thread; in time travel, helpers have no threads";

const Import kImports[] = {
    {"syscall", Ours(imports::Syscall), kWaits},  // called by os_futex_wait()
    {"poll", Ours(imports::Poll), kWaits},
    {"read", Ours(imports::Read), kWaits},
    {"recvmsg", Ours(imports::Recvmsg), kWaits},
    {"write", Ours(imports::Write), kWaits},
    {"sendmsg", Ours(imports::Sendmsg), kWaits},
    {"pause", Ours(imports::NeverWaits), kClock},
    {"sigsuspend", Ours(imports::NeverWaits), kClock},
    {"sleep", Ours(imports::Nothing), kClock},

    {"open64", Ours(imports::Open), kConfined},
    {"socket", Ours(imports::Socket), kConfined},
    {"openpty", Ours(imports::Openpty), kConfined},
    {"mkdir", Ours(imports::Mkdir), kConfined},
    {"mknod", Ours(imports::Mknod), kConfined},
    {"unlink", Ours(imports::Unlink), kConfined},
    {"rmdir", Ours(imports::Rmdir), kConfined},
    {"rename", Ours(imports::Rename), kConfined},
    {"link", Ours(imports::Link), kConfined},
    {"symlink", Ours(imports::Symlink), kConfined},
    {"bind", Ours(imports::Refuse), kConfined},
    {"chmod", Ours(imports::Refuse), kConfined},
    {"fchmod", Ours(imports::Fchmod), kConfined},
    {"chown", Ours(imports::Refuse), kConfined},
    {"fchown", Ours(imports::Refuse), kConfined},
    {"truncate64", Ours(imports::Refuse), kConfined},
    {"ftruncate64", Ours(imports::Refuse), kConfined},
    {"utimes", Ours(imports::Refuse), kConfined},
    {"futimes", Ours(imports::Refuse), kConfined},

    {"socketpair", Ours(imports::Socketpair), kTracked},
    {"accept", Ours(imports::Accept), kTracked},
    {"eventfd", Ours(imports::Eventfd), kTracked},
    {"epoll_create", Ours(imports::EpollCreate), kTracked},
    {"dup", Ours(imports::Dup), kTracked},
    {"dup2", Ours(imports::Dup2), kTracked},
    {"memfd_create", Ours(imports::MemfdCreate), kTracked},
    {"mkstemp64", Ours(imports::Mkstemp), kTracked},
    {"opendir", Ours(imports::Opendir), kTracked},
    {"closedir", Ours(imports::Closedir), kTracked},
    {"fopen64", Ours(imports::Fopen), kTracked},
    {"fclose", Ours(imports::Fclose), kTracked},

    {"close", Ours(imports::Close), kStandard},
    {"fcntl64", Ours(imports::Fcntl), kSignals},  // the flag O_ASYNC requests SIGIO
    {"epoll_ctl", Ours(imports::EpollControl), kStandard},
    {"ioctl", Ours(imports::Ioctl), kStandard},
    {"fstat64", Ours(imports::Fstat), kStandard},
    {"isatty", Ours(imports::Isatty), kStandard},
    {"tcgetattr", Ours(imports::Tcgetattr), kStandard},
    {"tcsetattr", Ours(imports::Tcsetattr), kStandard},

    {"access", Ours(imports::Access), kBoots},
    {"connect", Ours(imports::Connect), kBoots},
    {"readlink", Ours(imports::Readlink), kBoots},
    {"stat64", Ours(imports::Stat), kBoots},

    {"exit", Ours(imports::Exit), kEnds},
    {"_exit", Ours(imports::Exit), kEnds},
    {"execv", Ours(imports::Execute), kEnds},
    {"execve", Ours(imports::Execute), kEnds},
    {"execvp", Ours(imports::Execute), kEnds},
    {"kill", Ours(imports::Kill), kEnds},
    {"fork", Ours(imports::Fork), kOwnProcesses},
    {"clone", Ours(imports::Clone), kOwnProcesses},
    {"ptrace", Ours(imports::Ptrace), kOwnProcesses},
    {"waitpid", Ours(imports::Waitpid), kOwnProcesses},
    {"pthread_create", Ours(imports::PthreadCreate), kNoThreads},
    {"pthread_cancel", Ours(imports::Nothing), kNoThreads},
    {"pthread_join", Ours(imports::Nothing), kNoThreads},
    {"personality", Ours(imports::Personality), kAddresses},
    {"setsid", Ours(imports::Nothing), "the simulator must stay in its session"},
    {"setrlimit64", Ours(imports::Nothing), "the limits of the simulator must not change"},
    {"sigaction", Ours(imports::Sigaction), kSignals},
    {"signal", Ours(imports::Signal), kSignals},
    {"sigprocmask", Ours(imports::Sigprocmask), kSignals},
    {"pthread_sigmask", Ours(imports::Sigprocmask), kSignals},
    {"signalfd", Ours(imports::Signalfd), kSignals},
    {"sigaltstack", Ours(imports::Sigaltstack), kSignals},
    {"timer_create", Ours(imports::Nothing), kClock},
    {"timer_settime", Ours(imports::Nothing), kClock},
    {"timer_gettime", Ours(imports::Nothing), kClock},
    {"sbrk", Ours(imports::Sbrk), "the memory of the guest begins after the image of the guest"},
    {"mmap64", Ours(imports::Mmap), kAddresses},
    {"munmap", Ours(imports::Munmap), kAddresses},
    {"mprotect", Ours(imports::Mprotect), kAddresses},
    {"getrandom", Ours(imports::Getrandom),
     "the random numbers of a guest must depend only on the guest's seed"},
    {"getenv", Ours(imports::Getenv), "the environment of a guest is always the same"},
    {"putenv", Ours(imports::Nothing), "the environment of the simulator must not change"},
    {"printf", Ours(imports::Printf), kWrites},
    {"vfprintf", Ours(imports::Vfprintf), kWrites},
    {"fwrite", Ours(imports::Fwrite), kWrites},
    {"perror", Ours(imports::Perror), kWrites},
};

// The imported functions of libc that are not replaced: they access only their arguments,
// descriptors of the guest, or the processes of the guest's programs.
constexpr const char* kOfLibc[] = {
    "__errno_location",
    "__getdelim",
    "__isoc99_sscanf",
    "__libc_current_sigrtmin",
    "cfmakeraw",
    "clock_gettime",
    "epoll_wait",
    "fallocate64",
    "fdatasync",
    "fflush",
    "ffs",
    "free",
    "fsync",
    "getpgrp",
    "getpid",
    "getppid",
    "getrlimit64",
    "gettid",
    "grantpt",
    "lseek64",
    "madvise",
    "malloc",
    "mremap",
    "prctl",
    "pread64",
    "pwrite64",
    "readdir64",
    "seekdir",
    "shutdown",
    "sigaddset",
    "sigdelset",
    "sigemptyset",
    "sigfillset",
    "sigismember",
    "statfs64",
    "statx",
    "stderr",
    "stdout",
    "strdup",
    "strerror",
    "strtoul",
    "tcgetpgrp",
    "tcsetpgrp",
    "uname",
    "unlockpt",
    "__libc_start_main",
};

}  // namespace

const Import* FindImport(std::string_view name) {
  for (const Import& import : kImports) {
    if (import.name == name) return &import;
  }
  static const std::vector<Import> of_libc = [] {
    std::vector<Import> all;
    all.reserve(std::size(kOfLibc));
    for (const char* each : kOfLibc) all.push_back({each, nullptr, nullptr});
    return all;
  }();
  const auto found = std::find_if(of_libc.begin(), of_libc.end(),
                                  [name](const Import& each) { return each.name == name; });
  return found == of_libc.end() ? nullptr : &*found;
}

void* Bind(const Import& import) {
  if (import.ours != nullptr) return reinterpret_cast<void*>(import.ours);
  void* found = dlsym(RTLD_DEFAULT, import.name);
  if (found == nullptr)
    throw Error(fmt::format("needs the function {}, which libc does not have", import.name));
  return found;
}

}  // namespace viaduct::embed
