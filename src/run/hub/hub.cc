#include "run/hub/hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/text_table.h"
#include "base/wire/vxlan.h"
#include "run/hub/remote_node.h"
#include "run/hub/traffic.h"
#include "run/report/table.h"

namespace viaduct::run {
namespace {

using result::ClientResult;
using result::HubProgress;
using result::HubResult;

template <class Address>
std::string Texts(const std::vector<Address>& addresses) {
  std::string text;
  for (const Address& address : addresses) text += (text.empty() ? "" : " ") + address.ToString();
  return text.empty() ? "-" : text;
}

}  // namespace

std::string HubStatus(const HubProgress& now, const HubProgress& before) {
  const double seconds = std::max(now.seconds - before.seconds, 1e-3);
  const auto rate = [&](uint64_t HubProgress::*member) {
    return HumanCount(static_cast<double>(now.*member - before.*member) / seconds);
  };
  return fmt::format(
      "{:.0f} s: {} of {} nodes have a client; {} frames/s received, {} sent, {} frames lost",
      now.seconds, now.claimed, now.nodes, rate(&HubProgress::rx_frames),
      rate(&HubProgress::tx_frames), now.lost);
}

std::string HubTable(const HubResult& hub) {
  std::vector<std::vector<std::string>> rows = {
      {"node", "vni", "client", "frames in", "frames out", "queueing ms mean/max", "lost"}};
  for (const ClientResult& client : hub.clients) {
    rows.push_back(
        {client.node, std::to_string(client.vni), client.client.value_or("-"),
         std::to_string(client.rx_frames), std::to_string(client.tx_frames),
         fmt::format("{:.3f}/{:.3f}", client.wait_ms.value_or(0), client.longest_wait_ms),
         CausesText(client.drops)});
  }
  std::string text = result::FormatTable(rows);
  text += fmt::format(
      "{} datagrams received in {:.1f} s; lost datagrams that belonged to no client: {}\nsocket "
      "buffers: {} kB for receiving, {} kB for sending\n",
      hub.datagrams, hub.seconds, CausesText(hub.drops), hub.receive_buffer / 1024,
      hub.send_buffer / 1024);
  if (hub.refused) {
    text += fmt::format("{} node claims, {} of which by returning clients; refused: {}\n",
                        hub.claims.value_or(0), hub.returns.value_or(0), CausesText(*hub.refused));
  }
  if (!hub.unreadable.empty()) {
    text += fmt::format("packets that ns-3 could not parse, dropped at nodes: {}\n",
                        CausesText(hub.unreadable));
  }
  if (hub.traffic) text += HubTrafficTable(*hub.traffic);
  for (const std::string& failure : hub.failures) text += fmt::format("FAILED: {}\n", failure);
  text += TimingLine(hub.events) + TimingLine(hub.frames, "frames ");
  const bool is_silent = std::ranges::all_of(
      hub.clients, [](const ClientResult& client) { return client.rx_frames == 0; });
  text += fmt::format("verdict: {}{}\n", VerdictName(hub.verdict),
                      is_silent ? "; no frames arrived from clients" : "");
  return text;
}

std::string HubIntroduction(const scenario::Scenario& scenario, uint16_t port, bool is_encrypted) {
  std::vector<std::vector<std::string>> rows = {
      {"node", "vni", "addresses", "gateway", "mtu", "client"}};
  bool has_key = false, has_router = false;
  for (const scenario::NodeSettings& node : scenario.nodes) {
    if (!node.remote) continue;
    has_key = has_key || (!node.remote->address && !node.remote->anyone);
    has_router = has_router || !node.host;
    rows.push_back({node.name, std::to_string(node.remote->vni), Texts(AddressesOf(scenario, node)),
                    Texts(GatewaysOf(scenario, node)), std::to_string(MtuOf(scenario, node)),
                    node.remote->address  ? node.remote->address->ToString()
                    : node.remote->anyone ? "the first sender"
                                          : "any client with the key"});
  }
  return fmt::format("hub {}: UDP port {}; seed {}\n{}", scenario.name, port, scenario.seed,
                     result::FormatTable(rows)) +
         (is_encrypted
              ? ""
              : fmt::format(
                    "on a client without Viaduct: ip link add eth0 type vxlan id VNI remote "
                    "THIS-HOST dstport {}; ip addr add ADDRESS dev eth0; ip link set eth0 mtu MTU "
                    "up{}\n",
                    port,
                    has_router ? "; for a node without gateway also: ip route add default dev eth0"
                               : "")) +
         (has_key ? fmt::format("{}: viaduct join THIS-HOST{} --node NODE -- PROGRAM\n",
                                is_encrypted ? "on a client" : "on a client with Viaduct",
                                port == wire::kVxlanPort ? "" : fmt::format(":{}", port))
                  : "");
}

}  // namespace viaduct::run
