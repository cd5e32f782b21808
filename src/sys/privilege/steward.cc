#include "sys/privilege/steward.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "base/error.h"
#include "sys/descriptors.h"
#include "sys/ipc/answer.h"
#include "sys/ipc/error.h"
#include "sys/privilege/capabilities.h"
#include "sys/process/find_program.h"
#include "sys/process/process.h"
#include "sys/process/resource_limits.h"
#include "sys/signals.h"

namespace viaduct::privilege {
namespace {

// Closes all descriptors except the connection, whose new descriptor it returns. A pipe or terminal
// of the caller must not be kept open by a lab that continues to run.
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

// Allows the user's process, which made the connection (SO_PEERCRED), the highest priority, so that
// it can run on time.
void FavourCaller(int connection) {
  ucred caller{};
  socklen_t length = sizeof caller;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &caller, &length) != 0) return;
  sys::AllowHighestPriority(caller.pid);
}

// Reports the reason for which the steward does not run. The connection may be closed already.
void Refuse(int connection, const std::string& why) {
  const std::string text = ipc::EncodeError(kStewardService, EnvironmentError(why));
  for (const auto& packet : ipc::EncodeMessage(kStewardService, ipc::Answer::kError, 0, text)) {
    (void)!send(connection, packet.data(), packet.size(), MSG_NOSIGNAL);
  }
}

[[noreturn]] void Serve(const ServiceEntry& entry, UniqueFd connection, const sys::Identity& user) {
  signal(SIGCHLD, SIG_DFL);
  int status = 0;
  try {
    entry.serve(std::move(connection), user);
  } catch (const std::exception&) {
    // The error is ignored, because no client is left to report it to. The records under
    // /run/viaduct remain for `viaduct clean`.
    status = 1;
  }
  sys::ExitForked(status);
}

ipc::Reply Start(const std::string& name, int steward, const sys::Identity& user,
                 ServiceEntries entries) {
  const auto entry =
      std::ranges::find(entries, name, [](const ServiceEntry& each) { return each.service->name; });
  if (entry == entries.end())
    throw UsageError("the privileged process of the command does not have the requested service");
  std::pair<UniqueFd, UniqueFd> sockets = sys::MakeSocketPair(SOCK_SEQPACKET);
  const pid_t pid = SystemCall("fork a privileged process", fork());
  if (pid == 0) {
    sockets.first.reset();
    close(steward);
    Serve(*entry, std::move(sockets.second), user);
  }
  ipc::Reply reply;
  reply.value["pid"] = pid;
  reply.descriptors.push_back(std::move(sockets.first));
  return reply;
}

}  // namespace

bool AnswerNext(ipc::Connection& connection, const sys::Identity& user, ServiceEntries entries) {
  return ipc::AnswerNext(connection, [&](ipc::Message& request) {
    if (request.code != StewardRequest::kStart) {
      throw ipc::UnknownRequest(kStewardService, request.code);
    }
    const auto name = ipc::Member<std::string>(ipc::DecodeJson(request.payload), "service");
    return Start(name, connection.fd(), user, entries);
  });
}

UniqueFd Confine(int connection, const sys::Identity& user) {
  sys::TakeRootsLimits();
  setsid();  // Ctrl-C in the caller's terminal must reach only the caller
  sys::ResetSignals();
  sys::UnblockSignals();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // write(2) returns EFBIG instead of a signal
  signal(SIGHUP, SIG_IGN);
  UniqueFd kept = KeepOnly(connection);
  umask(022);
  SystemCall("chdir /", chdir("/"));
  // Keeps the environment and the bounding set if root itself started the run: the programs of the
  // run are then root's programs, which need all privileges and the variables of root (such as
  // OVS_RUNDIR).
  if (user.uid != 0) {
    ForgetEnvironment();
    BoundCapabilities();
  }
  KeepCapabilities(OfRootsHalf());
  return kept;
}

void RunSteward(int connection, const sys::Identity& user, ServiceEntries entries) {
  int status = 0;
  try {
    prctl(PR_SET_NAME, "viaduct-steward");
    ipc::Connection kept(Confine(connection, user), kStewardService);
    signal(SIGCHLD, SIG_IGN);  // the kernel reaps services: the steward does not wait for them
    FavourCaller(kept.fd());
    kept.Send(ipc::Answer::kReply, 0, "{}");
    pollfd wait{kept.fd(), POLLIN, 0};
    while ((poll(&wait, 1, -1) > 0 || errno == EINTR) && AnswerNext(kept, user, entries)) {
    }
  } catch (const std::exception& error) {
    Refuse(connection, error.what());
    status = 1;
  }
  sys::ExitForked(status);
}

}  // namespace viaduct::privilege
