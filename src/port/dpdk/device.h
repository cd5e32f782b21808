// What the library that is linked with DPDK is asked for (dpdk/driver), by the process that loads
// it (port/dpdk/open.h). Both are of one build.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "port/port.h"

namespace viaduct::dpdk {

// The driver that works on an interface of the kernel's.
inline constexpr char kInterfaceDriver[] = "net_af_packet";

// A device to be opened.
struct Device {
  // kInterfaceDriver, with `interface`; or a device of DPDK's own (port/dpdk/open.h).
  std::string name;
  // Of the calling thread's network namespace; none: 0.
  std::string interface;
  int ifindex = 0;
  uint32_t mtu = 1500;
  // A socket of that namespace; it may keep promiscuous mode.
  UniqueFd control;
  // Frames that the driver can store between two calls of Receive(), and frames to be sent, where
  // it lets itself be told. Powers of two.
  uint32_t slots = 4096;
  bool qdisc_bypass = true;  // of net_af_packet
  // Is called with the packet socket of net_af_packet, before a frame of it is received.
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
