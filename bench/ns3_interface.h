// Common code of the benchmarks' ns-3 programs on real interfaces.
#pragma once

#include <string>

#include "ns3/core-module.h"
#include "ns3/fd-net-device.h"
#include "ns3/node.h"
#include "packet_socket.h"

namespace viaduct::bench {

// ns-3's own device on an interface of the network namespace the program runs in.
inline ns3::Ptr<ns3::FdNetDevice> MakeFdDevice(const std::string& interface) {
  auto device = ns3::CreateObject<ns3::FdNetDevice>();
  device->SetFileDescriptor(OpenBoundPacketSocket(interface).release());
  return device;
}

inline void RunUntilKilled() {
  ns3::Simulator::Stop(ns3::Hours(24));
  ns3::Simulator::Run();
  ns3::Simulator::Destroy();
}

}  // namespace viaduct::bench
