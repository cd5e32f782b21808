#include "scenario/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "scenario/binding.h"
#include "scenario/end_hosts.h"
#include "scenario/events.h"
#include "scenario/protocols.h"

namespace viaduct::scenario {
namespace {

constexpr size_t kMaxNameLength = 32;
// The number of bits for the link in a VXLAN identifier of 24 bits: the upper bits identify the
// lab, the lower bits the link.
constexpr int kLinkBits = 14;

// Returns false for loopback, broadcast or reserved addresses, and for addresses that are only
// valid with the name of a link.
bool CanBeReached(const wire::IpAddress& address) {
  if (address.IsUnspecified() || address.IsMulticast()) return false;
  if (address.family == wire::Family::kIpv4) {
    return address.bytes[0] != 0 && address.bytes[0] != 127 && address.bytes[0] < 240;
  }
  static const std::array kOthers = {wire::IpPrefix::Parse("::1/128"),
                                     wire::IpPrefix::Parse("::ffff:0:0/96"),
                                     wire::IpPrefix::Parse("fe80::/10")};
  return std::ranges::none_of(kOthers, [&](const auto& each) { return each.Contains(address); });
}

Machine ReadMachine(const Section& section, const std::string& name) {
  Machine machine;
  ReadMembers(section, machine);
  machine.name = name;
  section.Need({"address"});
  machine.address =
      section.Located("address", [&] { return wire::IpAddress::Parse(section.Text("address")); });
  if (!CanBeReached(machine.address)) {
    section.Fail("address",
                 machine.address.ToString() + " is not an address that other machines can reach");
  }
  const bool is_login = std::ranges::all_of(machine.login, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '@';
  });
  if (!is_login || machine.login.starts_with('-')) {
    section.Fail("login", fmt::format("'{}' is not a valid login; expected NAME or USER@NAME",
                                      machine.login));
  }
  return machine;
}

// Returns the FNV-1a hash with 32 bits (Fowler, Noll, Vo).
uint32_t HashOf(const std::string& text) {
  uint32_t hash = 2166136261U;
  for (const unsigned char c : text) hash = (hash ^ c) * 16777619U;
  return hash;
}

}  // namespace

std::vector<Machine> ReadMachines(const Section& file) {
  std::vector<Machine> machines;
  const Value* value = file.Find("machines");
  if (!value) return machines;
  if (!value->IsMap()) {
    file.Fail("machines", "expected a map, such as {h1: {address: 192.0.2.1}}");
  }
  machines.reserve(value->members.size());
  std::set<wire::IpAddress> addresses;
  for (const auto& [name, settings] : value->members) {
    if (!IsName(name, kMaxNameLength)) {
      Fail(settings, fmt::format("machines: '{}' is not a valid name (letters, digits, - and _; at "
                                 "most {} characters)",
                                 name, kMaxNameLength));
    }
    machines.push_back(ReadMachine(Section(settings, "machines.NAME", "machines." + name), name));
    const wire::IpAddress& address = machines.back().address;
    if (!addresses.insert(address).second) {
      Fail(settings,
           fmt::format("machines.{}.address: {} is given twice", name, address.ToString()));
    }
    if (address.family != machines.front().address.family) {
      Fail(settings,
           fmt::format(
               "machines.{}.address: the addresses of the machines must all be IPv4, or all IPv6",
               name));
    }
  }
  return machines;
}

