#include "path/switches/configuration.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <map>
#include <vector>

namespace viaduct::switches {
namespace {

// The number of times that a piece of configuration is written.
enum class For {
  kDevice,      // once
  kSwitched,    // once, if there are switched links
  kEnd,         // once for each end of a switched link; sets {port}, {vlan}
  kRouted,      // once, if there are routed links
  kRoutedLink,  // once for each routed link; sets {label}, {to}...
  // Once for each direction between a port and the emulator, if there are no VLANs; sets {port},
  // {peer}.
  kOneWay,
};

// Lines of configuration with placeholders in braces. {trunk}, {bridge} and {vlans} are available
// in every piece.
struct Piece {
  For what;
  const char* text;
};
using Template = std::vector<Piece>;

// The following pieces are common to IOS and EOS. Spanning tree is disabled on the trunk, because
// the emulator joins VLANs that spanning tree treats as two networks.
const Piece kBegin = {For::kDevice,
                      "! viaduct: links deflected through the emulator\nconfigure terminal\n"};
const Piece kVlans = {For::kEnd, "vlan {vlan}\n name viaduct-{vlan}\n"};
const Piece kPorts = {
    For::kEnd, "interface {port}\n switchport mode access\n switchport access vlan {vlan}\n"};
const Piece kUndoPorts = {For::kEnd, "interface {port}\n no switchport access vlan\n"};
const Piece kUndoTrunk = {For::kSwitched,
                          "interface {trunk}\n"
                          " switchport trunk allowed vlan remove {vlans}\n"
                          " no spanning-tree bpdufilter\n"};
const Piece kUndoVlans = {For::kEnd, "no vlan {vlan}\n"};
const Piece kEnd = {For::kDevice, "end\n"};

const Template kIos = {
    kBegin,
    {For::kRouted,
     "! static labels need a separate range: mpls label range 100000 199999 static 16 99999\n"},
    kVlans,
    kPorts,
    {For::kSwitched,
     "interface {trunk}\n"
     " switchport trunk encapsulation dot1q\n"
     " switchport mode trunk\n"
     " switchport trunk allowed vlan add {vlans}\n"
     " spanning-tree bpdufilter enable\n"
     " no cdp enable\n"},
    {For::kRouted, "interface {trunk}\n mpls ip\n"},
    {For::kRoutedLink,
     "mpls static binding ipv4 {to_address} {to_mask} output {via} {label}\n"
     "mpls static binding ipv4 {back_address} {back_mask} input {label}\n"
     "ip route {to_address} {to_mask} {trunk} {via}\n"},
    kEnd};
const Template kUndoIos = {
    kBegin,
    kUndoPorts,
    kUndoTrunk,
    kUndoVlans,
    {For::kRoutedLink,
     "no mpls static binding ipv4 {to_address} {to_mask} output {via} {label}\n"
     "no mpls static binding ipv4 {back_address} {back_mask} input {label}\n"
     "no ip route {to_address} {to_mask} {trunk} {via}\n"},
    kEnd};

const Template kEos = {kBegin,
                       kVlans,
                       kPorts,
                       {For::kSwitched,
                        "interface {trunk}\n"
                        " switchport mode trunk\n"
                        " switchport trunk allowed vlan add {vlans}\n"
                        " spanning-tree bpdufilter enable\n"},
                       {For::kRouted, "mpls ip\n"},
                       {For::kRoutedLink,
                        "nexthop-group viaduct-{label} type mpls\n"
                        " entry 0 push label-stack {label} nexthop {via}\n"
                        "ip route {to} nexthop-group viaduct-{label}\n"
                        "mpls static top-label {label} {back_via} pop payload-type ipv4\n"},
                       kEnd};
const Template kUndoEos = {kBegin,
                           kUndoPorts,
                           kUndoTrunk,
                           kUndoVlans,
                           {For::kRoutedLink,
                            "no ip route {to} nexthop-group viaduct-{label}\n"
                            "no nexthop-group viaduct-{label} type mpls\n"
                            "no mpls static top-label {label} {back_via} pop payload-type ipv4\n"},
                           kEnd};

const Template kJunos = {
    {For::kDevice, "# viaduct: links deflected through the emulator\n"},
    {For::kEnd, "set vlans viaduct-{vlan} vlan-id {vlan}\n"},
    {For::kEnd,
     "delete interfaces {port} unit 0 family ethernet-switching vlan\n"
     "set interfaces {port} unit 0 family ethernet-switching interface-mode access\n"
     "set interfaces {port} unit 0 family ethernet-switching vlan members viaduct-{vlan}\n"},
    {For::kSwitched,
     "set interfaces {trunk} unit 0 family ethernet-switching interface-mode trunk\n"
     "set protocols rstp interface {trunk} disable\n"},
    {For::kEnd,
     "set interfaces {trunk} unit 0 family ethernet-switching vlan members viaduct-{vlan}\n"},
    {For::kRouted,
     "set interfaces {trunk} unit 0 family mpls\n"
     "set protocols mpls interface {trunk}.0\n"},
    {For::kRoutedLink,
     "set routing-options static route {to} static-lsp-next-hop viaduct-{label}\n"
     "set {path} ingress to {via}\n"
     "set {path} ingress next-hop {via}\n"
     "set {path} ingress push {label}\n"
     "set {path}-in transit {label} next-hop {back_via}\n"
     "set {path}-in transit {label} pop\n"},
    {For::kDevice, "commit\n"}};
const Template kUndoJunos = {
    {For::kDevice, "# viaduct: links deflected through the emulator\n"},
    {For::kEnd,
     "delete interfaces {port} unit 0 family ethernet-switching vlan members viaduct-{vlan}\n"},
    {For::kEnd,
     "delete interfaces {trunk} unit 0 family ethernet-switching vlan members viaduct-{vlan}\n"},
    {For::kEnd, "delete vlans viaduct-{vlan}\n"},
    {For::kSwitched, "delete protocols rstp interface {trunk} disable\n"},
    {For::kRoutedLink,
     "delete routing-options static route {to} static-lsp-next-hop viaduct-{label}\n"
     "delete {path}\n"
     "delete {path}-in\n"},
    {For::kDevice, "commit\n"}};

// A bridge with VLAN filtering (CONFIG_BRIDGE_VLAN_FILTERING) assigns VLAN 1 to every port by
// default.
const Template kLinux = {
    {For::kSwitched, "ip link set dev {bridge} type bridge vlan_filtering 1\n"},
    {For::kEnd,
     "bridge vlan add dev {port} vid {vlan} pvid untagged\n"
     "bridge vlan del dev {port} vid 1\n"
     "bridge vlan add dev {trunk} vid {vlan}\n"}};
const Template kUndoLinux = {
    {For::kEnd,
     "bridge vlan del dev {port} vid {vlan}\n"
     "bridge vlan add dev {port} vid 1 pvid untagged\n"
     "bridge vlan del dev {trunk} vid {vlan}\n"},
    {For::kSwitched, "ip link set dev {bridge} type bridge vlan_filtering 0\n"}};

// The redirection of frames: frames that arrive at one port leave at its peer, before any bridge or
// route sees them.
const Template kRedirect = {
    {For::kOneWay,
     "tc qdisc add dev {port} clsact\n"
     "tc filter add dev {port} ingress protocol all u32 match u32 0 0 action mirred egress "
     "redirect dev {peer}\n"}};
const Template kUndoRedirect = {{For::kOneWay, "tc qdisc del dev {port} clsact\n"}};

const Template kOvs = {{For::kEnd, "ovs-vsctl set port {port} tag={vlan}\n"},
                       {For::kSwitched, "ovs-vsctl set port {trunk} trunks={vlans}\n"}};
const Template kUndoOvs = {{For::kEnd, "ovs-vsctl clear port {port} tag\n"},
                           {For::kSwitched, "ovs-vsctl clear port {trunk} trunks\n"}};

const Template& TemplateOf(Vendor vendor, const Deflection& deflection, bool undo) {
  if (vendor == Vendor::kIos) return undo ? kUndoIos : kIos;
  if (vendor == Vendor::kEos) return undo ? kUndoEos : kEos;
  if (vendor == Vendor::kJunos) return undo ? kUndoJunos : kJunos;
  if (vendor == Vendor::kOvs) return undo ? kUndoOvs : kOvs;
  if (deflection.redirect_ports.empty()) return undo ? kUndoLinux : kLinux;
  return undo ? kUndoRedirect : kRedirect;
}

using Names = std::map<std::string, std::string>;  // placeholders and their values

std::string Mask(const wire::IpPrefix& prefix) {
  const uint32_t bits = prefix.length == 0 ? 0 : ~uint32_t{0} << (32 - prefix.length);
  return wire::IpAddress::FromIpv4(bits).ToString();
}

Names NamesOf(const RoutedLink& link) {
  const std::string label = std::to_string(link.label);
  return {{"label", label},
          {"path", "protocols mpls static-label-switched-path viaduct-" + label},
          {"to", link.to.ToString()},
          {"to_address", link.to.address.ToString()},
          {"to_mask", Mask(link.to)},
          {"via", link.via.ToString()},
          {"back_address", link.back.address.ToString()},
          {"back_mask", Mask(link.back)},
          {"back_via", link.back_via.ToString()}};
}

// Returns the placeholders' values for each time that a piece of this kind is written.
std::vector<Names> Places(For what, const Deflection& deflection) {
  const auto ends = deflection.Ends();
  std::vector<Names> places;
  if (what == For::kDevice || (what == For::kSwitched && !ends.empty()) ||
      (what == For::kRouted && !deflection.routed.empty())) {
    places.emplace_back();
  } else if (what == For::kEnd) {
    for (const auto& [port, vlan] : ends) {
      places.push_back({{"port", port}, {"vlan", std::to_string(vlan)}});
    }
  } else if (what == For::kRoutedLink) {
    for (const RoutedLink& link : deflection.routed) places.push_back(NamesOf(link));
  } else if (what == For::kOneWay) {
    for (size_t i = 0; i < deflection.redirect_ports.size(); ++i) {
      const std::string &port = ends[i].first, &peer = deflection.redirect_ports[i];
      places.push_back({{"port", port}, {"peer", peer}});
      places.push_back({{"port", peer}, {"peer", port}});
    }
  }
  return places;
}

}  // namespace

std::string Configuration(Vendor vendor, const Deflection& deflection, bool undo) {
  std::vector<std::string> vlans;
  for (const auto& [port, vlan] : deflection.Ends()) vlans.push_back(std::to_string(vlan));
  const Names everywhere = {{"trunk", deflection.trunk},
                            {"bridge", deflection.bridge},
                            {"vlans", fmt::format("{}", fmt::join(vlans, ","))}};
  std::string text;
  for (const Piece& piece : TemplateOf(vendor, deflection, undo)) {
    for (Names& names : Places(piece.what, deflection)) {
      names.insert(everywhere.begin(), everywhere.end());
      fmt::dynamic_format_arg_store<fmt::format_context> values;
      for (const auto& [name, value] : names) values.push_back(fmt::arg(name.c_str(), value));
      text += fmt::vformat(piece.text, values);
    }
  }
  return text;
}

}  // namespace viaduct::switches
