#include "guest/shell/paused.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "base/error.h"
#include "sys/ipc/unix_socket.h"

namespace viaduct::guest {
namespace {

constexpr char kFolder[] = "paused";
constexpr char kSocket[] = "control";

sys::Registry RegistryAt(sys::TrustedPlace place) {
  return {std::move(place), {"record.json", kSocket}};
}

// Returns the registries of paused simulations that this user can read.
std::vector<sys::Registry> Registries() {
  std::vector<sys::Registry> all;
  for (sys::TrustedPlace& place : sys::UserPlaces(kFolder)) {
    all.push_back(RegistryAt(std::move(place)));
  }
  return all;
}

}  // namespace

std::vector<PausedSimulation> ListPaused() {
  std::vector<PausedSimulation> all;
  for (const sys::Registry& registry : Registries()) {
    for (PausedSimulation& each : registry.List<PausedSimulation>()) all.push_back(std::move(each));
  }
  std::sort(all.begin(), all.end(), [](const PausedSimulation& a, const PausedSimulation& b) {
    return std::tie(a.simulation, a.pid) < std::tie(b.simulation, b.pid);
  });
  return all;
}

void PausedSimulation::Read(const sys::RecordLines& lines) {
  const nlohmann::json& line = lines.front();
  line.at("simulation").get_to(simulation);
  line.at("time").get_to(time);
  line.at("nodes").get_to(nodes);
  line.at("kernels").get_to(kernels);
  for (const nlohmann::json& link : line.at("links")) {
    links.push_back({link.at("name"), link.at("nodes"), link.at("interfaces")});
  }
}

UniqueFd PausedSimulation::Connect() const {
  for (const sys::Registry& registry : Registries()) {
    const UniqueFd place = registry.Open(*this);
    if (place) return sys::ConnectAt(sys::PathIn(place.get(), kSocket), SOCK_SEQPACKET);
  }
  throw SystemError("connect to " + simulation, ENOENT);
}

PausedSimulation FindPaused(const std::string& name) {
  return sys::FindLive<PausedSimulation>(
      ListPaused(),
      [&](const PausedSimulation& each) {
        return name.empty() || each.simulation == name || each.name == name;
      },
      {"no simulation is paused; pause a simulation with viaduct run FILE --mode simulate "
       "--pause-at TIME",
       fmt::format("no paused simulation {} exists; paused simulations: {{}}", name),
       "several simulations are paused: {}; specify the name or pid of one, such as NAME:NODE"});
}

std::optional<PausedSimulation> LookForPaused(const std::string& name) {
  for (PausedSimulation& each : ListPaused()) {
    if (each.alive && (each.simulation == name || each.name == name)) return std::move(each);
  }
  return std::nullopt;
}

std::vector<PausedSimulation> RemoveDeadPaused(std::vector<std::string>* problems) {
  std::vector<PausedSimulation> removed;
  for (const sys::Registry& registry : Registries()) {
    for (auto& each : registry.RemoveDead<PausedSimulation>(problems)) removed.push_back(each);
  }
  return removed;
}

void RemoveDeadPaused(pid_t simulator) {
  for (const sys::Registry& registry : Registries()) {
    for (const auto& each : registry.List<PausedSimulation>()) {
      if (each.pid == simulator && !each.alive) registry.Remove(each);
    }
  }
}

PauseRecord::PauseRecord(const std::string& name, Instant time,
                         const std::vector<std::string>& nodes,
                         const std::vector<std::string>& kernels,
                         const std::vector<PausedLink>& links)
    : registry_(RegistryAt(sys::UserPlace(kFolder))) {
  const auto listen = [this](int folder) {
    constexpr int kType = SOCK_SEQPACKET | SOCK_NONBLOCK;
    listener_ = sys::ListenAt(sys::PathIn(folder, kSocket), geteuid(), getegid(), kType);
  };
  nlohmann::json joined = nlohmann::json::array();
  for (const PausedLink& link : links) {
    joined.push_back({{"name", link.name}, {"nodes", link.nodes}, {"interfaces", link.interfaces}});
  }
  // Replaces an entry with the same name, which an earlier process with the same pid may have left.
  entry_ = registry_.Take({std::to_string(getpid()),
                           geteuid(),
                           true,
                           {{"simulation", name},
                            {"time", static_cast<double>(time.nanoseconds()) / 1e9},
                            {"nodes", nodes},
                            {"kernels", kernels},
                            {"links", joined}},
                           listen});
}

PauseRecord::~PauseRecord() { registry_.Remove(entry_); }

}  // namespace viaduct::guest
