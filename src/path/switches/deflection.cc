#include "path/switches/deflection.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/units.h"
#include "base/within.h"

namespace viaduct::switches {
namespace {

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Checks that no name contains white space, because the commands are split at white space when they
// are applied.
void CheckNames(const Deflection& deflection) {
  std::vector<std::string> names = deflection.redirect_ports;
  names.insert(names.end(), {deflection.trunk, deflection.bridge});
  for (const auto& [port, vlan] : deflection.Ends()) names.push_back(port);
  for (const std::string& name : names) {
    if (name.find_first_of(" \t\n\r\v\f") == std::string::npos) continue;
    throw UsageError(fmt::format("\"{}\" is not a valid interface name", name));
  }
}

}  // namespace

Vendor ParseVendor(const std::string& name) {
  const std::map<std::string, Vendor> vendors = {{"ios", Vendor::kIos},
                                                 {"junos", Vendor::kJunos},
                                                 {"eos", Vendor::kEos},
                                                 {"linux", Vendor::kLinux},
                                                 {"ovs", Vendor::kOvs}};
  const auto found = vendors.find(name);
  if (found != vendors.end()) return found->second;
  throw UsageError(fmt::format("--vendor {}: not one of ios, junos, eos, linux, ovs", name));
}

bool IsHost(Vendor vendor) { return vendor == Vendor::kLinux || vendor == Vendor::kOvs; }

std::vector<std::pair<std::string, uint16_t>> Deflection::Ends() const {
  std::vector<std::pair<std::string, uint16_t>> ends;
  for (const SwitchedLink& link : switched) {
    ends.emplace_back(link.a, link.vlan_a);
    ends.emplace_back(link.b, link.vlan_b);
  }
  return ends;
}

SwitchedLink ParseSwitchedLink(const std::string& text, uint16_t* next_vlan) {
  return Within("--link " + text, [&] {
    const std::vector<std::string> parts = SplitAt(text, ',');
    if ((parts.size() != 2 && parts.size() != 4) || parts[0].empty() || parts[1].empty()) {
      throw UsageError("invalid link; expected PORT,PORT or PORT,PORT,VLAN,VLAN");
    }
    const auto vlan = [&](size_t index) {
      if (index < parts.size()) return static_cast<uint16_t>(ParseInteger(parts[index], 1, 4094));
      return (*next_vlan)++;
    };
    SwitchedLink link{parts[0], parts[1], vlan(2), 0};
    link.vlan_b = vlan(3);
    if (link.a == link.b) throw UsageError("both ends of the link are the same port");
    if (link.vlan_a > 4094 || link.vlan_b > 4094)
      throw UsageError(
          "no unused VLAN ID up to 4094 is left; specify the VLANs, as in PORT,PORT,VLAN,VLAN");
    return link;
  });
}

RoutedLink ParseRoutedLink(const std::string& text) {
  return Within("--mpls \"" + text + "\"", [&] {
    std::map<std::string, std::string> values = {
        {"label", ""}, {"to", ""}, {"via", ""}, {"back", ""}, {"back-via", ""}};
    for (const std::string& word : SplitAt(text, ' ')) {
      const size_t equals = word.find('=');
      const auto found = values.find(word.substr(0, equals));
      if (word.empty()) continue;
      if (equals == std::string::npos || found == values.end()) {
        throw UsageError(
            fmt::format("\"{}\": unknown; expected label=, to=, via=, back= and back-via=", word));
      }
      found->second = word.substr(equals + 1);
    }
    for (const auto& [key, value] : values) {
      if (value.empty()) throw UsageError(key + "= is missing");
    }
    RoutedLink link;
    link.label = static_cast<uint32_t>(ParseInteger(values["label"], 16, 0xfffff));
    link.to = wire::IpPrefix::Parse(values["to"]).Network();
    link.back = wire::IpPrefix::Parse(values["back"]).Network();
    link.via = wire::IpAddress::Parse(values["via"]);
    link.back_via = wire::IpAddress::Parse(values["back-via"]);
    for (const auto family : {link.to.address.family, link.back.address.family, link.via.family,
                              link.back_via.family}) {
      if (family != wire::Family::kIpv4) throw UsageError("only IPv4 addresses are supported");
    }
    return link;
  });
}

void CheckDeflection(Vendor vendor, const Deflection& deflection) {
  if (deflection.switched.empty() && deflection.routed.empty()) {
    throw UsageError("nothing to deflect; specify --link PORT,PORT (or --mpls for routers)");
  }
  if (IsHost(vendor) && !deflection.routed.empty()) {
    throw UsageError("--mpls is supported only for routers: ios, junos, eos");
  }
  if (!deflection.redirect_ports.empty()) {
    if (vendor != Vendor::kLinux)
      throw UsageError("--redirect is supported only with --vendor linux");
    if (deflection.switched.size() != 1) {
      throw UsageError(
          "--redirect supports only one --link, whose two ends use the two ports to the emulator; "
          "for several links, specify --trunk and --bridge instead");
    }
  } else if (deflection.trunk.empty()) {
    throw UsageError(
        "--trunk is missing; specify --trunk PORT, the port that leads to the emulator");
  } else if (vendor == Vendor::kLinux && deflection.bridge.empty()) {
    throw UsageError(
        "specify --bridge BRIDGE, the bridge that the ports belong to, or --redirect PORT PORT");
  }
  if (IsHost(vendor)) CheckNames(deflection);
  std::set<uint16_t> vlans;
  std::set<std::string> ports = {deflection.trunk};
  for (const auto& [port, vlan] : deflection.Ends()) {
    if (!vlans.insert(vlan).second) throw UsageError(fmt::format("VLAN {} is used twice", vlan));
    if (!ports.insert(port).second) throw UsageError(fmt::format("port {} is used twice", port));
  }
  for (const RoutedLink& link : deflection.routed) {
    if (vendor == Vendor::kJunos && link.label < 1000000) {
      throw UsageError("Junos reserves labels below 1000000; specify a higher label");
    }
  }
}

std::string PathCommand(const Deflection& deflection) {
  std::string text = "viaduct path";
  if (!deflection.redirect_ports.empty()) return text + " --between IF1 IF2";
  const std::string& name = deflection.emulator_interface;
  for (const SwitchedLink& link : deflection.switched) {
    text += fmt::format(" --pair {0}:vlan={1},{0}:vlan={2}", name, link.vlan_a, link.vlan_b);
  }
  for (const RoutedLink& link : deflection.routed) {
    text += fmt::format(" --pair {0}:mpls={1},OTHER:mpls={1}", name, link.label);
  }
  if (!deflection.routed.empty()) text += fmt::format(" --pair {},OTHER", name);
  return text;
}

}  // namespace viaduct::switches
