#include "lab/broker/lab_engine.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/wire/ethernet.h"
#include "lab/broker/lab_process.h"
#include "lab/fabric.h"
#include "lab/record.h"
#include "path/engine/control.h"
#include "path/engine/describe.h"
#include "path/engine/engine.h"
#include "port/packet/ring_port.h"
#include "remote/tunnel/describe.h"
#include "remote/tunnel/trunk_port.h"
#include "sys/ipc/unix_socket.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/signals.h"
#include "sys/trusted_folder.h"

namespace viaduct::broker {
namespace {

// Ring slots: the maximum for a port, the number that all ports of a lab share, and the minimum for
// a port.
constexpr uint32_t kRingSlots = 4096, kLabSlots = 65536, kMinSlots = 256;

struct FabricPort {
  std::string name;
  sys::PacketSocket socket;
};

// The settings, sockets and hub of the engine, opened with the broker's privileges.
struct Equipment {
  engine::Config config;
  std::string directory;
  std::vector<FabricPort> ports;
  // The hub of the lab's remote nodes, or null; the hub's port is the engine's last port.
  std::shared_ptr<tunnel::SharedHub> hub;
  UniqueFd listener;
};

// Checks that the kernel would allow the lab's owner to bind the hub's UDP port: the broker, which
// binds it, has more privileges. Throws UsageError.
void CheckPort(const lab::HubAddress& hub, const sys::Identity& owner) {
  const std::string first = ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start");
  if (hub.port == 0 || owner.uid == 0 || hub.port >= std::atoi(first.c_str())) return;
  throw UsageError(fmt::format("UDP port {}: only root may use this port", hub.port));
}

// Opens the hub in the calling thread's network namespace, from which the clients must be
// reachable.
std::shared_ptr<tunnel::SharedHub> OpenHub(const lab::Topology& topology,
                                           const sys::Identity& owner, UniqueFd inner_socket) {
  if (topology.remotes.empty()) return nullptr;
  CheckPort(topology.hub, owner);
  std::vector<tunnel::RemoteNode> nodes;
  nodes.reserve(topology.remotes.size());
  for (const lab::Remote& remote : topology.remotes) {
    tunnel::RemoteNode& node = nodes.emplace_back();
    node.name = remote.programs_of.empty() ? remote.name : remote.programs_of;
    node.vni = remote.vni;
    node.max_frame = wire::EthernetHeader::kSize + wire::VlanTag::kSize +
                     static_cast<size_t>(remote.interface.mtu);
    node.tag_room = wire::VlanTag::kSize;
    node.address = remote.address;
    node.anyone = remote.anyone;
  }
  tunnel::ClientHub::Options options;
  options.address = topology.hub.address;
  options.port = topology.hub.port;
  if (inner_socket) options.inner_socket = inner_socket.release();
  options.readers =
      topology.hub.readers ? static_cast<size_t>(*topology.hub.readers) : tunnel::SuitableReaders();
  if (topology.hub.queue) options.waiting_frames = static_cast<size_t>(*topology.hub.queue);
  return std::make_shared<tunnel::SharedHub>(std::move(nodes), options);
}

Equipment Prepare(lab::Lab& lab, const sys::Identity& owner, UniqueFd inner_socket) {
  Equipment equipment;
  engine::Config& config = equipment.config;
  config.name = lab.name();
  config.seed = lab.topology().seed;
  equipment.directory = lab.topology().directory;
  equipment.hub = OpenHub(lab.topology(), owner, std::move(inner_socket));
  const sys::NamespaceScope scope(lab.FabricFd());
  const std::vector<lab::FabricPair> pairs = lab::FabricPairs(lab.topology());
  size_t trunk = 0;  // the number of the hub's port
  for (const lab::FabricPair& pair : pairs) {
    trunk += (pair.a.remote ? 0 : 1) + (pair.b.remote ? 0 : 1);
  }
  const auto attach = [&](const lab::FabricEnd& end) {
    engine::Attachment attachment;
    attachment.port = end.remote ? trunk : equipment.ports.size();
    if (end.remote) {
      attachment.channel = tunnel::TrunkPort::ChannelOf(*end.remote);
      return attachment;
    }
    equipment.ports.push_back({end.interface, sys::OpenPacketSocket(end.interface, true)});
    config.ports.push_back(end.interface);
    return attachment;
  };
  for (const lab::FabricPair& pair : pairs) {
    const engine::Attachment a = attach(pair.a);
    const engine::Attachment b = attach(pair.b);
    config.pairs.push_back({pair.name, a, b, pair.up, pair.down, pair.classes});
  }
  if (equipment.hub) config.ports.emplace_back("tunnel");
  equipment.listener =
      sys::ListenAt(EngineSocketPath(lab.name()), owner.uid, owner.gid, SOCK_STREAM);
  return equipment;
}

std::vector<std::unique_ptr<io::AnyPort>> OpenPorts(std::vector<FabricPort> ports,
                                                    const std::shared_ptr<tunnel::SharedHub>& hub) {
  io::RingOptions options;
  options.slots = std::clamp(kLabSlots / std::max<uint32_t>(1, static_cast<uint32_t>(ports.size())),
                             kMinSlots, kRingSlots);
  std::vector<std::unique_ptr<io::AnyPort>> opened;
  for (FabricPort& port : ports) {
    options.ifindex = port.socket.ifindex;
    opened.push_back(io::Hold(io::RingPort(std::move(port.socket.fd), options)));
  }
  if (hub) opened.push_back(io::Hold(tunnel::TrunkPort(hub)));
  return opened;
}

size_t RemoteNamed(const tunnel::ClientHub& hub, const std::string& name) {
  const auto found = std::ranges::find(hub.nodes(), name, &tunnel::RemoteNode::name);
  if (found == hub.nodes().end()) throw UsageError(name + " is not a remote node of this lab");
  return static_cast<size_t>(found - hub.nodes().begin());
}

// Answers requests of the control socket that concern the hub and its remote nodes.
nlohmann::json AnswerOfHub(tunnel::SharedHub* shared, const engine::ControlRequest& request,
                           double seconds) {
  using Kind = engine::ControlRequest::Kind;
  if (shared == nullptr) throw UsageError("this lab has no remote nodes");
  return shared->With([&](tunnel::ClientHub& hub) -> nlohmann::json {
    if (request.kind == Kind::kHub || request.kind == Kind::kClients) hub.CountOutside();
    if (request.kind == Kind::kHub) {
      result::HubProgress progress = tunnel::Summarize(hub);
      progress.seconds = seconds;
      return {{"hub", progress}};
    }
    if (request.kind == Kind::kClients) {
      result::HubResult result;
      result.seconds = seconds;
      tunnel::Describe(hub, &result);
      return {{"clients", result}};
    }
    const size_t node = RemoteNamed(hub, *request.node);
    if (request.kind == Kind::kClaim) {
      hub.Claim(node, wire::IpAddress::Parse(*request.address));
    } else {
      hub.Release(node);
    }
    return nlohmann::json::object();
  });
}

// Serves the control socket until a signal arrives at the signalfd `signals`.
void AnswerUntilSignal(Equipment& equipment, engine::Engine& engine, int signals) {
  const engine::Config& config = equipment.config;
  const Instant started = MonotonicClock::Now();
  engine::LivePath live(
      config, [&](const engine::Change& change) { engine.Check(change); },
      [&](const engine::Change& change) { engine.Apply(change); });
  const auto answer = [&](const engine::ControlRequest& request) -> nlohmann::json {
    if (request.kind == engine::ControlRequest::Kind::kSet) {
      engine::PerformSet(request, config, live);
      return nlohmann::json::object();
    }
    const double seconds = (MonotonicClock::Now() - started).ToSeconds();
    if (request.kind != engine::ControlRequest::Kind::kStats) {
      return AnswerOfHub(equipment.hub.get(), request, seconds);
    }
    result::EngineResult stats = engine::DescribeStatistics(engine.Read(), std::nullopt);
    stats.name = config.name;
    stats.seed = config.seed;
    stats.seconds = seconds;
    return {{"stats", stats}};
  };
  engine::ControlServer server(std::move(equipment.listener), answer);
  std::array<pollfd, 2> waits{{{server.fd(), POLLIN, 0}, {signals, POLLIN, 0}}};
  while (waits[1].revents == 0) {
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR)
      throw SystemError("poll", errno);
    server.Serve();
  }
}

// Runs the engine until SIGTERM or SIGINT.
void Forward(Equipment equipment, const std::function<void()>& ready) {
  // Enters the base folder of the SPECs with the user's rights. If this fails, only SPECs with
  // relative file names are affected: they report an error later.
  if (chdir(equipment.directory.c_str()) != 0) errno = 0;
  // Blocks the signals before the engine's threads start, so that the signals are blocked in the
  // threads, too.
  const UniqueFd signals = sys::CatchSignals({SIGTERM, SIGINT});
  engine::Engine engine(equipment.config, OpenPorts(std::move(equipment.ports), equipment.hub));
  engine.Start();
  ready();
  AnswerUntilSignal(equipment, engine, signals.get());
  engine.Stop();
}

}  // namespace

std::string EngineSocketPath(const std::string& lab) {
  return fmt::format("{}/{}/engine", sys::kRunFolder, lab);
}

LabEngine::LabEngine(lab::Lab& lab, const sys::Identity& owner, UniqueFd inner_socket, int asker) {
  Equipment equipment = Prepare(lab, owner, std::move(inner_socket));
  LabProcess process{"viaduct-engine",
                     "path engine",
                     lab.FabricFd(),
                     {equipment.listener.get()},
                     fmt::format("{}/{}/{}", sys::kRunFolder, lab.name(), lab::kLastWordsFile)};
  process.asker = asker;
  for (const FabricPort& port : equipment.ports) process.keep.push_back(port.socket.fd.get());
  if (equipment.hub) {
    const auto descriptors =
        equipment.hub->With([](const tunnel::ClientHub& hub) { return hub.Descriptors(); });
    process.keep.insert(process.keep.end(), descriptors.begin(), descriptors.end());
  }
  pid_ = StartLabProcess(process, owner, [&](const std::function<void()>& ready) {
    Forward(std::move(equipment), ready);
  });
  lab.RecordEngine(pid_);
}

}  // namespace viaduct::broker
