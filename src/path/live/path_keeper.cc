#include "path/live/path_keeper.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text/terminal_text.h"
#include "path/live/interfaces.h"
#include "path/live/path_record.h"
#include "port/dpdk/open.h"
#include "port/netmap/open.h"
#include "port/packet/ring_port.h"
#include "port/packet/tun_port.h"
#include "port/xdp/open.h"
#include "sys/ipc/answer.h"
#include "sys/ipc/unix_socket.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/network/tun.h"
#include "sys/privilege/halves.h"

namespace viaduct::path {
namespace {

// Returns the name, for messages, of a kind of port that needs complete frames.
const char* NameOfWhole(PortKind kind) { return kind == PortKind::kNetmap ? "netmap" : "DPDK"; }

using ipc::Member;
using ipc::Reply;
using nlohmann::json;

// The limits of a path: the numbers of interfaces and of pairs, and the length of a pair's name.
// Each pair has two ports, and one process cannot forward between more ports than these limits
// allow.
constexpr size_t kMaxInterfaces = 1024, kMaxPairs = 4096, kMaxPairLength = 256;

void CheckInterfaceName(const std::string& interface) {
  constexpr size_t kLongest = 15;  // IFNAMSIZ without the final zero
  const bool is_name = !interface.empty() && interface.size() <= kLongest && interface != "." &&
                       interface != ".." && std::ranges::none_of(interface, [](unsigned char c) {
                         return c <= ' ' || c == '/' || c == 0x7F;
                       });
  if (!is_name) throw UsageError(fmt::format("\"{}\" is not a valid interface name", interface));
}

PathInfo Introduce(const json& request, const sys::Identity& user) {
  PathInfo info = DecodePath(request);
  info.uid = user.uid;
  info.network = sys::IdentifyNamespace(sys::OpenCurrentNamespace().get());
  if (!info.name.empty()) return info;
  info.name = info.pairs.front();
  // A path in another network namespace may be between interfaces of the same names.
  const bool taken = std::ranges::any_of(
      ListPaths(), [&](const PathInfo& other) { return other.alive && other.name == info.name; });
  if (taken) info.name += fmt::format("-{}", getpid());
  return info;
}

class PathKeeper {
 public:
  PathKeeper(UniqueFd connection, const sys::Identity& user)
      : connection_(std::move(connection), kPathService), user_(user) {}

  void Work() {
    prctl(PR_SET_NAME, "viaduct-keeper");
    for (const int number : {SIGINT, SIGTERM}) signal(number, SIG_IGN);
    pollfd wait{connection_.fd(), POLLIN, 0};
    const auto perform = [this](ipc::Message& request) { return Perform(request); };
    while ((poll(&wait, 1, -1) > 0 || errno == EINTR) && ipc::AnswerNext(connection_, perform)) {
    }
    GiveBack(sys::MachineLock());
  }

 private:
  Reply Perform(ipc::Message& request) {
    const json arguments = ipc::DecodeJson(request.payload);
    switch (request.code.As<PathRequest>()) {
      case PathRequest::kTakeInterfaces:
        return Take(arguments);
      case PathRequest::kOpenPort:
        return Open(Member<size_t>(arguments, "port"), arguments);
      default:
        throw ipc::UnknownRequest(kPathService, request.code);
    }
  }

  Reply Take(const json& request) {
    if (info_) throw UsageError("this process has already opened its interfaces");
    const sys::MachineLock lock;
    PathInfo info = Introduce(request, user_);
    record_ = RecordPath(&info, lock);
    info_ = std::move(info);
    try {
      const bool taps = Member<bool>(request, "tap");
      for (size_t port = 0; port < info_->interfaces.size(); ++port) {
        if (taps) {
          taps_[port] = OpenTap(info_->interfaces[port], lock);
        } else {
          TakeInterface(info_->interfaces[port], &*info_, &record_, lock);
        }
      }
      Reply reply;
      reply.value = {{"name", info_->name}, {"created", info_->created}};
      reply.descriptors.push_back(
          sys::ListenAt(info_->control_socket(), user_.uid, user_.gid, SOCK_STREAM));
      return reply;
    } catch (...) {
      GiveBack(lock);
      throw;
    }
  }

