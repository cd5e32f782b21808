#include "switches/deflection.h"

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

std::string VlanName(uint16_t vlan) { return fmt::format("viaduct-{}", vlan); }

// The ends of all links: a port and its VLAN.
std::vector<std::pair<std::string, uint16_t>> Ends(const Deflection& deflection) {
  std::vector<std::pair<std::string, uint16_t>> ends;
  for (const SwitchedLink& link : deflection.switched) {
    ends.emplace_back(link.a, link.vlan_a);
    ends.emplace_back(link.b, link.vlan_b);
  }
  return ends;
}

std::string Vlans(const Deflection& deflection, const char* separator) {
  std::vector<uint16_t> vlans;
  for (const auto& [port, vlan] : Ends(deflection)) vlans.push_back(vlan);
  return fmt::format("{}", fmt::join(vlans, separator));
}

std::string Mask(const wire::IpPrefix& prefix) {
  const uint32_t bits = prefix.length == 0 ? 0 : ~uint32_t{0} << (32 - prefix.length);
  return wire::IpAddress::FromIpv4(bits).ToString();
}

// IOS and EOS are alike where VLANs are concerned.
std::string CiscoLikeVlans(const Deflection& deflection, bool undo, bool is_ios) {
  std::string text;
  const auto line = [&](const std::string& words) { text += words + "\n"; };
  if (!undo) {
    for (const auto& [port, vlan] : Ends(deflection)) {
      line(fmt::format("vlan {}", vlan));
      line(fmt::format(" name {}", VlanName(vlan)));
    }
  }
  for (const auto& [port, vlan] : Ends(deflection)) {
    line(fmt::format("interface {}", port));
    if (undo) {
      line(" no switchport access vlan");
      continue;
    }
    line(" switchport mode access");
    line(fmt::format(" switchport access vlan {}", vlan));
  }
  line(fmt::format("interface {}", deflection.trunk));
  if (undo) {
    line(fmt::format(" switchport trunk allowed vlan remove {}", Vlans(deflection, ",")));
    line(" no spanning-tree bpdufilter");
    for (const auto& [port, vlan] : Ends(deflection)) line(fmt::format("no vlan {}", vlan));
    return text;
  }
  if (is_ios) line(" switchport trunk encapsulation dot1q");
  line(" switchport mode trunk");
  line(fmt::format(" switchport trunk allowed vlan add {}", Vlans(deflection, ",")));
  // The emulator joins VLANs that spanning tree takes for two networks.
  line(" spanning-tree bpdufilter enable");
  if (is_ios) line(" no cdp enable");
  return text;
}

std::string IosLabels(const Deflection& deflection, bool undo) {
  std::string text;
  const char* no = undo ? "no " : "";
  if (!undo && !deflection.routed.empty()) {
    text += fmt::format("interface {}\n mpls ip\n", deflection.trunk);
  }
  for (const RoutedLink& link : deflection.routed) {
    text += fmt::format("{}mpls static binding ipv4 {} {} output {} {}\n", no,
                        link.to.address.ToString(), Mask(link.to), link.via.ToString(), link.label);
    text += fmt::format("{}mpls static binding ipv4 {} {} input {}\n", no,
                        link.back.address.ToString(), Mask(link.back), link.label);
    text += fmt::format("{}ip route {} {} {} {}\n", no, link.to.address.ToString(), Mask(link.to),
                        deflection.trunk, link.via.ToString());
  }
  return text;
}

std::string Ios(const Deflection& deflection, bool undo) {
  std::string text = "! viaduct: links deflected through the emulator\nconfigure terminal\n";
  if (!undo && !deflection.routed.empty()) {
    text +=
        "! static labels need a range of their own: mpls label range 100000 199999 static 16 "
        "99999\n";
  }
  if (!deflection.switched.empty()) text += CiscoLikeVlans(deflection, undo, true);
  return text + IosLabels(deflection, undo) + "end\n";
}

std::string Eos(const Deflection& deflection, bool undo) {
  std::string text = "! viaduct: links deflected through the emulator\nconfigure terminal\n";
  if (!deflection.switched.empty()) text += CiscoLikeVlans(deflection, undo, false);
  const char* no = undo ? "no " : "";
  if (!undo && !deflection.routed.empty()) text += "mpls ip\n";
  for (const RoutedLink& link : deflection.routed) {
    const std::string route =
        fmt::format("{}ip route {} nexthop-group viaduct-{}\n", no, link.to.ToString(), link.label);
    if (undo) text += route;
    text += fmt::format("{}nexthop-group viaduct-{} type mpls\n", no, link.label);
    if (!undo) {
      text +=
          fmt::format(" entry 0 push label-stack {} nexthop {}\n", link.label, link.via.ToString());
      text += route;
    }
    text += fmt::format("{}mpls static top-label {} {} pop payload-type ipv4\n", no, link.label,
                        link.back_via.ToString());
  }
  return text + "end\n";
}

