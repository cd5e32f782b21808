#include "port/xdp/open.h"

#include <fmt/format.h>
#include <linux/if_xdp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/file.h"
#include "base/socket_option.h"
#include "port/xdp/veth_peer.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"

namespace viaduct::xdp {
namespace {

constexpr uint32_t kMaxQueues = 62;  // ipc::kMaxDescriptors minus the map and the control socket
constexpr Duration kCarrierTimeout = Duration::Seconds(10);
// The values of SO_PREFER_BUSY_POLL and SO_BUSY_POLL_BUDGET in asm-generic/socket.h (Linux 5.11).
constexpr int kPreferBusyPoll = 69, kBusyPollBudget = 70;

sys::LinkInfo Examine(const std::string& interface, const std::string& kind) {
  const auto link = sys::Netlink().FindLink(interface);
  if (!link) throw UsageError("there is no interface " + interface + "; see ip link");
  if (!link->ethernet) {
    throw UsageError(kind + " on interface " + interface +
                     ": the interface does not carry Ethernet frames");
  }
  const bool is_source = link->kind.empty() || link->kind == "veth" || link->kind == "tun";
  if (!is_source || interface == "lo") {
    throw EnvironmentError(fmt::format(
        "{} on interface {}: a software device of the kernel ({}) creates the frames of this "
        "interface, and the frames' bytes do not contain the checksums and VLAN tags; use "
        "AF_PACKET",
        kind, interface, interface == "lo" ? "loopback" : link->kind));
  }
  return *link;
}

void PollBusily(int fd, const BusyPoll& wanted) {
  SetSocketOption(fd, SOL_SOCKET, kPreferBusyPoll, 1, "SO_PREFER_BUSY_POLL");
  SetSocketOption(fd, SOL_SOCKET, SO_BUSY_POLL, wanted.microseconds, "SO_BUSY_POLL");
  SetSocketOption(fd, SOL_SOCKET, kBusyPollBudget, wanted.budget, "SO_BUSY_POLL_BUDGET");
}

UniqueFd OpenSocket(const Request& request) {
  const int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fd < 0 && errno == EAFNOSUPPORT) {
    throw EnvironmentError(
        "this kernel does not support AF_XDP (CONFIG_XDP_SOCKETS); use AF_PACKET");
  }
  UniqueFd opened(SystemCall("open an AF_XDP socket (needs root)", fd));
  sys::EnlargeBuffers(fd);
  if (request.busy_poll) PollBusily(fd, *request.busy_poll);
  return opened;
}

void AwaitCarrier(const sys::LinkInfo& before) {
  if (!before.running || sys::Netlink().AwaitRunning(before.name, kCarrierTimeout)) return;
  throw EnvironmentError(
      fmt::format("AF_XDP on interface {}: the interface lost its carrier when the XDP program was "
                  "attached, and the carrier did not return within {} s; use AF_PACKET",
                  before.name, kCarrierTimeout.ToSeconds()));
}

// Returns the real user of a process, from its status file: the owner of the files in /proc would
// be root if the process has changed its user.
std::optional<uid_t> RealUserOf(int pid) {
  const std::string status = ReadFileIfAny(fmt::format("/proc/{}/status", pid));
  constexpr std::string_view kKey = "\nUid:\t";
  const size_t at = status.find(kKey);
  if (at == status.npos) return std::nullopt;
  return static_cast<uid_t>(std::strtoul(status.c_str() + at + kKey.size(), nullptr, 10));
}

// The objects that must outlive an opened port. Members are destroyed in reverse order: the program
// first, then the guardian.
struct Keeper {
  std::unique_ptr<InterfaceGuardian> guardian;
  std::shared_ptr<Program> program;
};

}  // namespace