  // Opens a port and takes its interface again: an interface of the same name may be a new one.
  Reply Open(size_t port, const json& arguments) {
    if (!info_ || port >= info_->interfaces.size())
      throw UsageError("the path does not have the requested port");
    const std::string& name = info_->interfaces[port];
    programs_.erase(port);
    const sys::MachineLock lock;
    if (Member<bool>(arguments, "tap")) return GiveTap(port, lock);
    TakeInterface(name, &*info_, &record_, lock);
    if (Member<bool>(arguments, "xdp")) {
      return OpenXdp(port, Member<int>(arguments, "pid"), lock);
    }
    if (const auto kind = Member<std::string>(arguments, "whole"); !kind.empty()) {
      TakeForXdp(name, kind, &*info_, &record_, lock);
    }
    sys::PacketSocket socket = sys::OpenPacketSocket(name, true);
    Reply reply;
    reply.value["ifindex"] = socket.ifindex;
    reply.descriptors.push_back(std::move(socket.fd));
    return reply;
  }

  // Opens a TAP device. A device that does not exist is created and set up; it is removed when its
  // descriptor is closed.
  UniqueFd OpenTap(const std::string& name, const sys::MachineLock& lock) {
    sys::Netlink session;
    const bool made = !session.FindLink(name);
    UniqueFd device = std::move(sys::OpenTap(name, 1).front());
    if (made) session.SetUp(session.IfIndex(name), true);
    TakeTap(name, made, &*info_, &record_, lock);
    // The wait is necessary: until the kernel has processed the change of the carrier, it loses the
    // frames that it sends.
    session.AwaitRunning(name, Duration::Seconds(2));
    return device;
  }

  // Passes the descriptor of a TAP device to the path's process. Keeps no copy, because the device
  // would then outlive the path's process.
  Reply GiveTap(size_t port, const sys::MachineLock& lock) {
    const std::string& name = info_->interfaces[port];
    auto kept = taps_.extract(port);
    Reply reply;
    reply.descriptors.push_back(kept ? std::move(kept.mapped()) : OpenTap(name, lock));
    reply.value["ifindex"] = sys::Netlink().IfIndex(name);
    return reply;
  }

  Reply OpenXdp(size_t port, int client, const sys::MachineLock& lock) {
    const std::string& name = info_->interfaces[port];
    TakeForXdp(name, "AF_XDP", &*info_, &record_, lock);
    xdp::Opened opened = xdp::Open({.interface = name});
    io::XdpSockets& sockets = opened.sockets;
    if (const uint32_t left = opened.program->Left(); left != 0) {
      TakenInterface beside{name, sockets.ifindex, {}, {}, left};
      record_.Write(beside);
      info_->taken.push_back(std::move(beside));
    }
    const auto mtu = static_cast<uint32_t>(sys::Netlink().GetLink(name).mtu);
    xdp::AllowLockedMemory(client, user_.uid, xdp::LockedMemory({}, sockets.queues.size(), mtu));
    programs_[port] = std::move(opened.program);
    Reply reply;
    reply.value = {{"ifindex", sockets.ifindex}, {"mtu", mtu},
                   {"native", sockets.native},   {"may_be_partial", sockets.may_be_partial},
                   {"program", sockets.program}, {"why_generic", opened.why_generic}};
    reply.descriptors = std::move(sockets.queues);
    reply.descriptors.push_back(std::move(sockets.map));
    reply.descriptors.push_back(std::move(sockets.control));
    return reply;
  }

  void GiveBack(const sys::MachineLock& lock) {
    programs_.clear();
    taps_.clear();
    if (info_) RemovePath(*info_, lock);  // changes that remain stay recorded, for `viaduct clean`
    info_.reset();
  }

