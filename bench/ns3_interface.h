// Common code of those ns-3 programs of the benchmarks that use real interfaces.
#pragma once

#include <string>

#include "ns3/core-module.h"
#include "ns3/fd-net-device.h"
#include "ns3/node.h"
#include "packet_socket.h"

namespace viaduct::bench {

// Creates an FdNetDevice on an interface of the network namespace in which the program runs.
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
