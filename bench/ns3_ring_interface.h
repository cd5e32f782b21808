// Our device of ns-3 on an interface of the network namespace the program runs in.
#pragma once

#include <string>

#include "io/ring_port.h"
#include "ns3/ring-net-device.h"
#include "packet_socket.h"

namespace viaduct::bench {

inline ns3::Ptr<ns3::RingNetDevice> MakeRingDevice(const std::string& interface) {
  auto device = ns3::CreateObject<ns3::RingNetDevice>();
  device->SetPort(
      io::Hold(io::RingPort(OpenPacketSocket(), {.ifindex = InterfaceIndex(interface)})));
  return device;
}

}  // namespace viaduct::bench
