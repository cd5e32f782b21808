#include "lab/upcalls.h"

#include <algorithm>
#include <limits>

#include "lab/node_settings.h"
#include "sys/network/sysctl.h"
#include "sys/network/tun.h"
#include "sys/network/upcall.h"

namespace viaduct::lab {
namespace {

// Shorter than the lifetimes that protocols give to routes in use (AODV: 3 s), several times, so
// that a route that is used does not expire.
constexpr Duration kCopyInterval = Duration::Milliseconds(250);
constexpr uint32_t kLastResort = std::numeric_limits<uint32_t>::max();  // the route's metric
constexpr uint32_t kUpcallQueue = 10000;  // packets; the simulator may be busy
// What may wait for a held neighbour: a millisecond and more at the speed of veth pairs.
constexpr const char* kHeldBytes = "16777216";

void Disconnect(sys::Netlink& netlink, int ifindex) {
  for (const wire::IpPrefix& address : netlink.Addresses(ifindex)) {
    if (address.address.family != wire::Family::kIpv4) continue;
    netlink.RemoveAddress(ifindex, address);
    netlink.AddAddress(ifindex, address, false);
  }
}

}  // namespace

UniqueFd OpenUpcalls(Lab& lab, const std::string& node) {
  const int space = lab.NamespaceFd(node);
  sys::Netlink& netlink = lab.NetlinkOf(node);
  UniqueFd device = sys::OpenTun(space, kUpcallDevice);
  const std::string name = kUpcallDevice;
  Sysctls sysctls{{"net.ipv6.conf." + name + ".disable_ipv6", "1"}};
  const int tun = netlink.IfIndex(name);
  int mtu = 65535;
  std::vector<int> ifindexes;
  for (const Interface& interface : lab.GetNode(node).interfaces) {
    mtu = std::min(mtu, interface.mtu);  // what goes up fits every interface
    ifindexes.push_back(lab.IfIndex({node, interface.name}));
    sysctls["net.ipv4.neigh." + interface.name + ".unres_qlen_bytes"] = kHeldBytes;
  }
  sys::WriteSysctls(space, sysctls, true);
  netlink.SetMtu(tun, mtu);
  netlink.SetQueueLength(tun, kUpcallQueue);
  netlink.SetUp(tun, true);
  netlink.AwaitRunning(name, Duration::Seconds(2));
  sys::MarkUpcalls(space, tun);
  sys::CopyFlows(space, ifindexes, tun, kCopyInterval);
  for (const int ifindex : ifindexes) Disconnect(netlink, ifindex);
  netlink.AddRoute({}, std::nullopt, tun, kLastResort);
  return device;
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
