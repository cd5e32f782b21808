#include "lab/broker/broker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "lab/broker/lab_operations.h"
#include "lab/broker/protocol.h"
#include "lab/broker/server.h"
#include "lab/topology.h"
#include "sys/descriptor_limit.h"
#include "sys/descriptors.h"
#include "sys/ipc/unix_socket.h"
#include "sys/privilege/steward.h"
#include "sys/process/invoking_user.h"
#include "sys/process/process.h"
#include "sys/signals.h"
#include "sys/trusted_folder.h"

namespace viaduct::broker {
namespace {

constexpr char kConnectionVariable[] = "VIADUCT_BROKER_FD";

[[noreturn]] void BrokerMain(int connection, const sys::Identity& owner) {
  int status = 0;
  try {
    RunBroker(privilege::Confine(connection, owner), owner);
  } catch (const std::exception&) {
    // No client can receive the error. `viaduct clean` uses the record in /run/viaduct to clean up.
    status = 1;
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
        fmt::format("{}={} is not a connection to a broker; unset this environment variable",
                    kConnectionVariable, text));
  }
  SystemCall("fcntl F_SETFD", fcntl(fd, F_SETFD, FD_CLOEXEC));
  // The connection is in use now: a second client of the inherited connection would mix up the
  // answers.
  unsetenv(kConnectionVariable);
  return UniqueFd(fd);
}

void RunBroker(UniqueFd connection, const sys::Identity& owner) {
  prctl(PR_SET_NAME, "viaduct-broker");
  // Programs of the lab whose parents have ended become the broker's children.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  UniqueFd signals = sys::CatchSignals({SIGTERM, SIGINT, SIGCHLD});
  sys::RaiseDescriptorLimit();
  LabOperations operations(owner, std::move(signals));
  Server server(operations);
  server.AddConnection(std::move(connection));
  server.Run();
  operations.Shutdown();
}

privilege::ServiceProcess SpawnBroker() {
  if (privilege::HasRootsHalf()) return privilege::Ask(kService);
  if (geteuid() != 0) {
    throw EnvironmentError(
        "building a lab (namespaces, links, routes) needs root; use sudo, or use mode "
        "simulate");
  }
  const sys::Identity owner = sys::InvokingUser();
  std::pair<UniqueFd, UniqueFd> ends = sys::MakeSocketPair(SOCK_SEQPACKET);
  const int pid = SystemCall("fork the broker", fork());
  if (pid == 0) BrokerMain(ends.second.get(), owner);
  // After the fork, so that the lab's programs cannot use this priority.
  sys::AllowHighestPriority();
  sys::BecomeInvokingUser();
  return {std::move(ends.first), pid};
}

std::string ControlSocketPath(const std::string& lab) {
  return fmt::format("{}/{}/control", sys::kRunFolder, lab);
}

UniqueFd ConnectToSocket(const std::string& lab) {
  lab::CheckLabName(lab);
  try {
    return sys::ConnectAt(ControlSocketPath(lab), SOCK_SEQPACKET);
  } catch (const SystemError& error) {
    const int cause = error.error_number();
    if (cause == ECONNREFUSED) {
      throw UsageError(
          fmt::format("lab \"{}\" is no longer up: its broker exited; run `viaduct clean` to "
                      "remove what is left",
                      lab));
    }
    if (cause == ENOENT || cause == ENOTDIR) {
      throw UsageError("no lab \"" + lab + "\" is up (see `viaduct ls`)");
    }
    throw;
  }
}

}  // namespace viaduct::broker
