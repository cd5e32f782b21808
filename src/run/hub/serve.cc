#include "run/hub/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/text/terminal_text.h"
#include "base/wire/address_scope.h"
#include "base/within.h"
#include "lab/broker/client.h"
#include "remote/claim/key.h"
#include "remote/join/hub_encryption.h"
#include "run/hub/hub.h"
#include "run/hub/hub_claims.h"
#include "run/hub/hub_record.h"
#include "run/hub/remote_node.h"
#include "run/hub/traffic.h"
#include "scenario/places.h"
#include "sys/event_loop.h"
#include "sys/privilege/halves.h"

namespace viaduct::run {
namespace {

// Throws UsageError for a remote Wi-Fi station with an IPv6 address: a radio sends only frames of
// its own station, so the client runs only the programs of the node, whose IP layer is in ns-3.
// This IP layer has only IPv4.
void CheckRemoteStations(const scenario::Scenario& scenario) {
  for (const scenario::NodeSettings& node : scenario.nodes) {
    if (!node.remote || !scenario::IsOnWifi(scenario, node.name)) continue;
    const std::vector<wire::IpPrefix> addresses = AddressesOf(scenario, node);
    const auto ipv6 = std::ranges::find(addresses, wire::Family::kIpv6,
                                        [](const auto& prefix) { return prefix.address.family; });
    if (ipv6 == addresses.end()) continue;
    throw UsageError(fmt::format(
        "{}: nodes.{}.remote: the client of a Wi-Fi station supports only IPv4, but the node has "
        "{}; remove the node's IPv6 addresses (addressing.ipv6)",
        scenario.file, node.name, ipv6->ToString()));
  }
}

void CheckScenario(const scenario::Scenario& scenario) {
  if (!scenario.machines.empty()) {
    throw UsageError(scenario.file +
                     ": machines: only viaduct run supports a lab on several machines");
  }
  if (scenario.mode == scenario::Mode::kTraditional) {
    throw UsageError(
        scenario.file +
        ": a hub does not support mode traditional; use mode simulate, emulate or offload");
  }
  CheckRemoteStations(scenario);
  const bool is_for_clients =
      std::ranges::any_of(scenario.nodes, [](const auto& node) { return node.remote.has_value(); });
  if (!is_for_clients) {
    throw UsageError(scenario.file +
                     ": no node is remote; set a node as remote, such as nodes.n1.remote: true");
  }
  CheckHubTraffic(scenario);
}

// Checks the hub's address: clients must be able to send to it from other hosts.
void CheckAddress(const std::string& text) {
  if (text.empty()) return;
  const wire::IpAddress address = Within("--address", [&] { return wire::IpAddress::Parse(text); });
  if (address.IsMulticast()) {
    throw UsageError(
        fmt::format("--address {} is a multicast address; specify a unicast address", text));
  }
  if (wire::IsLinkLocal(address)) {
    throw UsageError(
        fmt::format("--address {} is a link-local address, which tunnels to other machines cannot "
                    "use; specify another address of this machine, or omit --address",
                    text));
  }
}

// Reads the hub's key from its file, or creates the file; returns nothing if no node can be claimed
// with a key.
std::optional<claim::Key> KeyFor(const scenario::Scenario& scenario, const ServeOptions& options) {
  if (ClaimableNodes(scenario).empty()) return std::nullopt;
  const std::string file = options.key_file.empty() ? claim::DefaultKeyFile() : options.key_file;
  const claim::Key key = claim::ReadOrMakeKey(file);
  if (!options.quiet) {
    std::fprintf(stderr, "key file of this hub, for its clients: %s\n", TerminalText(file).c_str());
  }
  return key;
}

// Throws UsageError if a node is for a host that sends VXLAN itself, without `viaduct join`: such a
// host exchanges no keys.
void CheckEncryptable(const scenario::Scenario& scenario) {
  for (const scenario::NodeSettings& node : scenario.nodes) {
    if (!node.remote || (!node.remote->address && !node.remote->anyone)) continue;
    throw UsageError(fmt::format(
        "--encrypt: node {} accepts {} as its client without a key, so the frames cannot be "
        "encrypted; set remote: true, and connect the client with viaduct join",
        node.name, node.remote->address ? node.remote->address->ToString() : "any machine"));
  }
}

HubCipher CipherOf(remote::HubEncryption& encryption) {
  return {[&](uint32_t vni, const claim::TunnelKey& key, const wire::IpAddress& client) {
            return encryption.Admit(vni, key, client);
          },
          [&](const claim::TunnelKey& key) { encryption.Dismiss(key); }};
}

// Waits until a signal arrives or the duration has passed.
void WaitForEnd(Hub& hub, sys::EventLoop& loop, Instant end) {
  result::HubProgress before = hub.latest();
  hub.OnUpdate([&](const result::HubProgress& now) {
    hub.progress().Status(HubStatus(now, before));
    before = now;
  });
  try {
    loop.Run([] { return false; }, end);
  } catch (const sys::Interrupted&) {
    // A signal is the usual end of a hub.
  }
  loop.IgnoreSignals();
}

}  // namespace

result::HubResult ServeClients(const scenario::Scenario& scenario, const ServeOptions& options,
                               const std::function<void()>& need_root) {
  CheckScenario(scenario);
  CheckAddress(options.address);
  if (options.cipher_port) CheckEncryptable(scenario);
  if (scenario.routing.sample) {
    std::fprintf(stderr, "a hub ignores routing.sample; use viaduct run to sample routes\n");
  }
  const bool is_simulation = scenario.mode == scenario::Mode::kSimulate;
  if (!is_simulation || options.cipher_port) need_root();
  privilege::NeedNoRoot();
  // Starts the broker before the event loop blocks signals, because the broker would inherit the
  // blocked signals.
  std::optional<broker::Client> broker;
  if (!is_simulation) {
    broker.emplace(broker::Client::ConnectOrSpawn());
    broker->LimitWaiting(std::nullopt, broker::Client::kGrace);
  }
  std::optional<remote::HubEncryption> encryption;
  if (options.cipher_port) encryption.emplace(*options.cipher_port);
  const std::optional<claim::Key> key = KeyFor(scenario, options);
  sys::EventLoop loop;
  HubOptions settings{.address = options.address, .port = options.port, .quiet = options.quiet};
  std::optional<HubCipher> cipher;
  if (encryption) {
    settings.inner_socket = encryption->inner_socket();
    cipher = CipherOf(*encryption);
    loop.Watch(encryption->fd(), [] {
      throw Error("the privileged process of the hub's encryption exited unexpectedly");
    });
  }
  const std::unique_ptr<Hub> hub = broker
                                       ? StartLabHub(scenario, settings, std::move(*broker), loop)
                                       : StartSimulatedHub(scenario, settings, loop);
  std::optional<HubClaims> claims;
  if (key) claims.emplace(scenario, *key, options.address, cipher, *hub, loop);
  std::optional<HubRecord> record;
  record.emplace(scenario, *hub, loop, [&claims](result::HubResult* statistics) {
    if (claims) ReportClaims(claims->Summary(), statistics);
  });
  if (!options.quiet) {
    const std::string introduction =
        HubIntroduction(scenario, hub->latest().port, cipher.has_value());
    std::fputs(TerminalText(introduction).c_str(), stderr);
  }
  // Starts the duration now: it is the time in which clients are served, without the time for the
  // preparation.
  const Instant end =
      options.duration ? MonotonicClock::Now() + *options.duration : Instant::Never();
  WaitForEnd(*hub, loop, end);
  record.reset();
  std::optional<ClaimsSummary> summary;
  if (claims) summary = claims->Summary();
  claims.reset();  // the hub needs no more reports of claims
  result::HubResult result = hub->Finish();
  if (summary) ReportClaims(*summary, &result);
  return result;
}

}  // namespace viaduct::run
