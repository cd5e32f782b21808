// An ns-3 node with a BridgeNetDevice between two real interfaces: the benchmark `bridge`.
//
//   ns3-bridge --device=fd   --left=b0 --right=b1    ns-3's own: RealtimeSimulatorImpl, FdNetDevice
//   ns3-bridge --device=ring --left=b0 --right=b1    ours: ReactorSimulatorImpl, RingNetDevice
//
// Runs until it is killed.
#include <string>

#include "io/ring_port.h"
#include "ns3/bridge-module.h"
#include "ns3/core-module.h"
#include "ns3/fd-net-device-module.h"
#include "ns3/network-module.h"
#include "ns3/ring-net-device.h"
#include "packet_socket.h"

namespace {

using viaduct::bench::InterfaceIndex;
using viaduct::bench::OpenBoundPacketSocket;
using viaduct::bench::OpenPacketSocket;

ns3::Ptr<ns3::NetDevice> MakeFdDevice(const std::string& interface) {
  auto device = ns3::CreateObject<ns3::FdNetDevice>();
  device->SetFileDescriptor(OpenBoundPacketSocket(interface).release());
  return device;
}

ns3::Ptr<ns3::NetDevice> MakeRingDevice(const std::string& interface) {
  auto device = ns3::CreateObject<ns3::RingNetDevice>();
  device->SetPort(viaduct::io::Hold(
      viaduct::io::RingPort(OpenPacketSocket(), {.ifindex = InterfaceIndex(interface)})));
  return device;
}

}  // namespace

int main(int argc, char** argv) {
  std::string kind = "fd", left, right;
  ns3::CommandLine command(__FILE__);
  command.AddValue("device", "fd or ring", kind);
  command.AddValue("left", "interface", left);
  command.AddValue("right", "interface", right);
  command.Parse(argc, argv);
  NS_ABORT_MSG_IF(kind != "fd" && kind != "ring", "--device=" << kind << ": fd or ring");

  ns3::GlobalValue::Bind(
      "SimulatorImplementationType",
      ns3::StringValue(kind == "fd" ? "ns3::RealtimeSimulatorImpl" : "ns3::ReactorSimulatorImpl"));
  auto node = ns3::CreateObject<ns3::Node>();
  ns3::NetDeviceContainer ports;
  for (const std::string& interface : {left, right}) {
    auto device = kind == "fd" ? MakeFdDevice(interface) : MakeRingDevice(interface);
    device->SetAddress(ns3::Mac48Address::Allocate());
    node->AddDevice(device);
    ports.Add(device);
  }
  ns3::BridgeHelper().Install(node, ports);
  ns3::Simulator::Stop(ns3::Hours(24));
  ns3::Simulator::Run();
  ns3::Simulator::Destroy();
}
