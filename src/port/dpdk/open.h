// Ports by DPDK (dpdk.org).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.h"
#include "port/port.h"
#include "sys/network/features.h"

namespace viaduct::dpdk {

// Returns the reason that this installation has no DPDK; empty if it has DPDK.
std::string Unavailable();

// Whether `name` is a DPDK device: the address of a device on a bus ("0000:03:00.0"), or a virtual
// device with its arguments ("net_tap0,iface=tap1"). Any other name is a kernel interface, on which
// DPDK's driver net_af_packet works.
bool IsDevice(const std::string& name);

struct Request {
  // The name of an interface of the calling thread's network namespace, or of a DPDK device.
  std::string interface = "";
  std::string filter = "";   // frames to receive, in tcpdump's syntax; empty: all
  bool qdisc_bypass = true;  // frames bypass the interface's queueing discipline
  uint32_t mtu = 1500;       // for a DPDK device only
  uint32_t slots = 4096;     // number of frames that the driver stores, if it accepts the number
  // A socket of the interface, which keeps the interface in promiscuous mode; if it is empty,
  // OpenPort() opens one.
  UniqueFd control = {};
  // An object that is destroyed after the port is closed. While a port on a kernel interface is
  // open, offloads that combine frames, or keep a part of a frame outside its bytes, must be off:
  // this object keeps them off (xdp::InterfaceGuardian), unless the caller does.
  std::shared_ptr<void> keeper = nullptr;
};

// Throws EnvironmentError with the reason if no DPDK port can be opened on this machine or by this
// process.
void CheckUsable();

// Opens a port, and loads DPDK into this process, where it stays loaded. Must be called as root, in
// the process that receives and sends. Throws UsageError or EnvironmentError with the reason.
std::unique_ptr<io::AnyPort> OpenPort(Request request);

// Tests whether a port on a veth pair in a scratch namespace works (`viaduct doctor`). Needs root.
sys::Feature Probe();

}  // namespace viaduct::dpdk
