// An ns-3 node with a BridgeNetDevice between two real interfaces: a program of the benchmark
// `bridge`.
//
//   ns3-bridge --device=fd   --left=b0 --right=b1    ns-3: RealtimeSimulatorImpl, FdNetDevice
//   ns3-bridge --device=ring --left=b0 --right=b1    Viaduct: ReactorSimulatorImpl, RingNetDevice
//
// Runs until it is killed.
#include <string>

#include "ns3/bridge-module.h"
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3_interface.h"
#include "ns3_ring_interface.h"

namespace {

ns3::Ptr<ns3::NetDevice> MakeDevice(const std::string& kind, const std::string& interface,
                                    const std::string& attributes) {
  if (kind == "fd") return viaduct::bench::MakeFdDevice(interface);
  const auto device = viaduct::bench::MakeRingDevice(interface);
  viaduct::bench::SetAttributes(device, attributes);
  return device;
}

}  // namespace

int main(int argc, char** argv) {
  std::string kind = "fd", left, right, attributes;
  ns3::CommandLine command(__FILE__);
  command.AddValue("device", "fd or ring", kind);
  command.AddValue("left", "interface", left);
  command.AddValue("right", "interface", right);
  command.AddValue("set", "attributes of RingNetDevice: Name=Value,Name=Value", attributes);
  command.Parse(argc, argv);
  NS_ABORT_MSG_IF(kind != "fd" && kind != "ring", "--device=" << kind << ": fd or ring");

  ns3::GlobalValue::Bind(
      "SimulatorImplementationType",
      ns3::StringValue(kind == "fd" ? "ns3::RealtimeSimulatorImpl" : "ns3::ReactorSimulatorImpl"));
  auto node = ns3::CreateObject<ns3::Node>();
  ns3::NetDeviceContainer ports;
  for (const std::string& interface : {left, right}) {
    auto device = MakeDevice(kind, interface, attributes);
    device->SetAddress(ns3::Mac48Address::Allocate());
    node->AddDevice(device);
    ports.Add(device);
  }
  ns3::BridgeHelper().Install(node, ports);
  viaduct::bench::RunUntilKilled();
}
