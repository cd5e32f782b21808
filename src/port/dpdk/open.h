// Ports by DPDK (dpdk.org).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.h"
#include "port/port.h"
#include "sys/network/features.h"

namespace viaduct::dpdk {

// Returns the reason that this installation has no DPDK; empty: it has.
std::string Unavailable();

// Whether `name` is a DPDK device: the address of a device on a bus ("0000:03:00.0"), or a virtual
// device with its arguments ("net_tap0,iface=tap1"). Else it is a kernel interface, on which DPDK's
// driver net_af_packet works.
bool IsDevice(const std::string& name);

struct Request {
  // An interface of the calling thread's namespace, or a DPDK device.
  std::string interface = "";
  std::string filter = "";   // the frames to receive, in tcpdump's syntax; empty: all
  bool qdisc_bypass = true;  // frames bypass the interface's queueing discipline
  uint32_t mtu = 1500;       // for a DPDK device only
  uint32_t slots = 4096;     // the number of frames that it can store, if the driver accepts it
  // A socket of the interface, in promiscuous mode while it is open; none: OpenPort() opens one.
  UniqueFd control = {};
  // Destroyed after the port is closed. Offloads that combine frames, or keep a part of a frame
  // outside its bytes, must be off while the port is open: on a kernel interface this object keeps
  // them off (xdp::InterfaceGuardian), unless the caller does.
  std::shared_ptr<void> keeper = nullptr;
};

// Throws EnvironmentError, with the reason, if no port can be opened on this machine or by this
// process.
void CheckUsable();

// Loads DPDK into this process, where it stays loaded. Called as root, in the process that will
// receive and send. Throws UsageError or EnvironmentError with the reason.
std::unique_ptr<io::AnyPort> OpenPort(Request request);

// Opens a port on a veth pair in a scratch namespace (`viaduct doctor`). Needs root.
sys::Feature Probe();

}  // namespace viaduct::dpdk
