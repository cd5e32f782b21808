#include "cli/guardian.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <exception>

#include "base/error.h"
#include "broker/connection.h"

namespace viaduct::cli {
namespace {

[[noreturn]] void GuardianMain(int connection, const std::function<void(int)>& work) {
  setsid();  // Ctrl-C in this terminal is the command's alone
  prctl(PR_SET_NAME, "viaduct-guard");
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    signal(signal_number, SIG_IGN);
  }
  int status = 0;
  try {
    work(connection);
  } catch (const std::exception&) {
    status = 1;
  }
  _exit(status);  // no destructors or exit handlers of the process we were forked from
}

}  // namespace

Guardian::Guardian(const std::function<void(int connection)>& work) {
  auto pair = broker::MakeSocketPair();
  pid_ = SystemCall("fork a guardian", fork());
  if (pid_ == 0) {
    pair.first.reset();
    GuardianMain(pair.second.get(), work);
  }
  connection_ = std::move(pair.first);
}

Guardian::~Guardian() {
  connection_.reset();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void AwaitEnd(int connection) {
  char byte;
  for (;;) {
    const ssize_t got = recv(connection, &byte, sizeof byte, 0);
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

}  // namespace viaduct::cli
