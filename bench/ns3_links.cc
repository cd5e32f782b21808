// The simulation of the benchmark `clients` between two real interfaces instead of a tunnel: the
// system with which the figure `hub_vs_bare` compares the hub. Frames of host n that arrive on one
// interface pass through link n of the simulation and leave on the other interface.
//
//   ns3-links --left=b0 --right=b1 --links=10 --delay=10ms
//
// The number n is the last two bytes of a frame's source MAC address. Prints "ready", and runs
// until it is killed.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/path-helper.h"
#include "ns3_interface.h"
#include "ns3_ring_interface.h"

namespace {

using Devices = std::vector<ns3::Ptr<ns3::NetDevice>>;

ns3::NetDevice::PromiscReceiveCallback Relay(const Devices& to) {
  return [&to](ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet> packet, uint16_t protocol,
               const ns3::Address& source, const ns3::Address& destination,
               ns3::NetDevice::PacketType) {
    uint8_t mac[6];
    source.CopyTo(mac);
    const size_t number = mac[4] << 8 | mac[5];
    if (number >= 1 && number <= to.size()) {
      to[number - 1]->SendFrom(packet->Copy(), source, destination, protocol);
    }
    return true;
  };
}

void Connect(ns3::Ptr<ns3::NetDevice> device, const Devices& to) {
  device->SetReceiveCallback([](ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet>, uint16_t,
                                const ns3::Address&) { return true; });
  device->SetPromiscReceiveCallback(Relay(to));
}

}  // namespace

int main(int argc, char** argv) {
  std::string left, right, delay = "10ms";
  uint16_t links = 10;
  ns3::CommandLine command(__FILE__);
  command.AddValue("left", "interface", left);
  command.AddValue("right", "interface", right);
  command.AddValue("links", "how many", links);
  command.AddValue("delay", "of each", delay);
  command.Parse(argc, argv);

  ns3::GlobalValue::Bind("SimulatorImplementationType",
                         ns3::StringValue("ns3::ReactorSimulatorImpl"));
  Devices inner[2], outer[2];
  for (uint16_t i = 0; i < links; ++i) {
    ns3::PathHelper helper;
    for (const char* direction : {"Up", "Down"}) {
      helper.SetChannelAttribute(direction, ns3::StringValue("delay=" + delay));
    }
    const ns3::NetDeviceContainer pair = helper.Install(ns3::NodeContainer(2));
    inner[0].push_back(pair.Get(0));
    inner[1].push_back(pair.Get(1));
  }
  for (const int side : {0, 1}) {
    auto device = viaduct::bench::MakeRingDevice(side == 0 ? left : right);
    device->SetAddress(ns3::Mac48Address::Allocate());
    ns3::CreateObject<ns3::Node>()->AddDevice(device);
    outer[side].assign(links, device);
    Connect(device, inner[side]);
    for (const auto& end : inner[side]) Connect(end, outer[side]);
  }
  ns3::Simulator::ScheduleNow([] { std::cout << "ready" << std::endl; });
  viaduct::bench::RunUntilKilled();
}
