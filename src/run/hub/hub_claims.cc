#include "run/hub/hub_claims.h"

#include <algorithm>

#include "base/error.h"
#include "base/wire/vxlan.h"
#include "run/hub/remote_node.h"

namespace viaduct::run {
std::vector<std::string> ClaimableNodes(const scenario::Scenario& scenario) {
  std::vector<std::string> nodes;
  for (const scenario::NodeSettings& node : scenario.nodes) {
    if (node.remote && !node.remote->address && !node.remote->anyone) nodes.push_back(node.name);
  }
  return nodes;
}

std::map<std::string, std::vector<wire::IpAddress>> NamesOf(const scenario::Scenario& scenario) {
  std::map<std::string, std::vector<wire::IpAddress>> names;
  for (const scenario::LinkSettings& link : scenario.links) {
    for (const std::string& node : link.nodes) {
      for (const wire::IpPrefix& prefix : AddressesOn(link, node)) {
        names[node].push_back(prefix.address);
      }
    }
  }
  return names;
}

claim::Offer OfferOf(const scenario::Scenario& scenario, const std::string& node, uint16_t port) {
  const auto settings = std::ranges::find(scenario.nodes, node, &scenario::NodeSettings::name);
  if (settings == scenario.nodes.end() || !settings->remote) {
    throw UsageError(node + " is not a remote node");
  }
  const auto vni = static_cast<uint32_t>(settings->remote->vni);
  claim::Offer offer;
  offer.node = node;
  offer.vni = vni;
  offer.port = port;
  offer.mtu = MtuOf(scenario, *settings);
  offer.mac.bytes = {0x02,
                     0x76,
                     0x64,
                     static_cast<uint8_t>(vni >> 16),
                     static_cast<uint8_t>(vni >> 8),
                     static_cast<uint8_t>(vni)};
  offer.addresses = AddressesOf(scenario, *settings);
  offer.gateways = GatewaysOf(scenario, *settings);
  if (!settings->host) offer.gateways = {{wire::Family::kIpv4, {}}};
  return offer;
}

HubClaims::HubClaims(const scenario::Scenario& scenario, const claim::Key& key,
                     const std::string& address, const std::optional<HubCipher>& cipher, Hub& hub,
                     sys::EventLoop& loop)
    : hub_(hub), cipher_(cipher), server_(loop, OptionsOf(scenario, key, address)) {
  hub_.OnClaimed([this](const std::string& node) { server_.Confirm(node); });
}

claim::ServerOptions HubClaims::OptionsOf(const scenario::Scenario& scenario, const claim::Key& key,
                                          const std::string& address) {
  claim::ServerOptions options;
  options.key = key;
  options.port = hub_.latest().port;
  if (!address.empty()) options.addresses = {wire::IpAddress::Parse(address)};
  options.nodes = ClaimableNodes(scenario);
  options.claim = [this, &scenario, names = NamesOf(scenario)](const claim::Claim& claim) {
    claim::Offer offer = Give(scenario, claim);
    offer.names = names;
    return offer;
  };
  // The server confirms a claim only when the claim has taken effect in the hub. Otherwise the hub
  // would drop the client's first frames, because they would come from an unknown host. No
  // confirmation is needed if claims take effect at once.
  options.confirms = !hub_.ClaimsAtOnce();
  options.release = [this](const std::string& node) { TakeBack(node); };
  return options;
}

claim::Offer HubClaims::Give(const scenario::Scenario& scenario, const claim::Claim& claim) {
  claim::Offer offer = OfferOf(scenario, claim.node, hub_.latest().port);
  if (!cipher_) {
    hub_.Claim(claim.node, claim.client.ToString());
    return offer;
  }
  if (!claim.wireguard) {
    throw Error("this hub encrypts its tunnels (WireGuard); join with a newer version of Viaduct");
  }
  offer.wireguard = cipher_->admit(offer.vni, *claim.wireguard, claim.client);
  offer.port = wire::kVxlanPort;  // no other process uses a port of the inner network
  keys_[claim.node] = *claim.wireguard;
  hub_.Claim(claim.node, offer.wireguard->client.ToString());
  return offer;
}

void HubClaims::TakeBack(const std::string& node) {
  hub_.Release(node);
  const auto key = keys_.find(node);
  if (key == keys_.end()) return;
  cipher_->dismiss(key->second);
  keys_.erase(key);
}

void ReportClaims(const ClaimsSummary& summary, result::HubResult* result) {
  const claim::ServerCounters& counters = summary.counters;
  result->claims = counters.claims;
  result->returns = counters.returns;
  result->refused = {{"wrong_key", counters.wrong_key},   {"no_handshake", counters.no_handshake},
                     {"too_slow", counters.too_slow},     {"too_many", counters.too_many},
                     {"malformed", counters.malformed},   {"unknown_node", counters.unknown_node},
                     {"taken", counters.taken},           {"none_free", counters.none_free},
                     {"by_hub", counters.refused_by_hub}, {"given_back", counters.given_back}};
  std::erase_if(*result->refused, [](const auto& each) { return each.second == 0; });
  if (!summary.is_encrypted) return;
  result->encryption = "wireguard";
  // Replaces the inner addresses by the outer ones: for encrypted tunnels the data path of the hub
  // reports only the inner addresses.
  for (result::ClientResult& client : result->clients) {
    const auto found = summary.clients.find(client.node);
    if (client.client && found != summary.clients.end()) {
      client.client = found->second.ToString();
    }
  }
}

}  // namespace viaduct::run
