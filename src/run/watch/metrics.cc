#include <algorithm>
#include <set>

#include "base/result/exposition.h"
#include "path/live/path_report.h"
#include "run/watch/table.h"

namespace viaduct::watch {
namespace {

using result::ClientResult, result::HubResult;

// Returns the statistics of those views that have statistics. A name that occurs twice is returned
// once, because a metric series can have only one value.
template <class View>
std::vector<result::EngineResult> EnginesOf(const std::vector<View>& views) {
  std::vector<result::EngineResult> engines;
  std::set<std::string> names;
  for (const View& view : views) {
    if (!view.statistics || !names.insert(view.name).second) continue;
    engines.push_back(*view.statistics);
    engines.back().name = view.name;
  }
  return engines;
}

std::vector<LabView> Living(const std::vector<LabView>& labs) {
  std::vector<LabView> living = labs;
  std::erase_if(living, [](const LabView& lab) { return lab.state == "dead"; });
  return living;
}

void AddLabs(const std::vector<LabView>& all, result::Exposition& out) {
  const std::vector<LabView> labs = Living(all);
  const auto each = [&](const char* name, const char* type, const char* help, const auto& value) {
    out.Family(name, type, help);
    for (const LabView& lab : labs) out.Sample({{"lab", lab.name}}, value(lab));
  };
  each("viaduct_lab_nodes", "gauge", "Nodes of the lab.",
       [](const LabView& lab) { return lab.nodes.size(); });
  each("viaduct_lab_simulator_restarts_total", "counter",
       "Simulators that exited unexpectedly and were restarted.",
       [](const LabView& lab) { return lab.simulator.restarts; });
  each("viaduct_lab_simulator_absent", "gauge", "1 while no simulator computes routes, else 0.",
       [](const LabView& lab) { return lab.simulator.absent || lab.simulator.given_up ? 1 : 0; });
}

// The metrics of hubs, each with a label that contains the hub's name.
class HubFamilies {
 public:
  HubFamilies(const std::vector<HubView>& hubs, result::Exposition& out) : out_(out) {
    std::set<std::string> names;
    for (const HubView& hub : hubs) {
      if (hub.statistics && names.insert(hub.name).second) hubs_.push_back(&hub);
    }
  }

  template <class Value>
  void OfHubs(const char* name, const char* type, const char* help, const Value& value) {
    out_.Family(name, type, help);
    for (const HubView* hub : hubs_) out_.Sample({{"hub", hub->name}}, value(*hub->statistics));
  }
  template <class Value>
  void OfClients(const char* name, const char* type, const char* help, const Value& value) {
    out_.Family(name, type, help);
    for (const HubView* hub : hubs_) {
      for (const ClientResult& client : hub->statistics->clients) {
        out_.Sample({{"hub", hub->name}, {"node", client.node}}, value(client));
      }
    }
  }
  void Causes(const char* name, const char* help,
              const std::map<std::string, uint64_t>& (*causes)(const HubResult&)) {
    out_.Family(name, "counter", help);
    for (const HubView* hub : hubs_) {
      for (const auto& [cause, count] : causes(*hub->statistics)) {
        out_.Sample({{"hub", hub->name}, {"cause", cause}}, count);
      }
    }
  }
  void ClientCauses() {
    out_.Family("viaduct_hub_dropped_frames_total", "counter",
                "Frames of clients that were lost, by cause.");
    for (const HubView* hub : hubs_) {
      for (const ClientResult& client : hub->statistics->clients) {
        for (const auto& [cause, count] : client.drops) {
          out_.Sample({{"hub", hub->name}, {"node", client.node}, {"cause", cause}}, count);
        }
      }
    }
  }
  void ClientAddresses() {
    out_.Family("viaduct_hub_client_info", "gauge", "1 for each node that has a client.");
    for (const HubView* hub : hubs_) {
      for (const ClientResult& client : hub->statistics->clients) {
        if (!client.client) continue;
        out_.Sample({{"hub", hub->name}, {"node", client.node}, {"client", *client.client}}, 1);
      }
    }
  }
  void Waits() {
    out_.Family("viaduct_hub_wait_seconds", "summary",
                "Time that frames from the client waited for the simulation.");
    for (const HubView* hub : hubs_) {
      for (const ClientResult& client : hub->statistics->clients) {
        const result::MetricLabels labels{{"hub", hub->name}, {"node", client.node}};
        const double sum = client.wait_ms.value_or(0) / 1e3 * static_cast<double>(client.rx_frames);
        out_.Sample(labels, sum, "_sum");
        out_.Sample(labels, client.rx_frames, "_count");
      }
    }
  }
  void Lateness(const char* name, const char* help, const result::Timing HubResult::*timing) {
    out_.Family(name, "summary", help);
    for (const HubView* hub : hubs_) {
      out_.Lateness({{"hub", hub->name}}, (*hub->statistics).*timing);
    }
  }