std::string JunosVlans(const Deflection& deflection, bool undo) {
  std::string text;
  const char* verb = undo ? "delete" : "set";
  const auto port_line = [&](const std::string& port, const std::string& words) {
    text +=
        fmt::format("{} interfaces {} unit 0 family ethernet-switching {}\n", verb, port, words);
  };
  if (!undo) {
    for (const auto& [port, vlan] : Ends(deflection)) {
      text += fmt::format("set vlans {} vlan-id {}\n", VlanName(vlan), vlan);
    }
  }
  for (const auto& [port, vlan] : Ends(deflection)) {
    if (!undo) {
      text += fmt::format("delete interfaces {} unit 0 family ethernet-switching vlan\n", port);
      port_line(port, "interface-mode access");
    }
    port_line(port, "vlan members " + VlanName(vlan));
  }
  if (!undo) {
    port_line(deflection.trunk, "interface-mode trunk");
    // The emulator joins VLANs that spanning tree takes for two networks.
    text += fmt::format("set protocols rstp interface {} disable\n", deflection.trunk);
  }
  for (const auto& [port, vlan] : Ends(deflection)) {
    port_line(deflection.trunk, "vlan members " + VlanName(vlan));
  }
  if (undo) {
    for (const auto& [port, vlan] : Ends(deflection)) {
      text += fmt::format("delete vlans {}\n", VlanName(vlan));
    }
    text += fmt::format("delete protocols rstp interface {} disable\n", deflection.trunk);
  }
  return text;
}

std::string Junos(const Deflection& deflection, bool undo) {
  std::string text = "# viaduct: links deflected through the emulator\n";
  if (!deflection.switched.empty()) text += JunosVlans(deflection, undo);
  const char* verb = undo ? "delete" : "set";
  if (!undo && !deflection.routed.empty()) {
    text += fmt::format(
        "set interfaces {0} unit 0 family mpls\n"
        "set protocols mpls interface {0}.0\n",
        deflection.trunk);
  }
  for (const RoutedLink& link : deflection.routed) {
    const std::string path =
        "protocols mpls static-label-switched-path viaduct-" + std::to_string(link.label);
    text += fmt::format("{} routing-options static route {} static-lsp-next-hop viaduct-{}\n", verb,
                        link.to.ToString(), link.label);
    if (undo) {
      text += fmt::format("delete {0}\ndelete {0}-in\n", path);
      continue;
    }
    text += fmt::format(
        "set {0} ingress to {1}\nset {0} ingress next-hop {1}\n"
        "set {0} ingress push {2}\n",
        path, link.via.ToString(), link.label);
    text += fmt::format("set {0}-in transit {1} next-hop {2}\nset {0}-in transit {1} pop\n", path,
                        link.label, link.back_via.ToString());
  }
  return text + "commit\n";
}

// A bridge that knows VLANs (CONFIG_BRIDGE_VLAN_FILTERING).
std::vector<Command> LinuxVlans(const Deflection& deflection, bool undo) {
  std::vector<Command> commands;
  const auto filtering = [&](const char* on) {
    commands.push_back(
        {"ip", "link", "set", "dev", deflection.bridge, "type", "bridge", "vlan_filtering", on});
  };
  if (!undo) filtering("1");
  for (const auto& [port, vlan] : Ends(deflection)) {
    const std::string vid = std::to_string(vlan);
    // 1 is what a bridge gives a port of its own accord.
    const Command own = {"bridge", "vlan", undo ? "del" : "add", "dev", port, "vid", vid};
    const Command first = {"bridge", "vlan", undo ? "add" : "del", "dev", port, "vid", "1"};
    for (Command command : {own, first}) {
      if (command[2] == "add") command.insert(command.end(), {"pvid", "untagged"});
      commands.push_back(std::move(command));
    }
    commands.push_back(
        {"bridge", "vlan", undo ? "del" : "add", "dev", deflection.trunk, "vid", vid});
  }
  if (undo) filtering("0");
  return commands;
}

// What comes in at one port leaves at the other, before any bridge or route sees it.
void AddRedirection(const std::string& from, const std::string& to,
                    std::vector<Command>* commands) {
  commands->push_back({"tc", "qdisc", "add", "dev", from, "clsact"});
  commands->push_back({"tc", "filter", "add", "dev", from, "ingress", "protocol", "all", "u32",
                       "match", "u32", "0", "0", "action", "mirred", "egress", "redirect", "dev",
                       to});
}

