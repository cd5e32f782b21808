// A RingNetDevice on an interface of the network namespace in which the program runs.
#pragma once

#include <sstream>
#include <string>

#include "base/error.h"
#include "ns3/ring-net-device.h"
#include "ns3/string.h"
#include "packet_socket.h"
#include "port/packet/ring_port.h"

namespace viaduct::bench {

// Sets attributes of a device. `attributes`: "Name=Value,Name=Value". Throws UsageError for an
// attribute that the device does not have.
inline void SetAttributes(ns3::Ptr<ns3::RingNetDevice> device, const std::string& attributes) {
  std::istringstream words(attributes);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos ||
        !device->SetAttributeFailSafe(word.substr(0, equals),
                                      ns3::StringValue(word.substr(equals + 1)))) {
      throw UsageError("--set: RingNetDevice cannot have " + word);
    }
  }
}

inline ns3::Ptr<ns3::RingNetDevice> MakeRingDevice(const std::string& interface) {
  auto device = ns3::CreateObject<ns3::RingNetDevice>();
  device->SetPort(
      io::Hold(io::RingPort(OpenPacketSocket(), {.ifindex = InterfaceIndex(interface)})));
  return device;
}

}  // namespace viaduct::bench
