// viaduct-guest: the first process of a guest kernel, and the guest's only process except the
// processes that requests start.
//
//   viaduct-guest             as init: reads VIADUCT_CONTROL (the control interface, eth0) and
//                             VIADUCT_CONTROL_MTU (1500) from the kernel's command line
//   viaduct-guest --socket N  in separate namespaces on the host's kernel, with the simulator at
//                             the other end of the SOCK_SEQPACKET socket N: for tests
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "guest/inside/nodes.h"
#include "guest/inside/programs.h"
#include "guest/inside/state.h"
#include "guest/inside/transport.h"
#include "guest/service/agent.h"
#include "guest/service/sockets.h"
#include "sys/network/link.h"

namespace {

using namespace viaduct;
using namespace viaduct::guest::inside;
using viaduct::guest::service::Agent;
using viaduct::guest::service::Sockets;
using viaduct::guest::service::Transport;

void Mount(const char* type, const char* where) {
  // EBUSY: the kernel has already mounted the file system (CONFIG_DEVTMPFS_MOUNT).
  if (mount(type, where, type, 0, nullptr) != 0 && errno != EBUSY) {
    throw SystemError(std::string("mount ") + where, errno);
  }
}

// Mounts the guest's system file systems. The root file system is the host's, read-only; files that
// a guest writes stay in the guest.
void MountSystem() {
  Mount("proc", "/proc");
  Mount("sysfs", "/sys");
  Mount("devtmpfs", "/dev");
  Mount("tmpfs", "/run");
  Mount("tmpfs", "/tmp");
}

// Enters separate namespaces, for a test on the host; the namespaces disappear with the process.
void EnterOwnNamespaces() {
  const int own_user = geteuid() == 0 ? 0 : CLONE_NEWUSER;  // makes any user root in the namespace
  SystemCall("unshare", unshare(CLONE_NEWNET | CLONE_NEWNS | own_user));
  SystemCall("make mounts private", mount("", "/", "", MS_REC | MS_PRIVATE, nullptr));
  Mount("tmpfs", "/run");
  Mount("sysfs", "/sys");
}

int Number(const char* text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text, text + strlen(text), value);
  if (error != std::errc() || *end != '\0' || value < 0) {
    throw UsageError(std::string("not a number: ") + text);
  }
  return value;
}

// Raises the limit of descriptors: the agent has one or two descriptors for each node and one for
// each socket, so that the usual limit of 1024 is reached at some hundred nodes.
void RaiseDescriptorLimit() {
  const rlimit limit{1 << 20, 1 << 20};  // the default of fs.nr_open, the maximum
  SystemCall("setrlimit RLIMIT_NOFILE", setrlimit(RLIMIT_NOFILE, &limit));
}

std::unique_ptr<Transport> ControlInterface() {
  const char* name = getenv("VIADUCT_CONTROL");
  const char* mtu = getenv("VIADUCT_CONTROL_MTU");
  return std::make_unique<FrameTransport>(name != nullptr ? name : "eth0",
                                          static_cast<size_t>(mtu != nullptr ? Number(mtu) : 1500));
}

std::unique_ptr<Transport> Prepare(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "--socket") == 0) {
    UniqueFd socket(Number(argv[2]));
    EnterOwnNamespaces();
    return std::make_unique<SocketTransport>(std::move(socket));
  }
  if (getpid() != 1)
    throw UsageError("viaduct-guest runs only as the init process of a guest kernel");
  MountSystem();
  RaiseDescriptorLimit();
  return ControlInterface();
}

void Work(std::unique_ptr<Transport> transport) {
  Agent agent(std::move(transport));
  sys::Netlink().SetUp(1, true);  // the loopback interface
  Nodes nodes(agent);
  Sockets sockets(agent, [&nodes](const auto& request) { return nodes.OpenSocket(request); });
  Programs programs(agent, nodes);
  State state(agent, nodes);
  agent.Run();
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  try {
    Work(Prepare(argc, argv));
    return 0;
  } catch (const Error& error) {
    fprintf(stderr, "viaduct-guest: %s\n", error.what());
    return static_cast<int>(error.status());
  }
}
