// Routers in a line, all in ns-3, between two real interfaces: the traditional emulation of the
// benchmarks `olsr` and `multinode`, written as an ns-3 user would write it and without code of
// Viaduct's emulation: RealtimeSimulatorImpl, FdNetDevice at both ends, simulated channels between
// the routers.
//
//   ns3-line --nodes=4 --left=r0 --right=r1
//
// The first router has the address 10.1.0.254/24 on the left interface, the last router
// 10.2.0.254/24 on the right interface. Runs until it is killed.
#include <string>

#include "ns3/core-module.h"
#include "ns3/csma-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/olsr-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3_interface.h"
#include "sys/network/link.h"

namespace {

struct Options {
  uint32_t nodes = 1;
  std::string left, right;
  std::string channel = "csma";
  std::string routing = "olsr";
  bool queue_discipline = false;
};

Options Parse(int argc, char** argv) {
  Options options;
  ns3::CommandLine command(__FILE__);
  command.AddValue("nodes", "routers", options.nodes);
  command.AddValue("left", "real interface of the first router", options.left);
  command.AddValue("right", "real interface of the last router", options.right);
  command.AddValue("channel", "between routers: csma or p2p, 1 Gbit/s, no delay", options.channel);
  command.AddValue("routing", "olsr or static", options.routing);
  command.AddValue("queueDiscipline", "leave ns-3's default FqCoDel on the routers' links",
                   options.queue_discipline);
  command.Parse(argc, argv);
  NS_ABORT_MSG_IF(options.channel != "p2p" && options.channel != "csma", "--channel: p2p or csma");
  NS_ABORT_MSG_IF(options.routing != "olsr" && options.routing != "static",
                  "--routing: olsr or static");
  return options;
}

void InstallStacks(const ns3::NodeContainer& nodes, const Options& options) {
  ns3::InternetStackHelper stack;
  // OLSR has no routes to connected networks; static routing, which has a lower priority, does.
  ns3::Ipv4ListRoutingHelper list;
  list.Add(ns3::Ipv4StaticRoutingHelper(), 0);
  list.Add(ns3::OlsrHelper(), 10);
  if (options.routing == "olsr") stack.SetRoutingHelper(list);
  stack.Install(nodes);
}

// Adds a router's device on a real interface. The device has the MAC address of the kernel's
// interface, so that the interface need not be promiscuous.
void AttachInterface(ns3::Ptr<ns3::Node> node, const std::string& interface,
                     ns3::Ipv4Address address) {
  auto device = viaduct::bench::MakeFdDevice(interface);
  const std::string mac = viaduct::sys::Netlink().GetLink(interface).mac.ToString();
  device->SetAddress(ns3::Mac48Address(mac.c_str()));
  device->SetIsMulticast(true);
  node->AddDevice(device);
  auto ipv4 = node->GetObject<ns3::Ipv4>();
  const uint32_t index = ipv4->AddInterface(device);
  ipv4->AddAddress(index, ns3::Ipv4InterfaceAddress(address, ns3::Ipv4Mask("/24")));
  ipv4->SetUp(index);
}

ns3::NetDeviceContainer Join(ns3::Ptr<ns3::Node> a, ns3::Ptr<ns3::Node> b,
                             const std::string& channel) {
  if (channel == "csma") {
    ns3::CsmaHelper csma;
    csma.SetChannelAttribute("DataRate", ns3::StringValue("1Gbps"));
    return csma.Install(ns3::NodeContainer(a, b));
  }
  ns3::PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", ns3::StringValue("1Gbps"));
  return link.Install(a, b);
}

void JoinRouters(const ns3::NodeContainer& nodes, const Options& options) {
  ns3::Ipv4AddressHelper addresses("10.3.0.0", "255.255.255.252");
  for (uint32_t i = 0; i + 1 < nodes.GetN(); ++i) {
    const auto devices = Join(nodes.Get(i), nodes.Get(i + 1), options.channel);
    addresses.Assign(devices);
    addresses.NewNetwork();
    if (!options.queue_discipline) ns3::TrafficControlHelper().Uninstall(devices);
  }
}

// The networks of the two hosts, which do not run OLSR, are announced by the hosts' routers (RFC
// 3626, 12).
void AnnounceHosts(const ns3::NodeContainer& nodes) {
  const ns3::Ipv4Mask mask("/24");
  ns3::Ipv4RoutingHelper::GetRouting<ns3::olsr::RoutingProtocol>(
      nodes.Get(0)->GetObject<ns3::Ipv4>()->GetRoutingProtocol())
      ->AddHostNetworkAssociation(ns3::Ipv4Address("10.1.0.0"), mask);
  ns3::Ipv4RoutingHelper::GetRouting<ns3::olsr::RoutingProtocol>(
      nodes.Get(nodes.GetN() - 1)->GetObject<ns3::Ipv4>()->GetRoutingProtocol())
      ->AddHostNetworkAssociation(ns3::Ipv4Address("10.2.0.0"), mask);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  ns3::GlobalValue::Bind("SimulatorImplementationType",
                         ns3::StringValue("ns3::RealtimeSimulatorImpl"));
  ns3::GlobalValue::Bind("ChecksumEnabled", ns3::BooleanValue(true));
  ns3::NodeContainer nodes(options.nodes);
  InstallStacks(nodes, options);
  AttachInterface(nodes.Get(0), options.left, ns3::Ipv4Address("10.1.0.254"));
  AttachInterface(nodes.Get(options.nodes - 1), options.right, ns3::Ipv4Address("10.2.0.254"));
  JoinRouters(nodes, options);
  if (options.routing == "olsr") {
    AnnounceHosts(nodes);
  } else {
    ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  }
  viaduct::bench::RunUntilKilled();
}
