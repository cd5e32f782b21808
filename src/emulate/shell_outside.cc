#include "emulate/shell_outside.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "sys/child.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/sysctl.h"

namespace viaduct::emulate {
namespace {

constexpr int kNoSuchProgram = 127;

std::string OfInterface(const std::string& interface, const char* parameter) {
  return fmt::format("net/ipv4/conf/{}/{}", interface, parameter);
}

bool CanForward(const std::string& interface) {  // one with a tiny MTU has no IPv4
  return access(sys::SysctlPath(OfInterface(interface, "forwarding")).c_str(), F_OK) == 0;
}

bool Forwards(const std::string& interface) {
  const std::string parameter = OfInterface(interface, "forwarding");
  return sys::ReadSysctl(sys::OpenCurrentNamespace().get(), parameter) != "0";
}

void SetForwarding(const std::string& interface, bool on) {
  sys::WriteSysctl(sys::OpenCurrentNamespace().get(), OfInterface(interface, "forwarding"),
                   on ? "1" : "0");
}

bool Has(const ShellInfo& shell, const ForwardingInterface& interface) {
  return std::ranges::find(shell.forwarding, interface) != shell.forwarding.end();
}

// The other shells of its network, live and dead.
std::vector<ShellInfo> Others(const ShellInfo& shell) {
  std::vector<ShellInfo> others = ListShells();
  std::erase_if(others, [&](const ShellInfo& other) {
    return other.name == shell.name || other.network != shell.network;
  });
  return others;
}

// Those that must be made to forward, or forward only for other shells.
std::vector<ForwardingInterface> NotForwarding(const ShellInfo& shell) {
  const std::vector<ShellInfo> others = Others(shell);
  std::vector<ForwardingInterface> found;
  for (const sys::LinkInfo& link : sys::Netlink().Links()) {
    const ForwardingInterface interface { link.name, link.ifindex };
    const bool for_others =
        std::ranges::any_of(others, [&](const ShellInfo& other) { return Has(other, interface); });
    if (link.name.starts_with("vsh") || link.name == "lo" || !CanForward(link.name)) continue;
    if (for_others || !Forwards(link.name)) found.push_back(interface);
  }
  return found;
}

sys::ProgramResult RunNft(const std::string& rules) {
  return sys::RunProgram({"nft", "-f", "-"}, rules);
}

std::string WhyNot(const sys::ProgramResult& nft) {
  return nft.status == kNoSuchProgram ? "nft is missing (apt-get install nftables)" : nft.output;
}

}  // namespace

std::string ShellRules(const std::string& shell, const ShellSubnet& subnet,
                       const std::vector<ForwardingInterface>& forwarding) {
  std::string rules = fmt::format(
      "table ip {0} {{\n"
      "  chain postrouting {{\n"
      "    type nat hook postrouting priority 100;\n"
      "    ip saddr {1} oifname != \"{0}\" masquerade\n"
      "  }}\n",
      shell, subnet.prefix.ToString());
  if (subnet.name_server) {
    rules += fmt::format(
        "  chain prerouting {{\n"
        "    type nat hook prerouting priority -100;\n"
        "    iifname \"{0}\" ip daddr {1} udp dport 53 dnat to {2}\n"
        "    iifname \"{0}\" ip daddr {1} tcp dport 53 dnat to {2}\n"
        "  }}\n",
        shell, subnet.host.ToString(), *subnet.name_server);
  }
  if (!forwarding.empty()) {
    rules +=
        "  chain forward {\n"
        "    type filter hook forward priority 0;\n"
        "    oifname \"vsh*\" ct state established,related accept\n";
    for (const ForwardingInterface& each : forwarding) {
      rules += fmt::format("    iifname \"{}\" drop\n", each.interface);
    }
    rules += "  }\n";
  }
  return rules + "}\n";
}

std::string OpenOutside(const ShellSubnet& subnet, ShellInfo* shell, sys::OwnEntry* record,
                        const Turn&) {
  const UniqueFd here = sys::OpenCurrentNamespace();
  if (subnet.name_server) {
    sys::WriteSysctl(here.get(), OfInterface(shell->name, "route_localnet"), "1");
  }
  const auto forwarding = NotForwarding(*shell);
  RecordRules(shell, record);
  const sys::ProgramResult result = RunNft(ShellRules(shell->name, subnet, forwarding));
  if (result.status != 0) return "no NAT to the outside: " + WhyNot(result);
  for (const ForwardingInterface& each : forwarding) {
    RecordForwarding(each, shell, record);
    SetForwarding(each.interface, true);
  }
  SetForwarding(shell->name, true);
  return "";
}

void RemoveRules(const std::string& shell) {
  // Deleting a table that is not there would be an error.
  const auto result = RunNft(fmt::format("table ip {0}\ndelete table ip {0}\n", shell));
  if (result.status == 0 || result.status == kNoSuchProgram) return;  // none were added without it
  throw Error("its NAT rules are not removed: " + WhyNot(result));
}

void StopForwarding(const ShellInfo& shell) {
  const std::vector<ShellInfo> others = Others(shell);
  sys::Netlink here;
  for (const ForwardingInterface& each : shell.forwarding) {
    const bool needed = std::ranges::any_of(
        others, [&](const ShellInfo& other) { return other.alive && Has(other, each); });
    const auto link = here.FindLink(each.interface);
    const bool is_there = link && link->ifindex == each.ifindex;
    if (is_there && !needed && Forwards(each.interface)) SetForwarding(each.interface, false);
  }
}

}  // namespace viaduct::emulate