  ipc::Connection connection_;
  const sys::Identity user_;
  std::optional<PathInfo> info_;  // absent until the path is recorded
  sys::OwnEntry record_;
  std::map<size_t, std::shared_ptr<xdp::Program>> programs_;  // indexed by port
  std::map<size_t, UniqueFd> taps_;  // TAP devices by port, until the port is opened
};

}  // namespace

PathInfo DecodePath(const json& request) {
  PathInfo info;
  info.interfaces = Member<std::vector<std::string>>(request, "interfaces");
  info.pairs = Member<std::vector<std::string>>(request, "pairs");
  info.name = Member<std::string>(request, "name");
  if (info.pairs.empty() || info.pairs.size() > kMaxPairs ||
      info.interfaces.size() > kMaxInterfaces ||
      std::ranges::any_of(info.pairs,
                          [](const auto& pair) { return pair.size() > kMaxPairLength; })) {
    throw UsageError("the path has too many pairs or interfaces, or their names are too long");
  }
  for (const std::string& pair : info.pairs) {
    if (TerminalLine(pair) != pair)
      throw UsageError("the name of a pair contains control characters");
  }
  std::ranges::for_each(info.interfaces, CheckInterfaceName);
  return info;
}

void KeepPath(UniqueFd connection, const sys::Identity& user) {
  PathKeeper(std::move(connection), user).Work();
}

KeptPath::KeptPath(const engine::Config& config, PortKind kind,
                   std::function<void(const std::string&)> note)
    : kind_(kind),
      note_(std::move(note)),
      root_(privilege::CallerOf(kPathService,
                                "the path's process that runs as root has exited unexpectedly")),
      interfaces_(config.ports),
      ifindices_(config.ports.size()) {
  root_.LimitWaiting(std::nullopt, ipc::Caller::kGrace);
  json request = {{"name", config.name},
                  {"interfaces", config.ports},
                  {"pairs", json::array()},
                  {"tap", kind == PortKind::kTap}};
  for (const engine::Pair& pair : config.pairs) request["pairs"].push_back(pair.name);
  ipc::Message answer = root_.Call(PathRequest::kTakeInterfaces, request.dump());
  const json taken = ipc::DecodeJson(answer.payload);
  name_ = Member<std::string>(taken, "name");
  created_ = Member<std::string>(taken, "created");
  if (answer.descriptors.size() != 1) throw Error("the control socket of the path is missing");
  listener_ = std::move(answer.descriptors[0]);
}

std::unique_ptr<io::AnyPort> KeptPath::OpenPort(size_t port) {
  if (kind_ == PortKind::kAfPacket) return OpenRing(port);
  if (kind_ == PortKind::kAfXdp) return OpenXdp(port);
  if (kind_ == PortKind::kDpdk) return OpenDpdk(port);
  if (kind_ == PortKind::kNetmap) return OpenNetmap(port);
  if (kind_ == PortKind::kTap) return OpenTap(port);
  std::string reason;
  try {
    auto opened = OpenXdp(port);
    if (opened->state().zero_copy) {
      note_(
          fmt::format("port {}: af_xdp, because the driver supports zero-copy", interfaces_[port]));
      return opened;
    }
    reason = "the driver does not support zero-copy for AF_XDP";
  } catch (const Error& error) {
    reason = error.what();
  }
  note_(fmt::format("port {}: af_packet ({})", interfaces_[port], reason));
  return OpenRing(port);
}

ipc::Message KeptPath::AskToOpen(size_t port, Way way) {
  const json request = {{"port", port},
                        {"xdp", way == Way::kXdp},
                        {"whole", way == Way::kWhole ? std::string(NameOfWhole(kind_)) : ""},
                        {"tap", way == Way::kTap},
                        {"pid", getpid()}};
  return root_.Call(PathRequest::kOpenPort, request.dump());
}

std::unique_ptr<io::AnyPort> KeptPath::OpenRing(size_t port) {
  ipc::Message answer = AskToOpen(port, Way::kPacket);
  if (answer.descriptors.size() != 1) throw Error("the socket of the port is missing");
  io::RingOptions options;
  options.ifindex = Member<int>(ipc::DecodeJson(answer.payload), "ifindex");
  ifindices_[port] = options.ifindex;
  return io::Hold(io::RingPort(std::move(answer.descriptors[0]), options));
}

UniqueFd KeptPath::OpenWhole(size_t port) {
  ipc::Message answer = AskToOpen(port, Way::kWhole);
  if (answer.descriptors.size() != 1) throw Error("the socket of the port is missing");
  ifindices_[port] = Member<int>(ipc::DecodeJson(answer.payload), "ifindex");
  return std::move(answer.descriptors[0]);
}

// Throws EnvironmentError if this process is not root: DPDK and netmap open the device in this
// process, and root's half cannot pass a descriptor.
void NeedRootHere(const char* library) {
  if (geteuid() == 0) return;
  throw EnvironmentError(fmt::format(
      "{} opens its devices in the process that forwards frames, which runs as your user, not as "
      "root, even under sudo; use AF_PACKET or AF_XDP, or start the command from a root shell",
      library));
}

std::unique_ptr<io::AnyPort> KeptPath::OpenDpdk(size_t port) {
  NeedRootHere("DPDK");
  return dpdk::OpenPort({.interface = interfaces_[port], .control = OpenWhole(port)});
}

std::unique_ptr<io::AnyPort> KeptPath::OpenNetmap(size_t port) {
  NeedRootHere("netmap");
  return netmap::OpenPort(interfaces_[port], std::make_shared<UniqueFd>(OpenWhole(port)));
}

std::unique_ptr<io::AnyPort> KeptPath::OpenTap(size_t port) {
  ipc::Message answer = AskToOpen(port, Way::kTap);
  if (answer.descriptors.size() != 1) throw Error("the device of the port is missing");
  const int ifindex = Member<int>(ipc::DecodeJson(answer.payload), "ifindex");
  ifindices_[port] = ifindex;
  io::TunOptions options;
  options.vnet_header = true;
  options.kernel_drops = [ifindex] {
    return sys::TapDrops(sys::OpenCurrentNamespace().get(), ifindex);
  };
  UniqueFd control(SystemCall("socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  return io::Hold(io::TunPort(std::move(answer.descriptors[0]), std::move(options),
                              {std::move(control), ifindex}));
}

std::unique_ptr<io::XdpPort> KeptPath::OpenXdp(size_t port) {
  ipc::Message answer = AskToOpen(port, Way::kXdp);
  if (answer.descriptors.size() < 3) throw Error("the socket of the port is missing");
  const json opened = ipc::DecodeJson(answer.payload);
  io::XdpSockets sockets;
  sockets.ifindex = Member<int>(opened, "ifindex");
  sockets.native = Member<bool>(opened, "native");
  sockets.may_be_partial = Member<bool>(opened, "may_be_partial");
  sockets.program = Member<std::string>(opened, "program");
  sockets.control = std::move(answer.descriptors.back());
  answer.descriptors.pop_back();
  sockets.map = std::move(answer.descriptors.back());
  answer.descriptors.pop_back();
  sockets.queues = std::move(answer.descriptors);
  ifindices_[port] = sockets.ifindex;
  const auto why_generic = Member<std::string>(opened, "why_generic");
  if (!why_generic.empty() && kind_ == PortKind::kAfXdp) {
    note_(fmt::format("port {}: af_xdp in generic mode: {}", interfaces_[port], why_generic));
  }
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  if (geteuid() != 0) getrlimit(RLIMIT_MEMLOCK, &limit);
  const io::XdpOptions options =
      xdp::FitLockedMemory({}, sockets.queues.size(), Member<uint32_t>(opened, "mtu"),
                           interfaces_.size(), limit.rlim_cur);
  if (options.slots < io::XdpOptions().slots) {
    note_(fmt::format(
        "port {}: space for {} frames instead of {}, because the limit of locked memory (ulimit "
        "-l) is {} MiB",
        interfaces_[port], options.slots, io::XdpOptions().slots, limit.rlim_cur >> 20));
  }
  return std::make_unique<io::XdpPort>(std::move(sockets), options);
}

}  // namespace viaduct::path
