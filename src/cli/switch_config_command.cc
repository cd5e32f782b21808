// viaduct path switch-config: the configuration that brings links to the emulator.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/error.h"
#include "cli/path_commands.h"
#include "switches/deflection.h"
#include "sys/run_program.h"

namespace viaduct::cli {
namespace {

using namespace switches;

constexpr const char* kSwitchConfigFooter =
    R"(Each --link is one between two ports of the switch (or hosts behind them): its ends get a VLAN each,
and only the emulator, on the trunk, joins the two. On a router, --mpls sends what goes to a neighbour
beyond the emulator there with a label. What is printed also says which viaduct path belongs to it.

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

[[noreturn]] void ThrowFailure(const Command& command, const sys::ProgramResult& result) {
  const std::string line = ShellLine(command);
  if (result.status == 127) {
    throw EnvironmentError(fmt::format("{}: there is no {}; install it", line, command[0]));
  }
  if (command[0] == "ip" || (command[0] == "bridge" && command[2] == "add")) {
    throw EnvironmentError(fmt::format(
        "{}: {}; if this kernel's bridges know no VLANs (CONFIG_BRIDGE_VLAN_FILTERING), use "
        "--redirect",
        line, result.output));
  }
  throw Error(fmt::format("{}: {}", line, result.output));
}

sys::ProgramResult Try(Command command) {
  // Without a daemon to talk to it would wait for ever.
  if (command[0] == "ovs-vsctl") command.insert(command.begin() + 1, "--timeout=10");
  return sys::RunProgram(command);
}

// What it prints, without the end of the line and quotes.
std::string Output(const Command& command) {
  const sys::ProgramResult result = Try(command);
  if (result.status != 0) ThrowFailure(command, result);
  std::string text = result.output;
  std::erase_if(text, [](char c) { return c == '\n' || c == '"'; });
  return text;
}

// What a port had is kept in the switch's own database.
std::string Kept(const OvsSetting& setting) { return "external_ids:viaduct-" + setting.column; }

void KeepOvsSettings(const Deflection& deflection) {
  for (const OvsSetting& setting : OvsSettings(deflection)) {
    const Command kept = {"ovs-vsctl", "--if-exists", "get", "port", setting.port, Kept(setting)};
    if (!Output(kept).empty()) {
      throw UsageError(
          fmt::format("port {} is deflected already; --undo that first", setting.port));
    }
  }
  for (const OvsSetting& setting : OvsSettings(deflection)) {
    const std::string value = Output({"ovs-vsctl", "get", "port", setting.port, setting.column});
    Output({"ovs-vsctl", "set", "port", setting.port, Kept(setting) + "=\"" + value + "\""});
  }
}

void RestoreOvsSettings(const Deflection& deflection) {
  for (const OvsSetting& setting : OvsSettings(deflection)) {
    const std::string value =
        Output({"ovs-vsctl", "--if-exists", "get", "port", setting.port, Kept(setting)});
    if (value.empty()) continue;  // never deflected
    Output({"ovs-vsctl", "set", "port", setting.port, setting.column + "=" + value});
    Output(
        {"ovs-vsctl", "remove", "port", setting.port, "external_ids", "viaduct-" + setting.column});
  }
}

// As far as it goes; the first failure is told at the end.
void Undo(Vendor vendor, const Deflection& deflection) {
  if (vendor == Vendor::kOvs) return RestoreOvsSettings(deflection);
  std::string failure;
  for (const Command& command : DeflectionCommands(vendor, deflection, true)) {
    const sys::ProgramResult result = Try(command);
    if (result.status != 0 && failure.empty()) failure = ShellLine(command) + ": " + result.output;
  }
  if (!failure.empty()) throw Error(failure);
}

// All, or nothing.
void Apply(Vendor vendor, const Deflection& deflection) {
  if (vendor == Vendor::kOvs) KeepOvsSettings(deflection);
  bool is_changed = vendor == Vendor::kOvs;
  for (const Command& command : DeflectionCommands(vendor, deflection, false)) {
    const sys::ProgramResult result = Try(command);
    if (result.status == 0) {
      is_changed = true;
      continue;
    }
    try {
      if (is_changed) Undo(vendor, deflection);
    } catch (const Error&) {
      // Not all of it was there to be undone.
    }
    ThrowFailure(command, result);
  }
}

void Run(const SwitchConfigOptions& options, const Invocation& invocation) {
  const Vendor vendor = ParseVendor(options.vendor);
  const Deflection deflection = Understand(options);
  CheckDeflection(vendor, deflection);
  const bool is_host = vendor == Vendor::kLinux || vendor == Vendor::kOvs;
  if (options.apply) {
    if (!is_host) throw UsageError("--apply is for linux and ovs; type the others in yourself");
    NeedRoot(invocation);
    options.undo ? Undo(vendor, deflection) : Apply(vendor, deflection);
    if (!options.undo) std::printf("%s\n", PathCommand(deflection).c_str());
    return;
  }
  if (is_host) {
    for (const Command& command : DeflectionCommands(vendor, deflection, options.undo)) {
      std::printf("%s\n", ShellLine(command).c_str());
    }
  } else {
    std::fputs(DeviceConfiguration(vendor, deflection, options.undo).c_str(), stdout);
  }
  const char* comment = vendor == Vendor::kIos || vendor == Vendor::kEos ? "!" : "#";
  if (!options.undo) std::printf("%s %s\n", comment, PathCommand(deflection).c_str());
}

}  // namespace

void AddSwitchConfig(CLI::App& path, Invocation& invocation) {
  auto options = std::make_shared<SwitchConfigOptions>();
  CLI::App* command =
      path.add_subcommand("switch-config", "configuration that deflects links to the emulator");
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* type,
                            const char* help) {
    command->add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  command->add_option("--vendor", options->vendor, "ios, junos, eos, linux or ovs")->required();
  repeated("--link", options->links, "PORT,PORT[,VLAN,VLAN]", "a link to deflect; repeated");
  repeated("--mpls", options->labels, "\"KEY=VALUE ...\"", "a router's neighbour; repeated");
  command->add_option("--trunk", options->trunk, "the port where the emulator is");
  command->add_option("--interface", options->interface, "what the emulator calls it");
  command->add_option("--bridge", options->bridge, "linux: the bridge of the ports");
  command->add_option("--redirect", options->redirect, "linux: two ports to it, without VLANs")
      ->type_name("PORT PORT")
      ->expected(2);
  command->add_option("--first-vlan", options->first_vlan, "of those that are not given")
      ->check(CLI::Range(1, 4094));
  command->add_flag("--apply", options->apply, "linux, ovs: do it");
  command->add_flag("--undo", options->undo, "the way back: printed, or with --apply done");
  command->footer(kSwitchConfigFooter);
  command->callback([options, &invocation] { Run(*options, invocation); });
}

}  // namespace viaduct::cli
