#include "host_network.h"

#include "base/wire/address.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/sysctl.h"

namespace viaduct::bench {
namespace {

constexpr uint32_t kSenders = 10U << 24;
constexpr uint32_t kReceivers = 10U << 24 | 100U << 16;
constexpr uint32_t kBottleneck = 10U << 24 | 200U << 16;

struct Router {
  UniqueFd name_space;
  sys::Netlink netlink;
};

wire::IpPrefix Prefix(uint32_t address, int length) {
  return {wire::IpAddress::FromIpv4(address), length};
}

// Configures an interface like a virtio device of a guest, without checksum and segmentation
// offload.
int Configure(sys::Netlink& netlink, int name_space, const std::string& interface,
              uint32_t address) {
  sys::DisableOffloads(name_space, interface, sys::Offloads::kAll);
  const int ifindex = netlink.IfIndex(interface);
  netlink.AddAddress(ifindex, Prefix(address, 30));
  netlink.SetUp(ifindex, true);
  return ifindex;
}

UniqueFd MakeHost(Router& router, uint32_t network, uint32_t flow, uint32_t far,
                  const std::map<std::string, std::string>& sysctls) {
  UniqueFd host = sys::CreateNamelessNamespace();
  sys::WriteSysctls(host.get(), sysctls);
  const std::string port = "h" + std::to_string(flow);
  sys::Netlink netlink(host.get());
  netlink.CreateVethPair({.name = "eth0", .mac = {}},
                         {.namespace_fd = router.name_space.get(), .name = port, .mac = {}});
  const uint32_t link = network | flow << 2;
  const int ifindex = Configure(netlink, host.get(), "eth0", link | 1);
  Configure(router.netlink, router.name_space.get(), port, link | 2);
  netlink.AddRoute(Prefix(far, 16), wire::IpAddress::FromIpv4(link | 2), ifindex);
  return host;
}

// Creates a router whose route to its peer leads through the interface `hub_port` of the calling
// thread's namespace.
Router MakeRouter(const std::string& hub_port, uint32_t address, uint32_t other) {
  UniqueFd name_space = sys::CreateNamelessNamespace();
  sys::WriteSysctls(name_space.get(), {{"net.ipv4.ip_forward", "1"}});
  Router router{std::move(name_space), {}};
  router.netlink = sys::Netlink(router.name_space.get());
  sys::Netlink hub;
  hub.CreateVethPair({.name = hub_port, .mac = {}},
                     {.namespace_fd = router.name_space.get(), .name = "wan", .mac = {}});
  hub.SetUp(hub.IfIndex(hub_port), true);
  const int ifindex = Configure(router.netlink, router.name_space.get(), "wan", address);
  router.netlink.AddRoute(Prefix(10U << 24, 8), wire::IpAddress::FromIpv4(other), ifindex);
  return router;
}

}  // namespace

uint32_t HostReceiverAddress(uint32_t flow) { return kReceivers | flow << 2 | 1; }

std::vector<HostDumbbell> BuildHostDumbbells(const HostNetworkOptions& options) {
  std::vector<HostDumbbell> dumbbells(options.dumbbells);
  for (uint32_t i = 0; i < options.dumbbells; ++i) {
    Router left = MakeRouter("l" + std::to_string(i), kBottleneck | 1, kBottleneck | 2);
    Router right = MakeRouter("r" + std::to_string(i), kBottleneck | 2, kBottleneck | 1);
    for (uint32_t flow = 0; flow < options.flows; ++flow) {
      dumbbells[i].senders.push_back(MakeHost(left, kSenders, flow, kReceivers, options.sysctls));
      dumbbells[i].receivers.push_back(
          MakeHost(right, kReceivers, flow, kSenders, options.sysctls));
    }
    dumbbells[i].routers.push_back(std::move(left.name_space));
    dumbbells[i].routers.push_back(std::move(right.name_space));
  }
  return dumbbells;
}

}  // namespace viaduct::bench
