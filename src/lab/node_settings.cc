#include "lab/node_settings.h"

#include <algorithm>

#include "sys/network/sysctl.h"

namespace viaduct::lab {
namespace {

constexpr char kNeverMs[] = "2147483647";

void SetAllAndDefault(Sysctls* sysctls, const std::string& family, const std::string& name,
                      const std::string& value) {
  (*sysctls)["net." + family + ".conf.all." + name] = value;
  (*sysctls)["net." + family + ".conf.default." + name] = value;
}

bool HasIpv6(const std::vector<wire::IpPrefix>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [](const wire::IpPrefix& prefix) {
    return prefix.address.family == wire::Family::kIpv6;
  });
}

// Returns the sysctls that disable the kernel's automatic behaviour: redirects, router
// advertisements, duplicate address detection.
Sysctls Common(bool ipv6) {
  Sysctls sysctls;
  SetAllAndDefault(&sysctls, "ipv4", "send_redirects", "0");
  SetAllAndDefault(&sysctls, "ipv4", "accept_redirects", "0");
  sysctls[sys::kPingGroups] = sys::kEveryGroup;  // every group may send pings, as on most hosts
  SetAllAndDefault(&sysctls, "ipv6", "disable_ipv6", ipv6 ? "0" : "1");
  if (!ipv6) return sysctls;
  SetAllAndDefault(&sysctls, "ipv6", "accept_dad", "0");
  SetAllAndDefault(&sysctls, "ipv6", "accept_ra", "0");
  SetAllAndDefault(&sysctls, "ipv6", "accept_redirects", "0");
  SetAllAndDefault(&sysctls, "ipv6", "router_solicitations", "0");
  // Prevents the repetition of MLD reports of groups that an interface is in from the start (RFC
  // 3810, section 6.1): the kernel would repeat them at a random time, during the measured traffic.
  SetAllAndDefault(&sysctls, "ipv6", "mldv2_unsolicited_report_interval", kNeverMs);
  // IPv6 addresses are kept when a link goes down, like those of IPv4.
  SetAllAndDefault(&sysctls, "ipv6", "keep_addr_on_down", "1");
  return sysctls;
}

void SetForwarding(Sysctls* sysctls, bool ipv6, bool router) {
  (*sysctls)["net.ipv4.ip_forward"] = "1";
  // Early demultiplexing, the search for a local socket before the route lookup, only helps packets
  // that end at this node: forwarding is 2-3% faster without it
  // (Documentation/networking/ip-sysctl.rst says to turn it off).
  if (router) (*sysctls)["net.ipv4.ip_early_demux"] = "0";
  SetAllAndDefault(sysctls, "ipv4", "rp_filter", "0");
  if (ipv6) SetAllAndDefault(sysctls, "ipv6", "forwarding", "1");
}

// Prevents answers of the kernel on the interfaces, where the simulator answers, although the
// node's addresses are local to the kernel (on the program device). The kernel sends no ARP replies
// (arp_ignore 8). Its route to any source is through the program device, so that strict reverse
// path filtering drops every IP packet that arrives on another interface. Packet sockets receive
// the frames before that.
void SetSilent(Sysctls* sysctls) {
  SetAllAndDefault(sysctls, "ipv4", "arp_ignore", "8");
  (*sysctls)["net.ipv4.conf.all.rp_filter"] = "0";
  (*sysctls)["net.ipv4.conf.default.rp_filter"] = "1";
  (*sysctls)["net.ipv6.conf.default.disable_ipv6"] = "1";
}

}  // namespace

bool UsesIpv6(const Topology& topology) {
  return std::any_of(topology.nodes.begin(), topology.nodes.end(), [](const Node& node) {
    return HasIpv6(node.program_addresses) || HasIpv6(node.loopback) ||
           std::any_of(node.interfaces.begin(), node.interfaces.end(),
                       [](const Interface& i) { return HasIpv6(i.addresses); });
  });
}

Sysctls NodeSysctls(const fib::NodeLayout& layout, bool ipv6, bool router) {
  Sysctls sysctls = Common(ipv6);
  if (layout.kernel_forwards) {
    SetForwarding(&sysctls, ipv6, router);
  } else {
    sysctls["net.ipv4.ip_forward"] = "0";
    if (layout.addresses_on_interfaces) SetAllAndDefault(&sysctls, "ipv4", "rp_filter", "0");
  }
  if (!layout.addresses_on_interfaces) SetSilent(&sysctls);
  return sysctls;
}

Sysctls FabricSysctls() { return Common(false); }

Sysctls ProgramDeviceSysctls(const std::string& device, bool ipv6) {
  Sysctls sysctls{{"net.ipv4.conf." + device + ".rp_filter", "0"}};
  if (ipv6) sysctls["net.ipv6.conf." + device + ".disable_ipv6"] = "0";
  return sysctls;
}

}  // namespace viaduct::lab
