#include "run/hub_claims.h"

#include <algorithm>

#include "base/error.h"
#include "run/remote_node.h"

namespace viaduct::run {
namespace {

claim::ServerOptions OptionsOf(const scenario::Scenario& scenario, const claim::Key& key,
                               const std::string& address, Hub& hub) {
  claim::ServerOptions options;
  options.key = key;
  options.port = hub.latest().port;
  if (!address.empty()) options.addresses = {wire::IpAddress::Parse(address)};
  options.nodes = ClaimableNodes(scenario);
  options.claim = [&scenario, &hub, names = NamesOf(scenario)](const claim::Claim& claim) {
    claim::Offer offer = OfferOf(scenario, claim.node, hub.latest().port);
    offer.names = names;
    hub.Claim(claim.node, claim.client.ToString());
    return offer;
  };
  // The client's first frames would be a stranger's if the hub did not know of it yet.
  options.confirms = !hub.ClaimsAtOnce();
  options.release = [&hub](const std::string& node) { hub.Release(node); };
  return options;
}

}  // namespace

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
    throw UsageError(node + ": is no remote node");
  }
  const scenario::LinkSettings& link = LinkOf(scenario, node);
  const auto vni = static_cast<uint32_t>(settings->remote->vni);
  claim::Offer offer;
  offer.node = node;
  offer.vni = vni;
  offer.port = port;
  offer.mtu = link.mtu;
  offer.mac.bytes = {0x02,
                     0x76,
                     0x64,
                     static_cast<uint8_t>(vni >> 16),
                     static_cast<uint8_t>(vni >> 8),
                     static_cast<uint8_t>(vni)};
  offer.addresses = AddressesOn(link, node);
  for (const wire::IpPrefix& gateway : AddressesOn(link, settings->gateway)) {
    offer.gateways.push_back(gateway.address);
  }
  return offer;
}

HubClaims::HubClaims(const scenario::Scenario& scenario, const claim::Key& key,
                     const std::string& address, Hub& hub, sys::EventLoop& loop)
    : hub_(hub), server_(loop, OptionsOf(scenario, key, address, hub)) {
  hub_.OnClaimed([this](const std::string& node) { server_.Confirm(node); });
}

void ReportClaims(const claim::ServerCounters& counters, result::HubResult* result) {
  result->claims = counters.claims;
  result->returns = counters.returns;
  result->refused = {{"wrong_key", counters.wrong_key},  {"no_handshake", counters.no_handshake},
                     {"too_slow", counters.too_slow},    {"too_many", counters.too_many},
                     {"malformed", counters.malformed},  {"unknown_node", counters.unknown_node},
                     {"taken", counters.taken},          {"none_free", counters.none_free},
                     {"by_hub", counters.refused_by_hub}};
  std::erase_if(*result->refused, [](const auto& each) { return each.second == 0; });
}

}  // namespace viaduct::run
