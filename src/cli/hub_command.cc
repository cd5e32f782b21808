// viaduct hub: runs a simulation in real time, or a lab, whose remote nodes clients on other hosts
// can claim.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "base/wire/vxlan.h"
#include "base/within.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "run/hub/hub.h"
#include "run/hub/serve.h"
#include "run/simulator/environment.h"
#include "scenario/scenario.h"

namespace viaduct::cli {
namespace {

constexpr const char* kHubFooter =
    R"(The scenario runs in real time until Ctrl-C: in ns-3, or, with mode emulate or offload, as a lab. A
client is a machine with a VXLAN interface (RFC 7348) that has the VNI of a remote node: the
client takes the place of this node, with the node's addresses. The key nodes.NAME.remote of the
scenario sets which machine may be the client of a node (docs/scenario.md, docs/remote.md).
Exit status: 1 if something failed during the run, such as a lab's forwarder; 4 if p99 of the
lateness exceeds timing.lateness_limit.
Example:
  viaduct hub examples/remote.yaml)";

struct HubCommandOptions {
  std::string file, mode, duration, address, json_file, key, encrypt;
  std::vector<std::string> set;
  int port = wire::kVxlanPort;
  bool quiet = false;
};

// Parses "wireguard" or "wireguard:PORT". Returns the UDP port of WireGuard, or nothing if tunnels
// are not encrypted.
std::optional<uint16_t> CipherPort(const std::string& text) {
  constexpr uint16_t kUsualPort = 51820;
  constexpr std::string_view kName = "wireguard";
  if (text.empty()) return std::nullopt;
  if (text == kName) return kUsualPort;
  if (!text.starts_with(kName) || text[kName.size()] != ':') {
    throw UsageError(
        fmt::format("--encrypt {}: expected wireguard, or wireguard:PORT with a UDP port", text));
  }
  return static_cast<uint16_t>(
      Within("--encrypt", [&] { return ParseInteger(text.substr(kName.size() + 1), 0, 65535); }));
}

// Reads the scenario. Its default mode is simulate, which needs no root.
scenario::Scenario LoadForHub(const HubCommandOptions& options) {
  std::vector<std::string> overrides = options.set;
  if (!options.mode.empty()) overrides.push_back("mode=" + options.mode);
  scenario::Scenario scenario = scenario::Load(options.file, overrides, scenario::Mode::kSimulate);
  scenario::ResolveContainers(&scenario);
  return scenario;
}

int RunHub(const HubCommandOptions& options, const Invocation& invocation) {
  const scenario::Scenario scenario = LoadForHub(options);
  CheckJsonFile(options.json_file);
  result::Environment environment = run::DescribeEnvironment(invocation.words);
  run::ServeOptions settings;
  settings.address = options.address;
  settings.port = static_cast<uint16_t>(options.port);
  settings.key_file = options.key;
  settings.cipher_port = CipherPort(options.encrypt);
  if (!options.duration.empty()) {
    settings.duration = PositiveDuration("--duration", options.duration);
  }
  settings.quiet = options.quiet;
  result::HubResult result = run::ServeClients(scenario, settings, NeedRoot);
  result.environment = std::move(environment);
  if (options.json_file != "-") PrintText(run::HubTable(result));
  if (!options.json_file.empty()) WriteJson(options.json_file, result);
  return static_cast<int>(result.Status());
}

}  // namespace

void AddHub(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<HubCommandOptions>();
  CLI::App* command = app.add_subcommand("hub", "run a scenario with nodes on remote machines");
  command->add_option("FILE", options->file, "the scenario file")->required();
  AddRepeated(*command, "--set", options->set, "KEY=VALUE", "override a key of the scenario");
  command
      ->add_option("--mode", options->mode,
                   "the mode: simulate, or, to build a lab, emulate or offload; default: the mode "
                   "of the scenario, or simulate if the scenario sets no mode")
      ->check(CLI::IsMember({"simulate", "emulate", "offload"}));
  command
      ->add_option("--address", options->address,
                   "the address of this machine to which clients connect; default: all addresses")
      ->type_name("ADDRESS");
  command
      ->add_option(
          "--port", options->port,
          "the UDP port of tunnels, here and on clients, and the TCP port on which clients "
          "claim nodes; 0: any free port")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command
      ->add_option("--key", options->key,
                   "the file with the key for clients, created if it does not exist; default: "
                   "~/.config/viaduct/hub.key")
      ->type_name("FILE");
  command
      ->add_option("--encrypt", options->encrypt,
                   "wireguard, or wireguard:PORT (a UDP port; default: 51820): encrypt the tunnels "
                   "to clients with the kernels' WireGuard; root is required")
      ->type_name("HOW");
  command
      ->add_option("--duration", options->duration,
                   "the duration after which the hub ends; default: until Ctrl-C")
      ->type_name("TIME");
  command
      ->add_option("--json", options->json_file,
                   "write the results to this file; - is standard output")
      ->type_name("FILE");
  command->add_flag("--quiet", options->quiet, "do not print progress");
  command->footer(kHubFooter);
  command->callback([options, &invocation] { invocation.status = RunHub(*options, invocation); });
}

}  // namespace viaduct::cli
