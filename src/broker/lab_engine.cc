#include "broker/lab_engine.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "broker/lab_process.h"
#include "engine/control.h"
#include "engine/describe.h"
#include "engine/engine.h"
#include "io/ring_port.h"
#include "lab/hub.h"
#include "sys/network/netns.h"
#include "sys/network/packet_socket.h"
#include "sys/signals.h"
#include "sys/trusted_folder.h"
#include "sys/unix_socket.h"
#include "wire/ethernet.h"

namespace viaduct::broker {
namespace {

// The ring slots of all ports of a lab together, and the minimum for each.
constexpr uint32_t kRingSlots = 4096, kLabSlots = 65536, kLeastSlots = 256;

struct HubPort {
  std::string name;
  sys::PacketSocket socket;
};

// Everything that the engine needs, opened with the broker's privileges.
struct Equipment {
  engine::Config config;
  std::string directory;
  std::vector<HubPort> ports;
  UniqueFd listener;
};

Equipment Prepare(lab::Lab& lab, const sys::Identity& owner) {
  Equipment equipment;
  equipment.config.name = lab.name();
  equipment.config.seed = lab.topology().seed;
  equipment.directory = lab.topology().directory;
  const sys::NamespaceScope scope(lab.HubFd());
  for (const lab::HubPair& pair : lab::HubPairs(lab.topology())) {
    const size_t a = equipment.ports.size();
    equipment.config.pairs.push_back(
        {pair.name, {a, {}, {}}, {a + 1, {}, {}}, pair.up, pair.down, {}});
    for (const std::string& name : {pair.a, pair.b}) {
      equipment.ports.push_back({name, sys::OpenPacketSocket(name, true)});
      equipment.config.ports.push_back(name);
    }
  }
  equipment.listener =
      sys::ListenAt(EngineSocketPath(lab.name()), owner.uid, owner.gid, SOCK_STREAM);
  return equipment;
}

std::vector<std::unique_ptr<io::AnyPort>> OpenPorts(std::vector<HubPort> ports) {
  io::RingOptions options;
  options.slots =
      std::clamp(kLabSlots / static_cast<uint32_t>(ports.size()), kLeastSlots, kRingSlots);
  std::vector<std::unique_ptr<io::AnyPort>> opened;
  for (HubPort& port : ports) {
    options.ifindex = port.socket.ifindex;
    opened.push_back(io::Hold(io::RingPort(std::move(port.socket.fd), options)));
  }
  return opened;
}

// Serves the control socket until one of the signals arrives.
void AnswerUntilSignal(Equipment& equipment, engine::Engine& engine, int signals) {
  const engine::Config& config = equipment.config;
  const Instant started = MonotonicClock::Now();
  engine::LivePath live(config, [&](const engine::Change& change) { engine.Apply(change); });
  const auto answer = [&](const engine::ControlRequest& request) -> nlohmann::json {
    if (request.kind == engine::ControlRequest::Kind::kSet) {
      engine::PerformSet(request, config, live);
      return nlohmann::json::object();
    }
    result::EngineResult stats = engine::DescribeStatistics(engine.Read(), std::nullopt);
    stats.name = config.name;
    stats.seed = config.seed;
    stats.seconds = (MonotonicClock::Now() - started).ToSeconds();
    return {{"stats", stats}};
  };
  engine::ControlServer server(std::move(equipment.listener), answer);
  std::array<pollfd, 2> waits{{{server.Fd(), POLLIN, 0}, {signals, POLLIN, 0}}};
  while (waits[1].revents == 0) {
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR)
      throw SystemError("poll", errno);
    server.Serve();
  }
}

// Forwards until SIGTERM or SIGINT.
void Forward(Equipment equipment, const std::function<void()>& ready) {
  // With the user's rights. If it fails, only SPECs with relative file names are affected, which
  // then report an error.
  if (chdir(equipment.directory.c_str()) != 0) errno = 0;
  const UniqueFd signals = sys::CatchSignals({SIGTERM, SIGINT});  // for the engine's threads, too
  engine::Engine engine(equipment.config, OpenPorts(std::move(equipment.ports)));
  engine.Start();
  ready();
  AnswerUntilSignal(equipment, engine, signals.get());
  engine.Stop();
}

}  // namespace

std::string EngineSocketPath(const std::string& lab) {
  return fmt::format("{}/{}/engine", sys::kRunFolder, lab);
}

LabEngine::LabEngine(lab::Lab& lab, const sys::Identity& owner) {
  Equipment equipment = Prepare(lab, owner);
  LabProcess process{"viaduct-engine", "path engine", lab.HubFd(), {equipment.listener.get()}};
  for (const HubPort& port : equipment.ports) process.keep.push_back(port.socket.fd.get());
  pid_ = StartLabProcess(process, owner, [&](const std::function<void()>& ready) {
    Forward(std::move(equipment), ready);
  });
  lab.RecordEngine(pid_);
}

}  // namespace viaduct::broker