std::vector<NeededOff> OffloadsInTheWay(const std::string& interface, const std::string& kind) {
  const sys::LinkInfo link = Examine(interface, kind);
  std::vector<NeededOff> needed;
  needed.push_back({sys::OpenCurrentNamespace(),
                    interface,
                    link.ifindex,
                    {sys::Offloads::kSegmentation, sys::Offloads::kTags}});
  if (auto peer = FindVethPeer(interface)) {
    needed.push_back({std::move(peer->network),
                      peer->name,
                      peer->ifindex,
                      {sys::Offloads::kAll, sys::Offloads::kTags}});
  }
  return needed;
}

Opened Open(const Request& request) {
  const sys::LinkInfo link = Examine(request.interface, "AF_XDP");
  const UniqueFd here = sys::OpenCurrentNamespace();
  const uint32_t queues = sys::ReceiveQueues(here.get(), request.interface);
  if (queues > kMaxQueues) {
    throw EnvironmentError(
        fmt::format("AF_XDP on interface {}: the interface has {} receive queues, but at most {} "
                    "are supported; reduce the number with: ethtool -L {} combined {}",
                    request.interface, queues, kMaxQueues, request.interface, kMaxQueues));
  }
  Opened opened;
  for (uint32_t queue = 0; queue < queues; ++queue) {
    opened.sockets.queues.push_back(OpenSocket(request));
  }
  opened.program = std::make_shared<Program>(request.interface, link.ifindex, queues,
                                             request.filter, request.mode);
  AwaitCarrier(link);
  opened.why_generic = opened.program->why_generic();
  io::XdpSockets& sockets = opened.sockets;
  sockets.ifindex = link.ifindex;
  sockets.map = opened.program->Map();
  sockets.control = sys::OpenPacketSocket(request.interface, request.promiscuous).fd;
  sockets.native = opened.program->native();
  sockets.busy_poll = request.busy_poll.has_value();
  // In native mode a hardware driver has verified or completed the checksum of each frame that it
  // gives to the program.
  sockets.may_be_partial = !sockets.native || !link.kind.empty();
  sockets.program = opened.program->Placement();
  return opened;
}

uint64_t LockedMemory(const io::XdpOptions& options, size_t queues, uint32_t mtu) {
  return uint64_t{io::XdpPort::ChunksFor(options, queues)} * io::XdpPort::ChunkBytesFor(mtu);
}

io::XdpOptions FitLockedMemory(io::XdpOptions options, size_t queues, uint32_t mtu, size_t ports,
                               uint64_t limit) {
  constexpr uint32_t kFewest = 256;
  while (ports * LockedMemory(options, queues, mtu) > limit && options.slots > kFewest) {
    options.slots /= 2;
    options.send_slots /= 2;
  }
  return options;
}

void AllowLockedMemory(int pid, uid_t user, uint64_t bytes) {
  if (RealUserOf(pid) != user) return;
  rlimit limit{};
  if (prlimit(pid, RLIMIT_MEMLOCK, nullptr, &limit) != 0) return;
  if (limit.rlim_cur == RLIM_INFINITY) return;
  limit.rlim_cur += bytes;
  limit.rlim_max = std::max(limit.rlim_max, limit.rlim_cur);
  prlimit(pid, RLIMIT_MEMLOCK, &limit, nullptr);
}

io::XdpPort OpenXdpPort(const Request& request, const io::XdpOptions& options) try {
  if (!Unavailable().empty()) throw EnvironmentError(Unavailable() + "; use AF_PACKET");
  auto keeper = std::make_shared<Keeper>();
  keeper->guardian = std::make_unique<InterfaceGuardian>(request.interface);
  Opened opened = Open(request);
  keeper->guardian->Guard(*opened.program);
  keeper->program = std::move(opened.program);
  opened.sockets.keeper = std::move(keeper);
  return {std::move(opened.sockets), options};
} catch (const SystemError& error) {
  if (error.error_number() != EPERM && error.error_number() != EACCES) throw;
  throw EnvironmentError(
      fmt::format("AF_XDP on interface {} requires root ({}); run as root, or use AF_PACKET",
                  request.interface, error.what()));
}

}  // namespace viaduct::xdp
