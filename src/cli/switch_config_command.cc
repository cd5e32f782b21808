// viaduct path switch-config: prints the configuration of a switch that leads links through the
// emulator.

#include <cstdio>
#include <memory>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/privilege.h"
#include "path/switches/apply.h"
#include "path/switches/configuration.h"
#include "sys/ipc/answer.h"

namespace viaduct::cli {
namespace {

using namespace switches;

constexpr const char* kSwitchConfigFooter =
    R"(Each --link connects two ports of the switch (or hosts behind them): each end gets a VLAN, and only
the emulator, on the trunk port, connects the two VLANs. On a router, --mpls labels the packets to a
neighbour beyond the emulator and sends them to the emulator. The output includes the matching viaduct
path command.

Examples:
  viaduct path switch-config --vendor ios --link Gi0/1,Gi0/2 --trunk Gi0/24 --interface eth1
  viaduct path switch-config --vendor ovs --link p1,p2 --link p3,p4 --trunk p9 --apply
  viaduct path switch-config --vendor linux --bridge br0 --link p1,p2 --trunk p9
  viaduct path switch-config --vendor linux --link p1,p2 --redirect p8 p9 --apply
  viaduct path switch-config --vendor eos --trunk Et1 \
    --mpls "label=1000 to=10.2.0.0/16 via=192.0.2.2 back=10.1.0.0/16 back-via=10.1.0.1")";

struct SwitchConfigOptions {
  std::string vendor, trunk, bridge, interface = "IF";
  std::vector<std::string> links, labels, redirect;
  uint16_t first_vlan = 3001;
  bool apply = false, undo = false;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SwitchConfigOptions, vendor, trunk, bridge, interface, links,
                                   labels, redirect, first_vlan, apply, undo)

Deflection Understand(const SwitchConfigOptions& options) {
  Deflection deflection;
  uint16_t next_vlan = options.first_vlan;
  for (const std::string& text : options.links) {
    deflection.switched.push_back(ParseSwitchedLink(text, &next_vlan));
  }
  for (const std::string& text : options.labels) {
    deflection.routed.push_back(ParseRoutedLink(text));
  }
  deflection.trunk = options.trunk;
  deflection.bridge = options.bridge;
  deflection.redirect_ports = options.redirect;
  deflection.emulator_interface = options.interface;
  return deflection;
}

// Throws UsageError for a name that looks like an option, because names become words of commands.
void CheckNames(const SwitchConfigOptions& options, const Deflection& deflection) {
  std::vector<std::string> names = options.redirect;
  names.insert(names.end(), {options.trunk, options.bridge});
  for (const auto& [port, vlan] : deflection.Ends()) names.push_back(port);
  for (const std::string& name : names) {
    if (name.starts_with('-'))
      throw UsageError(fmt::format("\"{}\" is not a valid port name", name));
  }
}

void Configure(const SwitchConfigOptions& options) {
  const Vendor vendor = ParseVendor(options.vendor);
  const Deflection deflection = Understand(options);
  CheckDeflection(vendor, deflection);
  CheckNames(options, deflection);
  if (!IsHost(vendor))
    throw UsageError(
        "--apply supports only linux and ovs; enter other configurations on the device");
  options.undo ? Undo(vendor, deflection) : Apply(vendor, deflection);
}

void Run(const SwitchConfigOptions& options) {
  const Vendor vendor = ParseVendor(options.vendor);
  const Deflection deflection = Understand(options);
  CheckDeflection(vendor, deflection);
  if (options.apply) {
    if (!IsHost(vendor)) {
      throw UsageError(
          "--apply supports only linux and ovs; enter other configurations on the device");
    }
    NeedRoot();
    privilege::AskOnce(kSwitchService, OnlyRequest::kDo, options);
    if (!options.undo) std::printf("%s\n", PathCommand(deflection).c_str());
    return;
  }
  std::fputs(Configuration(vendor, deflection, options.undo).c_str(), stdout);
  const char* comment = vendor == Vendor::kIos || vendor == Vendor::kEos ? "!" : "#";
  if (!options.undo) std::printf("%s %s\n", comment, PathCommand(deflection).c_str());
}

}  // namespace

void ConfigureAsRoot(UniqueFd connection, const sys::Identity&) {
  ipc::AnswerOnly(std::move(connection), kSwitchService, OnlyRequest::kDo,
                  [](const nlohmann::json& request) {
                    Configure(request.get<SwitchConfigOptions>());
                    return nlohmann::json::object();
                  });
}

void AddSwitchConfig(CLI::App& path, Invocation&) {
  auto options = std::make_shared<SwitchConfigOptions>();
  CLI::App* command = path.add_subcommand(
      "switch-config", "print the configuration that deflects links to the emulator");
  command
      ->add_option("--vendor", options->vendor,
                   "the system of the switch: ios, junos, eos, linux or ovs")
      ->required();
  AddRepeated(*command, "--link", options->links, "PORT,PORT[,VLAN,VLAN]",
              "a link to deflect; may be repeated");
  AddRepeated(*command, "--mpls", options->labels, "\"KEY=VALUE ...\"",
              "a neighbour of the router; may be repeated");
  command->add_option("--trunk", options->trunk,
                      "the switch port to which the emulator is connected");
  command->add_option("--interface", options->interface,
                      "the name of the emulator's interface at the trunk");
  command->add_option("--bridge", options->bridge, "linux: the bridge to which the ports belong");
  command
      ->add_option("--redirect", options->redirect,
                   "linux: two ports to the emulator, to use instead of VLANs")
      ->type_name("PORT PORT")
      ->expected(2);
  command
      ->add_option("--first-vlan", options->first_vlan,
                   "the first VLAN to use for links that specify no VLANs")
      ->check(CLI::Range(1, 4094));
  command->add_flag("--apply", options->apply, "linux, ovs: apply the configuration");
  command->add_flag("--undo", options->undo,
                    "print, or with --apply execute, the commands that remove the configuration");
  command->footer(kSwitchConfigFooter);
  command->callback([options] { Run(*options); });
}

}  // namespace viaduct::cli
