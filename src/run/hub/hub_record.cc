#include "run/hub/hub_record.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sys/ipc/unix_socket.h"
#include "sys/trusted_folder.h"

namespace viaduct::run {
namespace {

constexpr char kHubsFolder[] = "hubs";
constexpr char kHubSocket[] = "control";

sys::Registry HubsAt(sys::TrustedPlace place) {
  return {std::move(place), {"record.json", kHubSocket}};
}

std::vector<sys::Registry> HubRegistries() {
  std::vector<sys::Registry> all;
  for (sys::TrustedPlace& place : sys::UserPlaces(kHubsFolder)) {
    all.push_back(HubsAt(std::move(place)));
  }
  return all;
}

// Returns the name of the hub's entry, shortened because a file name has at most 255 bytes, some of
// which the registry needs.
std::string EntryName(const scenario::Scenario& scenario) {
  constexpr size_t kLongest = 100;
  return scenario.name.substr(0, kLongest);
}

std::vector<std::string> RemoteNodes(const scenario::Scenario& scenario) {
  std::vector<std::string> nodes;
  for (const scenario::NodeSettings& node : scenario.nodes) {
    if (node.remote) nodes.push_back(node.name);
  }
  return nodes;
}

}  // namespace

void HubInfo::Read(const sys::RecordLines& lines) {
  lines.front().at("scenario").get_to(scenario);
  lines.front().at("port").get_to(port);
  lines.front().at("nodes").get_to(nodes);
}

std::vector<HubInfo> ListHubs() {
  std::vector<HubInfo> all;
  for (const sys::Registry& registry : HubRegistries()) {
    for (HubInfo& each : registry.List<HubInfo>()) all.push_back(std::move(each));
  }
  std::ranges::stable_sort(all, {}, &HubInfo::name);
  return all;
}

result::HubResult AskHub(const HubInfo& hub, Duration timeout) {
  for (const sys::Registry& registry : HubRegistries()) {
    const UniqueFd place = registry.Open(hub);
    if (!place) continue;
    const nlohmann::json answer =
        engine::Ask(sys::PathIn(place.get(), kHubSocket), engine::ControlRequest(), timeout);
    try {
      return answer.at("stats").get<result::HubResult>();
    } catch (const nlohmann::json::exception& error) {
      throw Error(fmt::format("hub {}: malformed answer: {}", hub.name, error.what()));
    }
  }
  throw Error(fmt::format("hub {} is no longer running", hub.name));
}

std::vector<HubInfo> RemoveDeadHubs(std::vector<std::string>* problems) {
  std::vector<HubInfo> removed;
  for (const sys::Registry& registry : HubRegistries()) {
    for (HubInfo& each : registry.RemoveDead<HubInfo>(problems)) removed.push_back(std::move(each));
  }
  return removed;
}

HubRecord::HubRecord(const scenario::Scenario& scenario, Hub& hub, sys::EventLoop& loop,
                     std::function<void(result::HubResult*)> complete)
    : hub_(hub),
      loop_(loop),
      complete_(std::move(complete)),
      registry_(HubsAt(sys::UserPlaces(kHubsFolder).front())) {
  UniqueFd listener;
  sys::NewEntry wanted;
  wanted.name = EntryName(scenario);
  wanted.uid = geteuid();
  wanted.from_dead = true;
  wanted.first_line = {
      {"scenario", scenario.name}, {"port", hub.latest().port}, {"nodes", RemoteNodes(scenario)}};
  wanted.complete = [&listener](int folder) {
    listener = sys::ListenAt(sys::PathIn(folder, kHubSocket), geteuid(), getegid(),
                             SOCK_STREAM | SOCK_NONBLOCK);
  };
  try {
    entry_ = registry_.Take(wanted);
  } catch (const sys::NameTaken&) {
    wanted.name += fmt::format("-{}", getpid());
    entry_ = registry_.Take(wanted);
  }
  server_ = std::make_unique<engine::ControlServer>(
      std::move(listener),
      [this](const engine::ControlRequest& request) { return Serve(request); });
  hub_.OnStatistics([this](result::HubResult statistics) {
    complete_(&statistics);
    server_->AnswerWaiting({{"stats", statistics}});
  });
  loop_.Watch(server_->fd(), [this] { server_->Serve(); });
}

HubRecord::~HubRecord() {
  hub_.OnStatistics({});
  loop_.Forget(server_->fd());
  registry_.Remove(entry_);
}

nlohmann::json HubRecord::Serve(const engine::ControlRequest& request) {
  if (request.kind != engine::ControlRequest::Kind::kStats) {
    throw UsageError("cannot change a SPEC of a hub: the links of a hub are simulated");
  }
  hub_.AskStatistics();
  return {};
}

}  // namespace viaduct::run
