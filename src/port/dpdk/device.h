// The interface between the library that is linked with DPDK (dpdk/driver) and the process that
// loads the library (port/dpdk/open.h). Library and process must be of the same build.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "port/port.h"

namespace viaduct::dpdk {

// The DPDK driver for kernel interfaces.
inline constexpr char kInterfaceDriver[] = "net_af_packet";

// The description of a device to open.
struct Device {
  // The name: kInterfaceDriver for the kernel interface `interface`, or the name of a DPDK device
  // (port/dpdk/open.h).
  std::string name;
  // The kernel interface in the calling thread's network namespace; for a DPDK device `ifindex` is
  // 0.
  std::string interface;
  int ifindex = 0;
  uint32_t mtu = 1500;
  // A socket of the interface's network namespace; it may keep the interface in promiscuous mode.
  UniqueFd control;
  // The number of frames that the driver can store between two calls of Receive(), and also the
  // number of frames that it can store for sending. A driver that does not accept the number uses
  // another number. Must be a power of two.
  uint32_t slots = 4096;
  bool qdisc_bypass = true;  // only for net_af_packet
  // A function that is called with the packet socket of net_af_packet before the first frame is
  // received from the socket.
  std::function<void(int)> prepare = [](int) {};
  std::shared_ptr<void> keeper;  // destroyed after the device is closed
};

// The file name of the library, and the names and types of its only functions.
inline constexpr char kLibrary[] = "libviaduct-dpdk.so";
inline constexpr char kOpenFunction[] = "ViaductOpenDpdkDevice";
// Opens a port on a device. Throws Error.
using OpenFunction = std::unique_ptr<io::AnyPort>(Device device);
inline constexpr char kVersionFunction[] = "ViaductDpdkVersion";
using VersionFunction = std::string();  // returns, for example, "DPDK 22.11.11"

}  // namespace viaduct::dpdk
