// Ports by DPDK (dpdk.org).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.h"
#include "port/port.h"
#include "sys/network/features.h"

namespace viaduct::dpdk {

// Why this installation has none; empty: it has.
std::string WhyNotBuilt();

// Whether this is a device of DPDK's own: the address of one on a bus ("0000:03:00.0"), or a
// virtual one with its arguments ("net_tap0,iface=tap1"). Else it is a network interface of the
// kernel's, on which DPDK's driver net_af_packet works.
bool IsDevice(const std::string& name);

struct Request {
  // Of the calling thread's namespace; or a device of DPDK's own.
  std::string interface = "";
  std::string filter = "";   // which frames to receive, in tcpdump's syntax; empty: all
  bool qdisc_bypass = true;  // frames go past the interface's queueing discipline
  uint32_t mtu = 1500;       // of a device of DPDK's own
  uint32_t slots = 4096;     // frames that it can store, where the driver lets itself be told
  // Of the interface, and in promiscuous mode as long as it is open; none: is opened here.
  UniqueFd control = {};
  // Destroyed after the port is closed. Offloads that combine frames, or keep a part of a frame
  // beside its bytes, are to be off as long as it is open: on an interface of the kernel's this is
  // who sees to it (xdp::InterfaceGuardian), unless somebody else does.
  std::shared_ptr<void> keeper = nullptr;
};

// Throws EnvironmentError, which says why, where no port can be opened by anybody or by this
// process.
void CheckUsable();

// Loads DPDK into this process, which stays there. As root, in the process that is to receive and
// send. Throws UsageError or EnvironmentError, which say what is in the way.
std::unique_ptr<io::AnyPort> OpenPort(Request request);

// Tries it on a veth pair in a scratch namespace (`viaduct doctor`). Needs root.
sys::Feature Probe();

}  // namespace viaduct::dpdk
