#include "lab/upcalls.h"

#include <fmt/format.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/wire/address_scope.h"
#include "lab/node_settings.h"
#include "plane/bpf/upcall_program.h"
#include "sys/network/route_request.h"
#include "sys/network/sysctl.h"
#include "sys/network/tun.h"

namespace viaduct::lab {
namespace {

// The interval at which packets of a flow are copied to the simulator: several times shorter than
// the lifetimes that protocols give to routes in use (AODV: 3 s), so that a route that is used does
// not expire.
constexpr Duration kCopyInterval = Duration::Milliseconds(250);
// The metric of the default route to the TUN device, which is a last resort.
constexpr uint32_t kLastResort = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kUpcallQueue = 10000;  // packets that wait while the simulator is busy
// The queue limit of a held neighbour, in bytes: the packets of at least a millisecond at the speed
// of veth pairs.
constexpr const char* kHeldBytes = "16777216";

void Disconnect(sys::Netlink& netlink, int ifindex, const std::set<wire::Family>& families) {
  for (const wire::IpPrefix& address : netlink.Addresses(ifindex)) {
    const bool is_on_demand = families.contains(address.address.family);
    if (!is_on_demand || wire::IsLinkLocal(address.address)) continue;
    netlink.RemoveAddress(ifindex, address);
    netlink.AddAddress(ifindex, address, false);
  }
}

// Enables or disables IPv6 on the TUN device. The device has no address, so that the kernel itself
// has nothing to send through it.
void SetIpv6(Sysctls& sysctls, const std::string& device, bool is_on) {
  const std::string prefix = "net.ipv6.conf." + device + ".";
  sysctls[prefix + "disable_ipv6"] = is_on ? "0" : "1";
  if (!is_on) return;
  sysctls[prefix + "addr_gen_mode"] = "1";  // IN6_ADDR_GEN_MODE_NONE of linux/if_link.h
  sysctls[prefix + "accept_ra"] = "0";
  sysctls[prefix + "router_solicitations"] = "0";
}

// Removes the device's route to all IPv6 multicast groups: the kernel would send packets for any
// group through the device.
void LeaveGroups(sys::Netlink& netlink, int ifindex) {
  auto message = sys::RouteRequest(sys::RouteAction::kDelete,
                                   {.destination = wire::IpPrefix::Parse("ff00::/8"),
                                    .hops = {{.ifindex = ifindex}},
                                    .table = RT_TABLE_LOCAL,
                                    .protocol = RTPROT_KERNEL});
  const int error = netlink.socket().TryRequest(message);
  if (error != 0 && error != ESRCH)
    throw SystemError("remove the route to IPv6 multicast groups", error);
}

}  // namespace

Upcalls OpenUpcalls(Lab& lab, const std::string& node, const std::set<wire::Family>& families) {
  const int space = lab.NamespaceFd(node);
  sys::Netlink& netlink = lab.NetlinkOf(node);
  UniqueFd device = sys::OpenTun(space, kUpcallDevice);
  const std::string name = kUpcallDevice;
  const bool ipv6 = families.contains(wire::Family::kIpv6);
  Sysctls sysctls;
  SetIpv6(sysctls, name, ipv6);
  const int tun = netlink.IfIndex(name);
  int mtu = 65535;
  std::vector<int> ifindexes;
  for (const Interface& interface : lab.GetNode(node).interfaces) {
    // So that packets that the simulator gets fit every interface.
    mtu = std::min(mtu, interface.mtu);
    ifindexes.push_back(lab.IfIndex({node, interface.name}));
    for (const char* family : {"ipv4", "ipv6"}) {
      sysctls[fmt::format("net.{}.neigh.{}.unres_qlen_bytes", family, interface.name)] = kHeldBytes;
    }
  }
  sys::WriteSysctls(space, sysctls, true);
  netlink.SetMtu(tun, mtu);
  netlink.SetQueueLength(tun, kUpcallQueue);
  auto programs = bpf::AttachUpcalls(space, {tun, ifindexes, families, kCopyInterval});
  netlink.SetUp(tun, true);  // after the programs are attached, so that every packet has an origin
  netlink.AwaitRunning(name, Duration::Seconds(2));
  if (ipv6) LeaveGroups(netlink, tun);
  for (const int ifindex : ifindexes) Disconnect(netlink, ifindex, families);
  for (const wire::Family family : families) {
    netlink.AddRoute({{family, {}}, 0}, std::nullopt, tun, kLastResort);
  }
  return {std::move(device), tun, std::move(programs)};
}

void HoldNeighbours(Lab& lab, const std::string& node, const std::vector<Neighbour>& neighbours) {
  for (const auto& [interface, address, mac] : neighbours) {
    lab.NetlinkOf(node).HoldNeighbour(lab.IfIndex({node, interface}), address);
  }
}

void ReleaseNeighbours(Lab& lab, const std::string& node,
                       const std::vector<Neighbour>& neighbours) {
  for (const auto& [interface, address, mac] : neighbours) {
    lab.NetlinkOf(node).ReleaseNeighbour(lab.IfIndex({node, interface}), address, mac);
  }
}

}  // namespace viaduct::lab
