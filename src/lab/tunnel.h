// VXLAN between the hosts of a lab that is divided among several hosts.
#pragma once

#include <string>

#include "lab/topology.h"
#include "sys/network/link.h"
#include "sys/network/vxlan.h"

namespace viaduct::lab {

// Throws UsageError if packets of the tunnel would not fit the network between the machines.
void CheckTunnelMtu(const sys::VxlanLink& vxlan, const std::string& link);

// Creates the tunnel from the namespace of `host`. Throws UsageError if its identifier is taken,
// EnvironmentError if the kernel has no VXLAN.
void CreateTunnel(sys::Netlink& host, const sys::VxlanLink& vxlan, const Link& link);

}  // namespace viaduct::lab
