// The links that are redirected through the emulator (as by NetPath's VICT, Agarwal et al. 2005,
// section 2.2.6): a VLAN for each end of a link between two ports of a switch, with a trunk to the
// emulator; a static MPLS label for a router's neighbour.
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
  std::string emulator_interface = "IF";  // the emulator's name for its interface
  std::string bridge;                     // for linux with VLANs
  // For linux without VLANs: the two ports to which the emulator is connected, for the only link.
  std::vector<std::string> redirect_ports;

  // Returns the ends of all switched links: a port and its VLAN.
  std::vector<std::pair<std::string, uint16_t>> Ends() const;
};

// Parses "P1,P2" [",VLAN1,VLAN2"]; VLANs that are not given are numbered from *next_vlan on. Throws
// UsageError if the text is not valid.
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
