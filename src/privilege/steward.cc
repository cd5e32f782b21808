#include "privilege/steward.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "base/error.h"
#include "privilege/capabilities.h"
#include "sys/descriptor_passing.h"
#include "sys/descriptors.h"
#include "sys/find_program.h"
#include "sys/process.h"
#include "sys/resource_limits.h"
#include "sys/signals.h"

namespace viaduct::privilege {
namespace {

// A pipe or terminal of the caller's must not stay open because a lab lives on.
UniqueFd KeepOnly(int connection) {
  UniqueFd kept(SystemCall("fcntl F_DUPFD", fcntl(connection, F_DUPFD_CLOEXEC, 3)));
  sys::DropStandardStreams();
  sys::CloseAllBut({kept.get()});
  return kept;
}

void ForgetEnvironment() {
  clearenv();
  setenv("PATH", sys::kSystemFolders, 1);
}

// The process whose name the connection bears, the user's, may run on time.
void FavourCaller(int connection) {
  ucred caller{};
  socklen_t length = sizeof caller;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &caller, &length) != 0) return;
  sys::AllowHighestPriority(caller.pid);
}

[[noreturn]] void Serve(const Offer& offer, UniqueFd connection, const sys::Identity& user) {
  signal(SIGCHLD, SIG_DFL);
  int status = 0;
  try {
    offer.serve(std::move(connection), user);
  } catch (const std::exception&) {
    status = 1;  // nobody to tell; the records under /run/viaduct remain for `viaduct clean`
  }
  sys::ExitForked(status);
}

struct Started {
  Answer answer;
  UniqueFd connection;
};

Started Start(uint32_t wanted, int steward, const sys::Identity& user, Offers offers) {
  const auto offer = std::ranges::find(offers, static_cast<Service>(wanted), &Offer::service);
  if (offer == offers.end()) return {{EINVAL, 0}, UniqueFd()};
  std::pair<UniqueFd, UniqueFd> sockets = sys::MakeSocketPair(SOCK_SEQPACKET);
  const pid_t pid = fork();
  if (pid == 0) {
    sockets.first.reset();
    close(steward);
    Serve(*offer, std::move(sockets.second), user);
  }
  if (pid < 0) return {{errno, 0}, UniqueFd()};
  sockets.second.reset();
  return {{0, pid}, std::move(sockets.first)};
}

}  // namespace

bool AnswerNext(int connection, const sys::Identity& user, Offers offers) {
  uint32_t wanted = 0;
  std::vector<UniqueFd> unwanted;
  const auto received = sys::ReceiveWithDescriptors(
      connection, std::as_writable_bytes(std::span(&wanted, 1)), unwanted);
  if (received.length != sizeof wanted || received.truncated) return false;
  const Started started = Start(wanted, connection, user, offers);
  const int passed = started.connection.get();
  return sys::SendWithDescriptors(connection, std::as_bytes(std::span(&started.answer, 1)),
                                  std::span(&passed, passed < 0 ? 0 : 1)) > 0;
}

UniqueFd Confine(int connection, const sys::Identity& user) {
  sys::TakeRootsLimits();
  setsid();  // Ctrl-C in the caller's terminal is the caller's alone
  sys::ResetSignals();
  sys::UnblockSignals();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // write(2) says EFBIG instead
  signal(SIGHUP, SIG_IGN);
  UniqueFd kept = KeepOnly(connection);
  umask(022);
  SystemCall("chdir /", chdir("/"));
  // Programs of a run that root itself started are root's programs, with all that root may, and
  // with root's own variables (OVS_RUNDIR).
  if (user.uid != 0) {
    ForgetEnvironment();
    BoundCapabilities();
  }
  KeepCapabilities(OfRootsHalf());
  return kept;
}

void RunSteward(int connection, const sys::Identity& user, Offers offers) {
  int status = 0;
  try {
    prctl(PR_SET_NAME, "viaduct-steward");
    const UniqueFd kept = Confine(connection, user);
    signal(SIGCHLD, SIG_IGN);  // its services need not be waited for
    FavourCaller(kept.get());
    SystemCall("send", send(kept.get(), &kReady, sizeof kReady, MSG_NOSIGNAL));
    while (AnswerNext(kept.get(), user, offers)) {
    }
  } catch (const std::exception& error) {
    (void)!send(connection, error.what(), std::strlen(error.what()), MSG_NOSIGNAL);
    status = 1;
  }
  sys::ExitForked(status);
}

}  // namespace viaduct::privilege
