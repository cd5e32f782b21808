#include "run/watch/snapshot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/result/document.h"
#include "base/utc_time.h"
#include "lab/broker/broker_process.h"
#include "lab/broker/lab_engine.h"
#include "path/engine/control.h"
#include "path/live/path_record.h"
#include "remote/join/join_record.h"
#include "run/hub/hub_record.h"

namespace viaduct::watch {
namespace {

using result::ClientResult, result::EngineResult, result::HubResult, result::PipelineResult;

constexpr char kDeadTrouble[] = "the process was killed; run viaduct clean to remove what is left";

std::string StateOfEntry(const sys::RegistryEntry& entry) {
  return entry.alive ? "running" : "dead";
}

template <class View>
void Introduce(const sys::RegistryEntry& entry, View* view) {
  view->pid = entry.pid;
  view->uid = entry.uid;
  view->created = entry.created;
}

// Sets a view's statistics, or the reason why there are no statistics.
template <class View, class Ask>
void Fill(View* view, const sys::RegistryEntry& entry, const Ask& ask) {
  if (!entry.alive) {
    view->trouble = entry.pid == 0 ? "damaged record: " + entry.damage : kDeadTrouble;
    return;
  }
  try {
    view->statistics = ask();
  } catch (const SystemError& error) {
    view->trouble = error.error_number() == EACCES
                        ? "owned by another user; only the owner can read the statistics"
                        : error.what();
  } catch (const std::exception& error) {
    view->trouble = error.what();
  }
}

EngineResult AskEngine(const std::string& socket, Duration timeout) {
  return engine::Ask(socket, engine::ControlRequest(), timeout).at("stats").get<EngineResult>();
}

std::vector<LabView> LookAtLabs(Duration timeout) {
  std::vector<LabView> all;
  for (const lab::RunInfo& run : lab::ListRuns()) {
    LabView& view = all.emplace_back();
    Introduce(run, &view);
    view.name = run.name;
    view.state = StateOf(run);
    view.nodes = NodesOf(run);
    view.simulator = run.simulator;
    const bool has_engine = run.engine_pid != 0;
    if (run.alive && has_engine && !run.engine_alive) {
      view.trouble = "the path engine exited unexpectedly";
    } else if (run.alive && run.forwarder.absent) {
      view.trouble = "the forwarder exited unexpectedly: " + run.forwarder.cause;
    } else if (has_engine || !run.alive) {
      Fill(&view, run, [&] { return AskEngine(broker::EngineSocketPath(run.name), timeout); });
    }
  }
  return all;
}

std::vector<PathView> LookAtPaths(Duration timeout) {
  std::vector<PathView> all;
  for (const path::PathInfo& path : path::ListPathsAndShells()) {
    PathView& view = all.emplace_back();
    Introduce(path, &view);
    view.name = path.name;
    view.state = StateOfEntry(path);
    Fill(&view, path, [&] { return AskEngine(path.control_socket(), timeout); });
  }
  return all;
}

std::vector<HubView> LookAtHubs(Duration timeout) {
  std::vector<HubView> all;
  for (const run::HubInfo& hub : run::ListHubs()) {
    HubView& view = all.emplace_back();
    Introduce(hub, &view);
    view.name = hub.name;
    view.state = StateOfEntry(hub);
    Fill(&view, hub, [&] { return run::AskHub(hub, timeout); });
  }
  return all;
}

std::vector<JoinView> LookAtJoins() {
  std::vector<JoinView> all;
  for (const remote::JoinInfo& join : remote::ListJoins()) {
    JoinView& view = all.emplace_back();
    Introduce(join, &view);
    view.node = join.node;
    view.hub = join.hub;
    if (join.inside) view.interface = join.inside->interface;
    view.state = StateOfEntry(join);
  }
  return all;
}

// The increase of counters per second; the increase is 0 for a counter that has decreased, because
// it is a new counter.
class Difference {
 public:
  explicit Difference(double seconds) : seconds_(seconds) {}

  double Of(uint64_t before, uint64_t now) const {
    return now < before ? 0 : static_cast<double>(now - before) / seconds_;
  }

