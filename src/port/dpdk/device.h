// The interface between the library that is linked with DPDK (dpdk/driver) and the process that
// loads it (port/dpdk/open.h). Both belong to one build.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "port/port.h"

namespace viaduct::dpdk {

// The driver that works on a kernel interface.
inline constexpr char kInterfaceDriver[] = "net_af_packet";

// The description of a device to open.
struct Device {
  // kInterfaceDriver, with `interface`; or a DPDK device (port/dpdk/open.h).
  std::string name;
  // The interface in the calling thread's network namespace; no interface: ifindex 0.
  std::string interface;
  int ifindex = 0;
  uint32_t mtu = 1500;
  // A socket of that namespace; it may keep promiscuous mode.
  UniqueFd control;
  // The number of frames that the driver can store between two calls of Receive(), and the number
  // to be sent, if the driver accepts it. Powers of two.
  uint32_t slots = 4096;
  bool qdisc_bypass = true;  // for net_af_packet only
  // Called with the packet socket of net_af_packet, before a frame is received from it.
  std::function<void(int)> prepare = [](int) {};
  std::shared_ptr<void> keeper;  // destroyed after the device is closed
};

// The library's file, and its only functions.
inline constexpr char kLibrary[] = "libviaduct-dpdk.so";
inline constexpr char kOpenFunction[] = "ViaductOpenDpdkDevice";
// Throws Error.
using OpenFunction = std::unique_ptr<io::AnyPort>(Device device);
inline constexpr char kVersionFunction[] = "ViaductDpdkVersion";
using VersionFunction = std::string();  // "DPDK 22.11.11"

}  // namespace viaduct::dpdk
