// A point-to-point link of ns-3 between two real interfaces: a system with which the benchmark
// `path` compares the path emulator. A frame that arrives on one RingNetDevice passes through a
// PointToPointChannel with a delay and leaves on the other RingNetDevice with new MAC addresses,
// because PPP frames have none.
//
//   ns3-path --left=b0 --right=b1 --delay=10ms
//
// Runs until it is killed.
#include <string>

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3_interface.h"
#include "ns3_ring_interface.h"

namespace {

ns3::Ptr<ns3::NetDevice> AttachInterface(ns3::Ptr<ns3::Node> node, const std::string& interface) {
  auto device = viaduct::bench::MakeRingDevice(interface);
  device->SetAddress(ns3::Mac48Address::Allocate());
  node->AddDevice(device);
  return device;
}

// Sends every packet that one device of a node receives through the node's other device.
void Relay(ns3::Ptr<ns3::Node> node, ns3::Ptr<ns3::NetDevice> from, ns3::Ptr<ns3::NetDevice> to) {
  node->RegisterProtocolHandler(
      ns3::Callback<void, ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet>, uint16_t,
                    const ns3::Address&, const ns3::Address&, ns3::NetDevice::PacketType>(
          [to](ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet> packet, uint16_t protocol,
               const ns3::Address&, const ns3::Address&, ns3::NetDevice::PacketType) {
            // Packets of other protocols are dropped, as PPP cannot carry them (RFC 1661); the
            // benchmark sends none.
            if (protocol == 0x0800) to->Send(packet->Copy(), to->GetBroadcast(), protocol);
          }),
      0, from, true);
}

}  // namespace

int main(int argc, char** argv) {
  std::string left, right, delay = "10ms";
  ns3::CommandLine command(__FILE__);
  command.AddValue("left", "interface", left);
  command.AddValue("right", "interface", right);
  command.AddValue("delay", "of the link", delay);
  command.Parse(argc, argv);

  ns3::GlobalValue::Bind("SimulatorImplementationType",
                         ns3::StringValue("ns3::ReactorSimulatorImpl"));
  ns3::NodeContainer nodes(2);
  ns3::PointToPointHelper link;
  link.SetDeviceAttribute("DataRate", ns3::StringValue("10Gbps"));
  link.SetChannelAttribute("Delay", ns3::StringValue(delay));
  link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue("100000p"));
  const ns3::NetDeviceContainer inner = link.Install(nodes);
  for (uint32_t i = 0; i < 2; ++i) {
    const auto outer = AttachInterface(nodes.Get(i), i == 0 ? left : right);
    Relay(nodes.Get(i), outer, inner.Get(i));
    Relay(nodes.Get(i), inner.Get(i), outer);
  }
  viaduct::bench::RunUntilKilled();
}
