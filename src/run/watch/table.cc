#include "run/watch/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text/terminal_text.h"
#include "base/text/text_table.h"
#include "run/report/table.h"
#include "sys/process/invoking_user.h"

namespace viaduct::watch {
namespace {

using result::ClientResult, result::PipelineResult;
using Rows = std::vector<std::vector<std::string>>;

std::string UserText(uint32_t uid) {
  const auto user = sys::FindAccount(uid);
  return user ? user->name : std::to_string(uid);
}

// Returns the lateness as text: "p99/max" in microseconds.
std::string LatenessText(const result::Timing& timing) {
  if (timing.events == 0) return "-";
  return result::Micros(timing.p99_ns) + "/" + result::Micros(timing.max_ns);
}

std::string BitsText(const Rates* rates, double Rates::*member) {
  return rates != nullptr ? run::HumanRate(rates->*member) : "-";
}

std::string CountText(const Rates* rates, double Rates::*member) {
  return rates != nullptr ? run::HumanCount(rates->*member) : "-";
}

const Rates* RatesAt(const std::vector<Rates>& rates, size_t i) {
  return i < rates.size() ? &rates[i] : nullptr;
}

// Returns the indexes of clients or links in the order in which the table lists them. Rates may be
// missing.
std::vector<size_t> Order(size_t count, const std::vector<Rates>& rates, bool busiest_first) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto traffic = [&](size_t i) {
    const Rates* each = RatesAt(rates, i);
    return each != nullptr ? each->in_bits + each->out_bits : 0.0;
  };
  if (busiest_first) std::ranges::stable_sort(order, std::greater<>(), traffic);
  return order;
}

std::string Section(const char* title, const Rows& rows) {
  return rows.size() > 1 ? fmt::format("\n{}\n{}", title, result::FormatTable(rows)) : "";
}

std::string SimulatorText(const lab::SimulatorHistory& history) {
  if (history.given_up) return "given up";
  if (history.absent) return "none";
  return history.restarts == 0 ? "-" : fmt::format("restarted {} times", history.restarts);
}

std::string LabsText(const Snapshot& snapshot) {
  Rows rows = {{"lab", "state", "user", "nodes", "simulator", "lateness us p99/max", ""}};
  for (const LabView& lab : snapshot.labs) {
    rows.push_back({lab.name, lab.state, UserText(lab.uid), std::to_string(lab.nodes.size()),
                    SimulatorText(lab.simulator),
                    lab.statistics ? LatenessText(lab.statistics->timing) : "-", lab.trouble});
  }
  return Section("LABS", rows);
}

std::string PathsText(const Snapshot& snapshot) {
  Rows rows = {{"path", "state", "user", "lateness us p99/max", ""}};
  for (const PathView& path : snapshot.paths) {
    rows.push_back({path.name, path.state, UserText(path.uid),
                    path.statistics ? LatenessText(path.statistics->timing) : "-", path.trouble});
  }
  return Section("PATHS", rows);
}

std::map<std::string, uint64_t> LossesOf(const PipelineResult& link) {
  std::map<std::string, uint64_t> losses = link.fates;
  losses.erase("delivered");
  return losses;
}

template <class View>
void AddLinks(const View& view, bool busiest_first, Rows* rows) {
  if (!view.statistics) return;
  const auto& links = view.statistics->pipelines;
  for (const size_t i : Order(links.size(), view.rates, busiest_first)) {
    const PipelineResult& link = links[i];
    const Rates* rates = RatesAt(view.rates, i);
    rows->push_back({view.name, link.pair + (link.class_name.empty() ? "" : "/" + link.class_name),
                     link.direction, BitsText(rates, &Rates::in_bits),
                     BitsText(rates, &Rates::out_bits), CountText(rates, &Rates::out_packets),
                     std::to_string(link.waiting), CountText(rates, &Rates::lost_packets),
                     run::CausesText(LossesOf(link))});
  }
}

std::string LinksText(const Snapshot& snapshot, bool busiest_first) {
  Rows rows = {
      {"lab or path", "pair", "", "in", "out", "packets/s", "waiting", "lost/s", "lost so far"}};
  for (const LabView& lab : snapshot.labs) AddLinks(lab, busiest_first, &rows);
  for (const PathView& path : snapshot.paths) AddLinks(path, busiest_first, &rows);
  return Section("LINKS", rows);
}

std::string HubsText(const Snapshot& snapshot) {
  Rows rows = {{"hub", "state", "user", "port", "clients", "lateness us p99/max",
                "frame lateness us p99/max", "datagrams lost", "refused", ""}};
  for (const HubView& hub : snapshot.hubs) {
    if (!hub.statistics) {
      rows.push_back(
          {hub.name, hub.state, UserText(hub.uid), "-", "-", "-", "-", "-", "-", hub.trouble});
      continue;
    }
    const result::HubResult& all = *hub.statistics;
    const auto claimed = std::ranges::count_if(
        all.clients, [](const ClientResult& each) { return each.client.has_value(); });
    rows.push_back({hub.name, hub.state, UserText(hub.uid), std::to_string(all.port),
                    fmt::format("{} of {}", claimed, all.clients.size()), LatenessText(all.events),
                    LatenessText(all.frames), run::CausesText(all.drops),
                    all.refused ? run::CausesText(*all.refused) : "-", ""});
  }
  return Section("HUBS", rows);
}

std::string ClientsText(const Snapshot& snapshot, bool busiest_first) {
  Rows rows = {{"hub", "node", "client", "from client", "to client", "frames/s in", "out",
                "delay ms", "waiting", "lost/s", "lost so far"}};
  for (const HubView& hub : snapshot.hubs) {
    if (!hub.statistics) continue;
    const auto& clients = hub.statistics->clients;
    for (const size_t i : Order(clients.size(), hub.rates, busiest_first)) {
      const ClientResult& client = clients[i];
      const Rates* rates = RatesAt(hub.rates, i);
      rows.push_back(
          {hub.name, client.node, client.client.value_or("-"), BitsText(rates, &Rates::in_bits),
           BitsText(rates, &Rates::out_bits), CountText(rates, &Rates::in_packets),
           CountText(rates, &Rates::out_packets),
           rates != nullptr && rates->delay_ms ? fmt::format("{:.3f}", *rates->delay_ms) : "-",
           std::to_string(client.waiting), CountText(rates, &Rates::lost_packets),
           run::CausesText(client.drops)});
    }
  }
  return Section("CLIENTS", rows);
}

std::string JoinsText(const Snapshot& snapshot) {
  Rows rows = {{"joined node", "state", "user", "hub", "interface", "since"}};
  for (const JoinView& join : snapshot.joined) {
    rows.push_back(
        {join.node, join.state, UserText(join.uid), join.hub, join.interface, join.created});
  }
  return Section("JOINED NODES", rows);
}

}  // namespace

std::string SnapshotText(const Snapshot& snapshot, bool busiest_first) {
  std::string text = fmt::format("viaduct top, {}: {} labs, {} paths, {} hubs, {} joined nodes\n",
                                 snapshot.time, snapshot.labs.size(), snapshot.paths.size(),
                                 snapshot.hubs.size(), snapshot.joined.size());
  text += LabsText(snapshot) + PathsText(snapshot) + LinksText(snapshot, busiest_first) +
          HubsText(snapshot) + ClientsText(snapshot, busiest_first) + JoinsText(snapshot);
  return TerminalText(text);
}

}  // namespace viaduct::watch