std::vector<Command> LinuxRedirect(const Deflection& deflection, bool undo) {
  const SwitchedLink& link = deflection.switched.front();
  const auto& ports = deflection.redirect_ports;
  std::vector<Command> commands;
  for (const auto& [a, b] : {std::pair(link.a, ports[0]), std::pair(ports[0], link.a),
                             std::pair(link.b, ports[1]), std::pair(ports[1], link.b)}) {
    if (undo) {
      commands.push_back({"tc", "qdisc", "del", "dev", a, "clsact"});
    } else {
      AddRedirection(a, b, &commands);
    }
  }
  return commands;
}

std::vector<Command> Ovs(const Deflection& deflection, bool undo) {
  std::vector<Command> commands;
  for (const auto& [port, vlan] : Ends(deflection)) {
    commands.push_back(
        undo ? Command{"ovs-vsctl", "clear", "port", port, "tag"}
             : Command{"ovs-vsctl", "set", "port", port, fmt::format("tag={}", vlan)});
  }
  commands.push_back(undo ? Command{"ovs-vsctl", "clear", "port", deflection.trunk, "trunks"}
                          : Command{"ovs-vsctl", "set", "port", deflection.trunk,
                                    "trunks=" + Vlans(deflection, ",")});
  return commands;
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

SwitchedLink ParseSwitchedLink(const std::string& text, uint16_t* next_vlan) {
  return Within("--link " + text, [&] {
    const std::vector<std::string> parts = SplitAt(text, ',');
    if ((parts.size() != 2 && parts.size() != 4) || parts[0].empty() || parts[1].empty()) {
      throw UsageError("a link is PORT,PORT or PORT,PORT,VLAN,VLAN");
    }
    const auto vlan = [&](size_t index) {
      if (index < parts.size()) return static_cast<uint16_t>(ParseInteger(parts[index], 1, 4094));
      return (*next_vlan)++;
    };
    SwitchedLink link{parts[0], parts[1], vlan(2), 0};
    link.vlan_b = vlan(3);
    if (link.a == link.b) throw UsageError("both ends are one port");
    if (link.vlan_a > 4094 || link.vlan_b > 4094) throw UsageError("no VLANs are left below 4095");
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
        throw UsageError(fmt::format("\"{}\": give label=, to=, via=, back= and back-via=", word));
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
      if (family != wire::Family::kIpv4) throw UsageError("IPv4 addresses only");
    }
    return link;
  });
}

void CheckDeflection(Vendor vendor, const Deflection& deflection) {
  const bool is_host = vendor == Vendor::kLinux || vendor == Vendor::kOvs;
  if (deflection.switched.empty() && deflection.routed.empty()) {
    throw UsageError("nothing to deflect: give --link PORT,PORT (or --mpls for routers)");
  }
  if (is_host && !deflection.routed.empty()) {
    throw UsageError("--mpls is for routers: ios, junos, eos");
  }
  if (!deflection.redirect_ports.empty()) {
    if (vendor != Vendor::kLinux) throw UsageError("--redirect is for linux");
    if (deflection.switched.size() != 1) {
      throw UsageError(
          "--redirect: two ports to the emulator serve one --link; give VLANs for more");
    }
  } else if (deflection.trunk.empty()) {
    throw UsageError("give --trunk PORT, where the emulator is");
  } else if (vendor == Vendor::kLinux && deflection.bridge.empty()) {
    throw UsageError("give --bridge BRIDGE, which the ports belong to, or --redirect PORT PORT");
  }
  std::set<uint16_t> vlans;
  std::set<std::string> ports = {deflection.trunk};
  for (const auto& [port, vlan] : Ends(deflection)) {
    if (!vlans.insert(vlan).second) throw UsageError(fmt::format("VLAN {} is used twice", vlan));
    if (!ports.insert(port).second) throw UsageError(fmt::format("port {} is used twice", port));
  }
  for (const RoutedLink& link : deflection.routed) {
    if (vendor == Vendor::kJunos && link.label < 1000000) {
      throw UsageError("Junos keeps labels below 1000000 for itself; give one above");
    }
  }
}

std::string DeviceConfiguration(Vendor vendor, const Deflection& deflection, bool undo) {
  if (vendor == Vendor::kIos) return Ios(deflection, undo);
  return vendor == Vendor::kEos ? Eos(deflection, undo) : Junos(deflection, undo);
}

std::vector<Command> DeflectionCommands(Vendor vendor, const Deflection& deflection, bool undo) {
  if (vendor == Vendor::kOvs) return Ovs(deflection, undo);
  return deflection.redirect_ports.empty() ? LinuxVlans(deflection, undo)
                                           : LinuxRedirect(deflection, undo);
}

std::vector<OvsSetting> OvsSettings(const Deflection& deflection) {
  std::vector<OvsSetting> settings;
  for (const auto& [port, vlan] : Ends(deflection)) settings.push_back({port, "tag"});
  settings.push_back({deflection.trunk, "trunks"});
  return settings;
}

std::string ShellLine(const Command& command) { return fmt::format("{}", fmt::join(command, " ")); }

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
