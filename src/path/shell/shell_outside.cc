#include "path/shell/shell_outside.h"

#include <fmt/format.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "path/shell/shell_record.h"
#include "sys/network/interface_setting.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/sysctl.h"
#include "sys/process/child.h"

namespace viaduct::path {
namespace {

constexpr int kNoSuchProgram = 127;

const char* NftFamily(wire::Family family) { return family == wire::Family::kIpv4 ? "ip" : "ip6"; }

// Returns the setting that enables forwarding of packets that arrive at one interface.
sys::InterfaceSetting ForwardingOf(const ForwardingInterface& interface) {
  return {interface.ifindex, interface.family == wire::Family::kIpv4
                                 ? "net/ipv4/conf/{}/forwarding"
                                 : "net/ipv6/conf/{}/force_forwarding"};
}

bool IsMachineRouter6() {
  return sys::ReadSysctl(sys::OpenCurrentNamespace().get(), "net/ipv6/conf/all/forwarding") != "0";
}

bool Forwards(const ForwardingInterface& interface) {
  return (interface.family == wire::Family::kIpv6 && IsMachineRouter6()) ||
         ForwardingOf(interface).IsOn();
}

bool Has(const ShellInfo& shell, const ForwardingInterface& interface) {
  return std::ranges::find(shell.forwarding, interface) != shell.forwarding.end();
}

// Returns all other shells, live and dead, of the network in which `shell` was started.
std::vector<ShellInfo> Others(const ShellInfo& shell) {
  std::vector<ShellInfo> others = ListShells();
  std::erase_if(others, [&](const ShellInfo& other) {
    return other.name == shell.name || other.network != shell.network;
  });
  return others;
}

// Returns the interfaces that do not forward yet, or that forward only for other shells.
std::vector<ForwardingInterface> NotForwarding(const ShellInfo& shell, wire::Family family) {
  const std::vector<ShellInfo> others = Others(shell);
  std::vector<ForwardingInterface> found;
  for (const sys::LinkInfo& link : sys::Netlink().Links()) {
    const ForwardingInterface interface { link.ifindex, family };
    const bool for_others =
        std::ranges::any_of(others, [&](const ShellInfo& other) { return Has(other, interface); });
    if (link.name.starts_with("vsh") || link.name == "lo") continue;
    // If the setting is missing, the interface's MTU is too small for the address family.
    if (!ForwardingOf(interface).IsThere()) continue;
    if (for_others || !Forwards(interface)) found.push_back(interface);
  }
  return found;
}

sys::ProgramResult RunNft(const std::string& rules) {
  return sys::RunProgram({"nft", "-f", "-"}, rules);
}

std::string NftErrorOf(const sys::ProgramResult& nft) {
  return nft.status == kNoSuchProgram ? "nft is missing (apt-get install nftables)" : nft.output;
}

// Returns the indices of interfaces as elements of an nft set, padded with zeros to IFNAMSIZ
// digits: nft would treat a number as the name of an interface if an interface had that name, and
// no name is that long.
std::string Elements(const std::vector<ForwardingInterface>& interfaces) {
  std::string indices;
  for (const ForwardingInterface& each : interfaces) {
    indices += fmt::format("{}\"{:0{}}\"", indices.empty() ? "" : ", ", each.ifindex, IFNAMSIZ);
  }
  return indices;
}

void Forward(const std::vector<ForwardingInterface>& interfaces, ShellInfo* shell,
             sys::OwnEntry* record) {
  for (const ForwardingInterface& each : interfaces) {
    RecordForwarding(each, shell, record);
    ForwardingOf(each).Set(true);
  }
}

// Enables forwarding on new interfaces: those that do not forward and are not yet recorded for the
// shell.
void ForwardFromNew(wire::Family family, ShellInfo* shell, sys::OwnEntry* record) {
  std::vector<ForwardingInterface> interfaces = NotForwarding(*shell, family);
  std::erase_if(interfaces, [&](const ForwardingInterface& each) { return Has(*shell, each); });
  if (interfaces.empty()) return;
  const sys::ProgramResult nft = RunNft(fmt::format(
      "add element {} {} closed {{ {} }}\n", NftFamily(family), shell->name, Elements(interfaces)));
  if (nft.status != 0) throw Error(NftErrorOf(nft));
  Forward(interfaces, shell, record);
}

}  // namespace

std::string Ipv6Unavailable() {
  const std::string single = sys::SysctlPath("net/ipv6/conf/all/force_forwarding");
  if (access(single.c_str(), F_OK) == 0 || IsMachineRouter6()) return "";
  return "this kernel cannot forward IPv6 on individual interfaces (force_forwarding, which "
         "requires Linux 6.17)";
}

std::string ShellRules(const std::string& shell, const ShellSubnet& subnet,
                       const std::vector<ForwardingInterface>& forwarding) {
  const std::string closed = Elements(forwarding);
  std::string rules = fmt::format(
      "table {2} {0} {{\n"
      "  set closed {{\n"
      "    type iface_index\n"
      "{3}"
      "  }}\n"
      "  chain postrouting {{\n"
      "    type nat hook postrouting priority 100;\n"
      "    {2} saddr {1} oifname != \"{0}\" masquerade\n"
      "  }}\n"
      "  chain forward {{\n"
      "    type filter hook forward priority 0;\n"
      "    oifname \"vsh*\" ct state established,related accept\n"
      "    iif @closed drop\n"
      "  }}\n",
      shell, subnet.prefix.ToString(), NftFamily(subnet.prefix.address.family),
      closed.empty() ? "" : fmt::format("    elements = {{ {} }}\n", closed));
  if (subnet.name_server) {
    rules += fmt::format(
        "  chain prerouting {{\n"
        "    type nat hook prerouting priority -100;\n"
        "    iifname \"{0}\" ip daddr {1} udp dport 53 dnat to {2}\n"
        "    iifname \"{0}\" ip daddr {1} tcp dport 53 dnat to {2}\n"
        "  }}\n",
        shell, subnet.host.ToString(), *subnet.name_server);
  }
  return rules + "}\n";
}

std::string OpenOutside(const ShellSubnet& subnet, ShellInfo* shell, sys::OwnEntry* record,
                        const sys::MachineLock&) {
  const wire::Family family = subnet.prefix.address.family;
  if (subnet.name_server) {
    sys::WriteSysctl(sys::OpenCurrentNamespace().get(),
                     fmt::format("net/ipv4/conf/{}/route_localnet", shell->name), "1");
  }
  const auto forwarding = NotForwarding(*shell, family);
  RecordRules(family, shell, record);
  const sys::ProgramResult result = RunNft(ShellRules(shell->name, subnet, forwarding));
  if (result.status != 0) return "no NAT to the outside network: " + NftErrorOf(result);
  Forward(forwarding, shell, record);
  const ForwardingInterface own{sys::Netlink().IfIndex(shell->name), family};
  if (!Forwards(own)) ForwardingOf(own).Set(true);
  return "";
}

void FollowInterfaces(ShellInfo* shell, sys::OwnEntry* record, const sys::MachineLock&) {
  for (const wire::Family family : shell->rules) ForwardFromNew(family, shell, record);
}

void RemoveRules(const std::string& shell, wire::Family family) {
  // The first line creates the table if it does not exist, because deleting a missing table would
  // be an error.
  const auto result =
      RunNft(fmt::format("table {1} {0}\ndelete table {1} {0}\n", shell, NftFamily(family)));
  if (result.status == 0 || result.status == kNoSuchProgram) return;  // no rules exist without nft
  throw Error("failed to remove the NAT rules: " + NftErrorOf(result));
}

void StopForwarding(const ShellInfo& shell) {
  const std::vector<ShellInfo> others = Others(shell);
  for (const ForwardingInterface& each : shell.forwarding) {
    const bool needed = std::ranges::any_of(
        others, [&](const ShellInfo& other) { return other.alive && Has(other, each); });
    if (!needed && ForwardingOf(each).IsOn()) ForwardingOf(each).Set(false);
  }
}

}  // namespace viaduct::path
