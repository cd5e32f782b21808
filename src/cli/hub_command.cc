// viaduct hub: a simulation in real time, or a lab, whose nodes remote hosts may claim.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/text/terminal_text.h"
#include "base/units.h"
#include "base/wire/address_scope.h"
#include "base/wire/vxlan.h"
#include "base/within.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "lab/broker/client.h"
#include "remote/claim/key.h"
#include "remote/join/hub_encryption.h"
#include "run/hub/hub.h"
#include "run/hub/hub_claims.h"
#include "run/hub/hub_record.h"
#include "run/hub/remote_node.h"
#include "run/hub/traffic.h"
#include "run/simulator/environment.h"
#include "scenario/places.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::cli {
namespace {

constexpr const char* kHubFooter =
    R"(It runs in real time until Ctrl-C: in ns-3, or, with mode emulate or offload, as a lab. A client is
a host with a VXLAN interface (RFC 7348) whose identifier is the node's: it is in the place of the
node, with its addresses. Which host may be the client of a node: nodes.NAME.remote of the scenario
(docs/scenario.md, docs/remote.md).
Exit status: 1 if something failed meanwhile, such as a lab's forwarder; 4 if p99 of the lateness
exceeds timing.lateness_limit.
Example:
  viaduct hub examples/remote.yaml)";

struct HubCommandOptions {
  std::string file, mode, duration, address, json_file, key, encrypt;
  std::vector<std::string> set;
  int port = wire::kVxlanPort;
  bool quiet = false;
};

// A radio sends its own station's frames alone: the client of a station has the programs of a node
// whose IP layer is ns-3's, which is IPv4's there.
void CheckRemoteStations(const scenario::Scenario& scenario) {
  for (const scenario::NodeSettings& node : scenario.nodes) {
    if (!node.remote || !scenario::IsOnWifi(scenario, node.name)) continue;
    const std::vector<wire::IpPrefix> addresses = run::AddressesOf(scenario, node);
    const auto ipv6 = std::ranges::find(addresses, wire::Family::kIpv6,
                                        [](const auto& prefix) { return prefix.address.family; });
    if (ipv6 == addresses.end()) continue;
    throw UsageError(fmt::format(
        "{}: nodes.{}.remote: the client of a Wi-Fi station has IPv4 only, and the node has {}; "
        "leave its IPv6 addresses out (addressing.ipv6)",
        scenario.file, node.name, ipv6->ToString()));
  }
}

// A scenario that does not say its mode is simulated, which needs no root.
scenario::Scenario LoadForHub(const HubCommandOptions& options) {
  std::vector<std::string> overrides = options.set;
  if (!options.mode.empty()) overrides.push_back("mode=" + options.mode);
  scenario::Scenario scenario = scenario::Load(options.file, overrides, scenario::Mode::kSimulate);
  if (!scenario.hosts.empty()) {
    throw UsageError(options.file + ": hosts: a lab on several hosts is for viaduct run");
  }
  if (scenario.mode == scenario::Mode::kTraditional) {
    throw UsageError(options.file +
                     ": mode traditional has no hub; use simulate, emulate or offload");
  }
  scenario::ResolveContainers(&scenario);
  CheckRemoteStations(scenario);
  if (std::ranges::any_of(scenario.nodes,
                          [](const auto& node) { return node.remote.has_value(); })) {
    return scenario;
  }
  throw UsageError(options.file + ": no node is remote; give one, such as nodes.n1.remote: true");
}

// Clients must be able to send to it from other hosts.
void CheckAddress(const std::string& text) {
  if (text.empty()) return;
  const wire::IpAddress address = Within("--address", [&] { return wire::IpAddress::Parse(text); });
  if (address.IsMulticast()) {
    throw UsageError(fmt::format("--address {}: is a multicast address, not a host's", text));
  }
  if (wire::IsLinkLocal(address)) {
    throw UsageError(fmt::format(
        "--address {}: is a link-local address, which no tunnel to other hosts can have; give "
        "this machine another one, or leave --address out",
        text));
  }
}

