#include "sys/process/guardian.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>

#include "base/error.h"
#include "sys/descriptors.h"
#include "sys/process/child.h"
#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

[[noreturn]] void GuardianMain(int connection, const sigset_t& mask,
                               const std::function<void(int)>& work) {
  setsid();  // Ctrl-C in this terminal must reach only the command
  prctl(PR_SET_NAME, "viaduct-guard");
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    signal(signal_number, SIG_IGN);
  }
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  constexpr char kReady = 0;
  // The send fails if the guarded process has ended already. `work` will detect the end, too.
  (void)!send(connection, &kReady, sizeof kReady, MSG_NOSIGNAL);
  int status = 0;
  try {
    work(connection);
  } catch (const std::exception&) {
    status = 1;
  }
  ExitForked(status);
}

}  // namespace

Guardian::Guardian(const std::function<void(int connection)>& work) {
  auto [ours, theirs] = MakeSocketPair(SOCK_SEQPACKET);
  // Blocks all signals, so that no signal reaches the guardian before the guardian ignores it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pid_ = fork();
  if (pid_ == 0) {
    ours.reset();
    GuardianMain(theirs.get(), before, work);
  }
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) throw SystemError("fork a guardian", error);
  connection_ = std::move(ours);
  AwaitReady();
}

// Waits until the guardian has left this process's group: before that, a signal that kills all
// processes of this group also kills the guardian.
void Guardian::AwaitReady() {
  char byte;
  while (recv(connection_.get(), &byte, sizeof byte, 0) < 0 && errno == EINTR) {
  }
}

Guardian::~Guardian() {
  connection_.reset();
  try {
    AwaitChild(pid_);
  } catch (const SystemError&) {
    // Ignores the error: a user's program may have waited for all its children, or ignore SIGCHLD.
    return;
  }
}

void AwaitEnd(int connection) {
  char byte;
  for (;;) {
    const ssize_t got = recv(connection, &byte, sizeof byte, 0);
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

}  // namespace viaduct::sys