 private:
  std::vector<const HubView*> hubs_;
  result::Exposition& out_;
};

const std::map<std::string, uint64_t>& DropsOf(const HubResult& hub) { return hub.drops; }
const std::map<std::string, uint64_t>& RefusedBy(const HubResult& hub) {
  static const std::map<std::string, uint64_t> kNone;
  return hub.refused ? *hub.refused : kNone;
}

void AddHubs(const std::vector<HubView>& hubs, result::Exposition& exposition) {
  using C = ClientResult;
  HubFamilies out(hubs, exposition);
  const auto frames = [&](const char* name, const char* help, uint64_t C::*member) {
    out.OfClients(name, "counter", help, [member](const C& client) { return client.*member; });
  };
  out.OfHubs("viaduct_hub_nodes", "gauge", "Remote nodes of the hub.",
             [](const HubResult& hub) { return hub.clients.size(); });
  out.OfHubs("viaduct_hub_datagrams_total", "counter", "Datagrams that the hub has received.",
             [](const HubResult& hub) { return hub.datagrams; });
  out.OfHubs("viaduct_hub_claims_total", "counter",
             "Assignments of nodes to clients that have the key.",
             [](const HubResult& hub) { return hub.claims.value_or(0); });
  out.Causes("viaduct_hub_dropped_datagrams_total", "Lost datagrams that belonged to no client.",
             DropsOf);
  out.Causes("viaduct_hub_refused_claims_total", "Refused connections and claims.", RefusedBy);
  out.ClientAddresses();
  frames("viaduct_hub_received_frames_total", "Frames from the client.", &C::rx_frames);
  frames("viaduct_hub_received_bytes_total", "Bytes from the client.", &C::rx_bytes);
  frames("viaduct_hub_sent_frames_total", "Frames to the client.", &C::tx_frames);
  frames("viaduct_hub_sent_bytes_total", "Bytes to the client.", &C::tx_bytes);
  out.ClientCauses();
  out.OfClients("viaduct_hub_waiting_frames", "gauge", "Queued frames from the client.",
                [](const C& client) { return client.waiting; });
  out.Waits();
  out.OfClients("viaduct_hub_longest_wait_seconds", "gauge",
                "Longest time that a frame from the client has waited for the simulation.",
                [](const C& client) { return client.longest_wait_ms / 1e3; });
  out.Lateness("viaduct_hub_event_lateness_seconds", "Lateness of the simulator's events.",
               &HubResult::events);
  out.Lateness("viaduct_hub_frame_lateness_seconds", "Time that frames waited for the simulator.",
               &HubResult::frames);
}

template <class View>
void AddTroubles(const std::vector<View>& views, const char* kind, result::Exposition& out) {
  std::set<std::string> names;
  for (const View& view : views) {
    if (view.trouble.empty() || !names.insert(view.name).second) continue;
    out.Sample({{"kind", kind}, {"name", view.name}, {"why", view.trouble}}, 1);
  }
}

}  // namespace

std::string MetricsText(const Snapshot& snapshot) {
  result::Exposition out;
  AddLabs(snapshot.labs, out);
  path::ExposeEngines(EnginesOf(snapshot.labs), "viaduct_lab_link_", "lab", out);
  path::ExposeEngines(EnginesOf(snapshot.paths), "viaduct_path_", "path", out);
  AddHubs(snapshot.hubs, out);
  out.Family("viaduct_joined_nodes", "gauge", "Nodes of hubs that this machine has joined.");
  out.Sample({}, std::ranges::count(snapshot.joined, "running", &JoinView::state));
  out.Family("viaduct_unreadable", "gauge", "1 for each lab, path or hub without statistics.");
  AddTroubles(snapshot.labs, "lab", out);
  AddTroubles(snapshot.paths, "path", out);
  AddTroubles(snapshot.hubs, "hub", out);
  return out.text();
}

}  // namespace viaduct::watch