// Where there is a node for who has the key: the key's file, made where there is none.
std::optional<claim::Key> KeyFor(const scenario::Scenario& scenario,
                                 const HubCommandOptions& options) {
  if (run::ClaimableNodes(scenario).empty()) return std::nullopt;
  const std::string file = options.key.empty() ? claim::DefaultKeyFile() : options.key;
  const claim::Key key = claim::ReadOrMakeKey(file);
  if (!options.quiet) {
    std::fprintf(stderr, "key of this hub, for its clients: %s\n", TerminalText(file).c_str());
  }
  return key;
}

// "wireguard" or "wireguard:PORT": the UDP port of WireGuard, if tunnels are to be encrypted.
std::optional<uint16_t> CipherPort(const std::string& text) {
  constexpr uint16_t kUsualPort = 51820;
  constexpr std::string_view kName = "wireguard";
  if (text.empty()) return std::nullopt;
  if (text == kName) return kUsualPort;
  if (!text.starts_with(kName) || text[kName.size()] != ':') {
    throw UsageError(
        fmt::format("--encrypt {}: give wireguard, or wireguard:PORT, with a UDP port", text));
  }
  return static_cast<uint16_t>(
      Within("--encrypt", [&] { return ParseInteger(text.substr(kName.size() + 1), 0, 65535); }));
}

// Who sends VXLAN by itself has nobody who tells it, or whom it tells, a key.
void CheckEncryptable(const scenario::Scenario& scenario) {
  for (const scenario::NodeSettings& node : scenario.nodes) {
    if (!node.remote || (!node.remote->address && !node.remote->anyone)) continue;
    throw UsageError(fmt::format(
        "--encrypt: node {} is for {} without a key, whose frames cannot be encrypted; make it "
        "remote: true, for viaduct join",
        node.name, node.remote->address ? node.remote->address->ToString() : "any host"));
  }
}

run::HubCipher CipherOf(emulate::HubEncryption& encryption) {
  return {[&](uint32_t vni, const claim::TunnelKey& key, const wire::IpAddress& client) {
            return encryption.Admit(vni, key, client);
          },
          [&](const claim::TunnelKey& key) { encryption.Dismiss(key); }};
}

// Until a signal ends it, or the duration is over.
void Serve(run::Hub& hub, sys::EventLoop& loop, Instant end) {
  result::HubProgress before = hub.latest();
  hub.OnUpdate([&](const result::HubProgress& now) {
    hub.progress().Status(run::HubStatus(now, before));
    before = now;
  });
  try {
    loop.Run([] { return false; }, end);
  } catch (const sys::Interrupted&) {
    // How a hub ends.
  }
  loop.IgnoreSignals();
}