void CheckMachines(const Section& file, const Scenario& scenario) {
  for (const NodeSettings& node : scenario.nodes) {
    if (node.on_machine.empty()) continue;
    const Value& at = PlaceOfNode(file, node.name);
    const bool known = std::ranges::any_of(
        scenario.machines, [&](const auto& h) { return h.name == node.on_machine; });
    if (known) continue;
    Fail(at, fmt::format("nodes.{}.on_machine: there is no machine '{}' in machines", node.name,
                         node.on_machine));
  }
  if (scenario.machines.empty()) return;
  if (scenario.mode != Mode::kOffload && scenario.mode != Mode::kEmulate) {
    file.Fail(
        "machines",
        fmt::format(
            "not supported in mode {}; use mode offload or emulate, or remove the key machines",
            ModeName(scenario.mode)));
  }
  if (HasRBridges(scenario)) {
    file.Fail("machines",
              "RBridges (WMRP) cannot run on several machines; use another routing.protocol, or "
              "remove the key machines");
  }
  if (HasFramePrograms(scenario)) {
    file.Fail("machines",
              "nodes that forward frames with a program cannot run on several machines; remove the "
              "key machines");
  }
  for (const NodeSettings& node : scenario.nodes) {
    if (!node.container.empty()) {
      Fail(
          PlaceOfNode(file, node.name),
          fmt::format("nodes.{}.container: not supported in a lab on several machines", node.name));
    }
    if (node.physical_interfaces.empty() || !node.on_machine.empty()) continue;
    Fail(PlaceOfNode(file, node.name),
         fmt::format("nodes.{}.interfaces: it is not clear which machine has the interfaces; set "
                     "the node's on_machine",
                     node.name));
  }
  if (scenario.links.size() >= 1U << kLinkBits)
    file.Fail("links", "too many links for a lab on several machines (at most 16383)");
}

void CheckPlaces(const Scenario& scenario) {
  const std::vector<std::string> captured = CapturedLinks(scenario);
  for (const LinkSettings& link : scenario.links) {
    if (!IsBetweenMachines(scenario, link)) continue;
    const std::string where = fmt::format("{}: link {} ", scenario.file, link.name);
    if (link.kind != lab::Link::Kind::kPair) {
      throw UsageError(
          where +
          "is shared by nodes on several machines; set the same on_machine for these nodes");
    }
    if (link.emulator == lab::Emulator::kKernel) {
      throw UsageError(where + "connects two machines, which requires emulator: engine");
    }
    if (std::ranges::find(captured, link.name) != captured.end()) {
      throw UsageError(
          where + "connects two machines and cannot be captured; remove the link from captures");
    }
  }
}

size_t MachineNumber(const Scenario& scenario, const std::string& machine) {
  const auto found = std::ranges::find(scenario.machines, machine, &Machine::name);
  if (found == scenario.machines.end()) {
    throw UsageError(
        fmt::format("{}: there is no machine '{}' in machines", scenario.file, machine));
  }
  return found - scenario.machines.begin();
}

const std::string& MachineOf(const Scenario& scenario, const std::string& node) {
  return std::ranges::find(scenario.nodes, node, &NodeSettings::name)->on_machine;
}

bool IsBetweenMachines(const Scenario& scenario, const LinkSettings& link) {
  return std::ranges::any_of(link.nodes, [&](const std::string& node) {
    return MachineOf(scenario, node) != MachineOf(scenario, link.nodes.front());
  });
}

Scenario PartOf(Scenario scenario, const std::string& machine) {
  const auto is_elsewhere = [&](const std::string& link) {
    const auto found = std::ranges::find(scenario.links, link, &LinkSettings::name);
    return std::ranges::none_of(found->nodes, [&](const std::string& node) {
      return MachineOf(scenario, node) == machine;
    });
  };
  std::erase_if(scenario.programs, [&](const Program& program) {
    return MachineOf(scenario, program.node) != machine;
  });
  std::erase_if(scenario.captures, is_elsewhere);
  std::erase_if(scenario.link_events,
                [&](const LinkEvent& event) { return is_elsewhere(event.link); });
  return scenario;
}

lab::Tunnel TunnelOf(const Scenario& scenario, size_t link, const std::string& machine) {
  const LinkSettings& settings = scenario.links.at(link);
  lab::Tunnel tunnel;
  tunnel.end = MachineOf(scenario, settings.nodes.front()) == machine ? 0 : 1;
  const std::string& other = MachineOf(scenario, settings.nodes.at(1 - tunnel.end));
  tunnel.remote = scenario.machines.at(MachineNumber(scenario, other)).address;
  tunnel.port = kTunnelPort;
  // The VXLAN identifier is never 0, because links are counted from 1.
  tunnel.vni = (HashOf(scenario.name) << kLinkBits & 0xffffff) | (static_cast<uint32_t>(link) + 1);
  return tunnel;
}

}  // namespace viaduct::scenario