 private:
  double seconds_;
};

Rates RatesOf(const PipelineResult& before, const PipelineResult& now, const Difference& per) {
  Rates rates;
  const auto delivered = [](const PipelineResult& link) {
    const auto found = link.fates.find("delivered");
    return found == link.fates.end() ? 0 : found->second;
  };
  rates.in_packets = per.Of(before.arrived, now.arrived);
  rates.in_bits = 8 * per.Of(before.arrived_bytes, now.arrived_bytes);
  rates.out_packets = per.Of(delivered(before), delivered(now));
  rates.out_bits = 8 * per.Of(before.delivered_bytes, now.delivered_bytes);
  rates.lost_packets = per.Of(LostOn(before), LostOn(now));
  return rates;
}

bool IsSame(const PipelineResult& a, const PipelineResult& b) {
  return a.pair == b.pair && a.class_name == b.class_name && a.direction == b.direction;
}

const std::vector<PipelineResult>& PartsOf(const EngineResult& engine) { return engine.pipelines; }

uint64_t LostOf(const ClientResult& client) {
  uint64_t lost = 0;
  for (const auto& [cause, count] : client.drops) lost += count;
  return lost;
}

Rates RatesOf(const ClientResult& before, const ClientResult& now, const Difference& per) {
  Rates rates;
  rates.in_packets = per.Of(before.rx_frames, now.rx_frames);
  rates.in_bits = 8 * per.Of(before.rx_bytes, now.rx_bytes);
  rates.out_packets = per.Of(before.tx_frames, now.tx_frames);
  rates.out_bits = 8 * per.Of(before.tx_bytes, now.tx_bytes);
  rates.lost_packets = per.Of(LostOf(before), LostOf(now));
  if (now.rx_frames > before.rx_frames) {
    const auto waited = [](const ClientResult& client) {
      return client.wait_ms.value_or(0) * static_cast<double>(client.rx_frames);
    };
    rates.delay_ms = std::max(0.0, waited(now) - waited(before)) /
                     static_cast<double>(now.rx_frames - before.rx_frames);
  }
  return rates;
}

bool IsSame(const ClientResult& a, const ClientResult& b) { return a.node == b.node; }

const std::vector<ClientResult>& PartsOf(const HubResult& hub) { return hub.clients; }

double SecondsOf(const EngineResult& engine) { return engine.seconds.value_or(0); }
double SecondsOf(const HubResult& hub) { return hub.seconds; }

template <class View>
void SetRatesOf(const std::vector<View>& before, std::vector<View>* now) {
  for (View& view : *now) {
    const auto old = std::ranges::find_if(before, [&](const View& each) {
      return each.name == view.name && each.pid == view.pid && each.created == view.created;
    });
    if (old == before.end() || !old->statistics || !view.statistics) continue;
    const double seconds = SecondsOf(*view.statistics) - SecondsOf(*old->statistics);
    if (seconds <= 0) continue;
    const Difference per(seconds);
    const auto& parts = PartsOf(*view.statistics);
    const auto& old_parts = PartsOf(*old->statistics);
    view.rates.reserve(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      // Compares the parts at the same position first, because both snapshots nearly always have
      // the same order.
      auto match = i < old_parts.size() && IsSame(old_parts[i], parts[i])
                       ? old_parts.begin() + static_cast<ptrdiff_t>(i)
                       : std::ranges::find_if(
                             old_parts, [&](const auto& each) { return IsSame(each, parts[i]); });
      view.rates.push_back(match == old_parts.end() ? Rates() : RatesOf(*match, parts[i], per));
    }
  }
}

}  // namespace

std::vector<std::string> NodesOf(const lab::RunInfo& run) {
  std::vector<std::string> nodes;
  for (const lab::RecordedNamespace& each : run.namespaces) {
    const size_t dot = run.name.size();
    if (each.name.size() <= dot + 1) continue;
    const std::string node = each.name.substr(dot + 1);
    if (node != lab::kFabricNode) nodes.push_back(node);
  }
  return nodes;
}

std::string StateOf(const lab::RunInfo& run) {
  std::error_code error;
  if (!run.alive) return "dead";
  return std::filesystem::exists(broker::ControlSocketPath(run.name), error) ? "up" : "running";
}

uint64_t LostOn(const PipelineResult& link) {
  uint64_t lost = 0;
  for (const auto& [fate, count] : link.fates) lost += fate == "delivered" ? 0 : count;
  return lost;
}

Snapshot TakeSnapshot(Duration timeout) {
  Snapshot snapshot;
  snapshot.labs = LookAtLabs(timeout);
  snapshot.paths = LookAtPaths(timeout);
  snapshot.hubs = LookAtHubs(timeout);
  snapshot.joined = LookAtJoins();
  snapshot.time = UtcNow();
  return snapshot;
}

void SetRates(const Snapshot& before, Snapshot* now) {
  SetRatesOf(before.labs, &now->labs);
  SetRatesOf(before.paths, &now->paths);
  SetRatesOf(before.hubs, &now->hubs);
}

}  // namespace viaduct::watch
