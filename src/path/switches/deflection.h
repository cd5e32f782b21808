// The links that are redirected through the emulator as NetPath's VICT does (Agarwal et al. 2005,
// section 2.2.6). For a link between two ports of a switch, each end gets a VLAN, and a trunk leads
// to the emulator. For a link to a router's neighbour, the router gets a static MPLS label.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/wire/address.h"

namespace viaduct::switches {

enum class Vendor { kIos, kJunos, kEos, kLinux, kOvs };
// Returns the vendor with this name. Throws UsageError for an unknown name.
Vendor ParseVendor(const std::string& name);
// Returns whether the switch is this machine, which is configured by commands.
bool IsHost(Vendor vendor);

// A link between two ports of one switch: each port gets a separate VLAN, and only the emulator
// joins the two VLANs.
struct SwitchedLink {
  std::string a, b;
  uint16_t vlan_a = 0, vlan_b = 0;
};

// A router's neighbour beyond the emulator: packets to `to` are sent with `label` to `via`; packets
// that arrive with the label are for `back` and are forwarded to `back_via`.
struct RoutedLink {
  uint32_t label = 0;
  wire::IpPrefix to, back;
  wire::IpAddress via, back_via;
};

struct Deflection {
  std::vector<SwitchedLink> switched;
  std::vector<RoutedLink> routed;
  std::string trunk;                      // the switch's port to which the emulator is connected
  std::string emulator_interface = "IF";  // name of the interface on the emulator
  std::string bridge;                     // name of the bridge; only for linux with VLANs
  // For linux without VLANs: the two ports to which the emulator is connected, for the only link.
  std::vector<std::string> redirect_ports;

  // Returns the ends of all switched links: a port and its VLAN.
  std::vector<std::pair<std::string, uint16_t>> Ends() const;
};

// Parses "P1,P2" [",VLAN1,VLAN2"]; VLANs that are not given get the next numbers, beginning with
// *next_vlan. Throws UsageError if the text is not valid.
SwitchedLink ParseSwitchedLink(const std::string& text, uint16_t* next_vlan);
// Parses "label=1000 to=10.2.0.0/16 via=192.0.2.2 back=10.1.0.0/16 back-via=10.1.0.1". Throws
// UsageError if the text is not valid.
RoutedLink ParseRoutedLink(const std::string& text);
// Throws UsageError if `deflection` has no links, no trunk, a VLAN that is used twice, or a part
// that this vendor does not support.
void CheckDeflection(Vendor vendor, const Deflection& deflection);

// Returns the `viaduct path` command that emulates these links.
std::string PathCommand(const Deflection& deflection);

}  // namespace viaduct::switches
