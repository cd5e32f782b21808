#include "path/switches/apply.h"

#include <fmt/format.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "path/switches/configuration.h"
#include "sys/process/child.h"

namespace viaduct::switches {
namespace {

using Command = std::vector<std::string>;  // a program and its arguments

std::vector<Command> Commands(Vendor vendor, const Deflection& deflection, bool undo) {
  std::vector<Command> commands;
  std::istringstream lines(Configuration(vendor, deflection, undo));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    commands.emplace_back(std::istream_iterator<std::string>(words),
                          std::istream_iterator<std::string>());
  }
  return commands;
}

std::string ShellLine(const Command& command) { return fmt::format("{}", fmt::join(command, " ")); }

[[noreturn]] void ThrowFailure(const Command& command, const sys::ProgramResult& result) {
  const std::string line = ShellLine(command);
  if (result.status == 127) {
    throw EnvironmentError(fmt::format("{0}: {1} is missing; install {1}", line, command[0]));
  }
  if (command[0] == "ip" || (command[0] == "bridge" && command[2] == "add")) {
    throw EnvironmentError(
        fmt::format("{}: {}; if this kernel's bridges do not support VLANs "
                    "(CONFIG_BRIDGE_VLAN_FILTERING), use --redirect",
                    line, result.output));
  }
  throw Error(fmt::format("{}: {}", line, result.output));
}

sys::ProgramResult Try(Command command) {
  // The timeout is necessary if Open vSwitch's daemon does not run: ovs-vsctl would wait forever.
  if (command[0] == "ovs-vsctl") command.insert(command.begin() + 1, "--timeout=10");
  return sys::RunProgram(command);
}

// Runs a command and returns its output, without quotes and the newline.
std::string Output(const Command& command) {
  const sys::ProgramResult result = Try(command);
  if (result.status != 0) ThrowFailure(command, result);
  std::string text = result.output;
  std::erase_if(text, [](char c) { return c == '\n' || c == '"'; });
  return text;
}

// A column of a port in Open vSwitch's database that the configuration changes.
struct OvsSetting {
  std::string port, column;

  // Returns the name of the entry in Open vSwitch's database that keeps the column's former value.
  std::string Key() const { return "viaduct-" + column; }
  std::string Kept() const {
    return Output({"ovs-vsctl", "--if-exists", "get", "port", port, "external_ids:" + Key()});
  }
};

std::vector<OvsSetting> OvsSettings(const Deflection& deflection) {
  std::vector<OvsSetting> settings;
  for (const auto& [port, vlan] : deflection.Ends()) settings.push_back({port, "tag"});
  settings.push_back({deflection.trunk, "trunks"});
  return settings;
}

void KeepOvsSettings(const Deflection& deflection) {
  const std::vector<OvsSetting> settings = OvsSettings(deflection);
  for (const OvsSetting& setting : settings) {
    if (setting.Kept().empty()) continue;
    throw UsageError(fmt::format(
        "port {} is already deflected; undo that deflection first with --undo", setting.port));
  }
  for (const OvsSetting& setting : settings) {
    const std::string value = Output({"ovs-vsctl", "get", "port", setting.port, setting.column});
    Output({"ovs-vsctl", "set", "port", setting.port,
            fmt::format("external_ids:{}=\"{}\"", setting.Key(), value)});
  }
}

void RestoreOvsSettings(const Deflection& deflection) {
  for (const OvsSetting& setting : OvsSettings(deflection)) {
    const std::string value = setting.Kept();
    if (value.empty()) continue;  // the port was not redirected
    Output({"ovs-vsctl", "set", "port", setting.port, setting.column + "=" + value});
    Output({"ovs-vsctl", "remove", "port", setting.port, "external_ids", setting.Key()});
  }
}

}  // namespace

void Undo(Vendor vendor, const Deflection& deflection) {
  if (vendor == Vendor::kOvs) return RestoreOvsSettings(deflection);
  std::string failure;
  for (const Command& command : Commands(vendor, deflection, true)) {
    const sys::ProgramResult result = Try(command);
    if (result.status != 0 && failure.empty()) failure = ShellLine(command) + ": " + result.output;
  }
  if (!failure.empty()) throw Error(failure);
}

void Apply(Vendor vendor, const Deflection& deflection) {
  if (vendor == Vendor::kOvs) KeepOvsSettings(deflection);
  bool is_changed = vendor == Vendor::kOvs;
  for (const Command& command : Commands(vendor, deflection, false)) {
    const sys::ProgramResult result = Try(command);
    if (result.status == 0) {
      is_changed = true;
      continue;
    }
    try {
      if (is_changed) Undo(vendor, deflection);
    } catch (const Error&) {
      // Some parts of the configuration did not exist and could not be undone.
    }
    ThrowFailure(command, result);
  }
}

}  // namespace viaduct::switches
