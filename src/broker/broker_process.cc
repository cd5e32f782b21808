#include "broker/broker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/error.h"
#include "base/units.h"
#include "broker/lab_operations.h"
#include "broker/server.h"
#include "sys/descriptors.h"
#include "sys/invoking_user.h"
#include "sys/process.h"
#include "sys/signals.h"
#include "sys/trusted_folder.h"
#include "sys/unix_socket.h"
#include "sys/user_program.h"

namespace viaduct::broker {
namespace {

constexpr char kConnectionVariable[] = "VIADUCT_BROKER_FD";

// A broker whose last client has closed its connection ends within this time.
constexpr int kReapMilliseconds = 200;

// What the broker keeps of root: NET_ADMIN and NET_RAW for links and sockets, SYS_ADMIN for
// namespaces, SETUID, SETGID and KILL for programs of the user, NET_BIND_SERVICE for protocols'
// ports below 1024, DAC_OVERRIDE, CHOWN and FOWNER for /run and /proc/sys, SYS_PTRACE to see which
// processes live in its namespaces, SYS_RESOURCE for socket buffers beyond the machine's limit.
constexpr int kCapabilities[] = {CAP_NET_ADMIN,        CAP_NET_RAW,      CAP_SYS_ADMIN,
                                 CAP_SETUID,           CAP_SETGID,       CAP_KILL,
                                 CAP_NET_BIND_SERVICE, CAP_DAC_OVERRIDE, CAP_CHOWN,
                                 CAP_FOWNER,           CAP_SYS_PTRACE,   CAP_SYS_RESOURCE};

// The bounding set stays: programs of a run that root itself started are root's programs.
void KeepNeededCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct had[2], keep[2] = {};
  SystemCall("capget", static_cast<int>(syscall(SYS_capget, &header, had)));
  for (const int capability : kCapabilities) {
    const uint32_t bit = had[CAP_TO_INDEX(capability)].permitted & CAP_TO_MASK(capability);
    keep[CAP_TO_INDEX(capability)].permitted |= bit;
    keep[CAP_TO_INDEX(capability)].effective |= bit;
  }
  SystemCall("capset", static_cast<int>(syscall(SYS_capset, &header, keep)));
}

// Closes all descriptors except the connection, with /dev/null as 0 to 2: a detached lab must not
// keep a pipe or terminal of the client open. Returns the connection's descriptor.
UniqueFd KeepOnly(int connection) {
  UniqueFd kept(SystemCall("fcntl F_DUPFD", fcntl(connection, F_DUPFD_CLOEXEC, 3)));
  sys::DropStandardStreams();
  sys::CloseAllBut({kept.get()});
  return kept;
}

// Resets all signals to their defaults except those that a broker must survive. Returns the
// signals' descriptor.
UniqueFd TakeSignals() {
  sys::ResetSignals();
  sys::UnblockSignals();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  return sys::CatchSignals({SIGTERM, SIGINT, SIGCHLD});
}

void RunBroker(UniqueFd connection, const sys::Identity& owner) {
  setsid();  // Ctrl-C in the client's terminal reaches only the client
  prctl(PR_SET_NAME, "viaduct-broker");
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // programs whose parents have ended become our children
  UniqueFd signals = TakeSignals();
  umask(022);
  SystemCall("chdir /", chdir("/"));
  KeepNeededCapabilities();
  sys::RaiseDescriptorLimit();
  LabOperations operations(owner, std::move(signals));
  Server server(operations);
  server.AddConnection(std::move(connection));
  server.Run();
  operations.Shutdown();
}

[[noreturn]] void BrokerMain(int connection, const sys::Identity& owner) {
  int status = 0;
  try {
    RunBroker(KeepOnly(connection), owner);
  } catch (const std::exception&) {
    status = 1;  // nobody to report it to; `viaduct clean` uses the record in /run/viaduct
  }
  sys::ExitForked(status);
}

}  // namespace

std::optional<UniqueFd> InheritedConnection() {
  const char* text = getenv(kConnectionVariable);
  if (text == nullptr) return std::nullopt;
  const int fd = static_cast<int>(ParseInteger(text, 0, 1 << 20));
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_SEQPACKET) {
    throw UsageError(
        fmt::format("{}={} is not a connection to a broker; unset it", kConnectionVariable, text));
  }
  SystemCall("fcntl F_SETFD", fcntl(fd, F_SETFD, FD_CLOEXEC));
  unsetenv(kConnectionVariable);  // in use now; a second client would mix up the answers
  return UniqueFd(fd);
}

SpawnedBroker SpawnBroker() {
  if (geteuid() != 0) {
    throw EnvironmentError(
        "building a lab needs root (namespaces, links, routes): run with sudo, or use mode "
        "simulate");
  }
  const sys::Identity owner = sys::InvokingUser();
  auto [ours, theirs] = sys::MakeSocketPair(SOCK_SEQPACKET);
  const int pid = SystemCall("fork the broker", fork());
  if (pid == 0) BrokerMain(theirs.get(), owner);
  return {std::move(ours), pid};
}

void ReapBroker(int pid) {
  try {
    const UniqueFd process = sys::OpenPidFd(pid);
    pollfd wait{process.get(), POLLIN, 0};
    poll(&wait, 1, kReapMilliseconds);
  } catch (const Error&) {  // it was waited for elsewhere
  }
  waitpid(pid, nullptr, WNOHANG);
}

std::string ControlSocketPath(const std::string& lab) {
  return fmt::format("{}/{}/control", sys::kRunFolder, lab);
}

UniqueFd ConnectToSocket(const std::string& lab) {
  if (lab.empty() || lab.find('/') != std::string::npos) {
    throw UsageError("\"" + lab + "\" is not the name of a lab");
  }
  try {
    return sys::ConnectAt(ControlSocketPath(lab), SOCK_SEQPACKET);
  } catch (const SystemError& error) {
    const int cause = error.error_number();
    if (cause == ENOENT || cause == ENOTDIR || cause == ECONNREFUSED) {
      throw UsageError("no lab \"" + lab + "\" is up (see `viaduct ls`)");
    }
    throw;
  }
}

}  // namespace viaduct::broker