int RunHub(const HubCommandOptions& options, const Invocation& invocation) {
  const scenario::Scenario scenario = LoadForHub(options);
  CheckJsonFile(options.json_file);
  result::Environment environment = run::DescribeEnvironment(invocation.words);
  CheckAddress(options.address);
  run::CheckHubTraffic(scenario);
  if (scenario.routing.sample) {
    std::fprintf(stderr, "not run in a hub: routing.sample; viaduct run has that\n");
  }
  const std::optional<uint16_t> cipher_port = CipherPort(options.encrypt);
  if (cipher_port) CheckEncryptable(scenario);
  std::optional<Duration> duration;
  if (!options.duration.empty()) duration = PositiveDuration("--duration", options.duration);
  // The broker is started before the loop, whose blocked signals it would inherit.
  std::optional<broker::Client> broker;
  const bool is_simulation = scenario.mode == scenario::Mode::kSimulate;
  if (!is_simulation || cipher_port) NeedRoot();
  privilege::NeedNoRoot();
  if (!is_simulation) {
    broker.emplace(broker::Client::ConnectOrSpawn());
    broker->LimitWaiting(std::nullopt, broker::Client::kGrace);
  }
  std::optional<emulate::HubEncryption> encryption;
  if (cipher_port) encryption.emplace(*cipher_port);
  const std::optional<claim::Key> key = KeyFor(scenario, options);
  sys::EventLoop loop;
  run::HubOptions settings;
  settings.address = options.address;
  settings.port = static_cast<uint16_t>(options.port);
  settings.quiet = options.quiet;
  std::optional<run::HubCipher> cipher;
  if (encryption) {
    settings.inner_socket = encryption->inner_socket();
    cipher = CipherOf(*encryption);
    loop.Watch(encryption->Fd(),
               [] { throw Error("root's half of the hub's encryption has died"); });
  }
  const std::unique_ptr<run::Hub> hub =
      broker ? run::StartLabHub(scenario, settings, std::move(*broker), loop)
             : run::StartSimulatedHub(scenario, settings, loop);
  std::optional<run::HubClaims> claims;
  if (key) claims.emplace(scenario, *key, options.address, cipher, *hub, loop);
  std::optional<run::HubRecord> record;
  record.emplace(scenario, *hub, loop, [&claims](result::HubResult* statistics) {
    if (claims) run::ReportClaims(claims->Summary(), statistics);
  });
  if (!options.quiet) {
    std::fputs(TerminalText(run::HubIntroduction(scenario, hub->latest().port, cipher.has_value()))
                   .c_str(),
               stderr);
  }
  // Of serving clients: what it took to get ready is not a part of it.
  Serve(*hub, loop, duration ? MonotonicClock::Now() + *duration : Instant::Never());
  record.reset();
  std::optional<run::ClaimsSummary> summary;
  if (claims) summary = claims->Summary();
  claims.reset();  // what it would tell the hub of, nobody needs any more
  result::HubResult result = hub->Finish();
  if (summary) run::ReportClaims(*summary, &result);
  result.environment = std::move(environment);
  if (options.json_file != "-") PrintText(run::HubTable(result));
  if (!options.json_file.empty()) WriteJson(options.json_file, result);
  return static_cast<int>(result.Status());
}

}  // namespace

void AddHub(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<HubCommandOptions>();
  CLI::App* command = app.add_subcommand("hub", "run a scenario with nodes on remote hosts");
  command->add_option("FILE", options->file, "the scenario")->required();
  AddRepeated(*command, "--set", options->set, "KEY=VALUE", "override a key of the scenario");
  command
      ->add_option("--mode", options->mode,
                   "simulate, or build a lab: emulate, offload; default: the scenario's, else "
                   "simulate")
      ->check(CLI::IsMember({"simulate", "emulate", "offload"}));
  command->add_option("--address", options->address, "this machine's, for clients; default: all")
      ->type_name("ADDRESS");
  command
      ->add_option("--port", options->port,
                   "UDP port, here and at clients, and TCP port for their claims; 0: any")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command
      ->add_option("--key", options->key,
                   "the file with the key for clients, made if it is not there; default: "
                   "~/.config/viaduct/hub.key")
      ->type_name("FILE");
  command
      ->add_option("--encrypt", options->encrypt,
                   "wireguard, or wireguard:PORT (UDP; default 51820): the tunnels to clients are "
                   "encrypted by the kernels' WireGuard; needs root")
      ->type_name("HOW");
  command->add_option("--duration", options->duration, "end after this; default: never")
      ->type_name("TIME");
  command
      ->add_option("--json", options->json_file,
                   "write the results to this file; - is standard "
                   "output")
      ->type_name("FILE");
  command->add_flag("--quiet", options->quiet, "no progress");
  command->footer(kHubFooter);
  command->callback([options, &invocation] { invocation.status = RunHub(*options, invocation); });
}

}  // namespace viaduct::cli
