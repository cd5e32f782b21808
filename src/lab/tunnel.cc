#include "lab/tunnel.h"

#include <cerrno>

#include "base/error.h"
#include "base/wire/vxlan.h"

namespace viaduct::lab {

// Throws UsageError if packets of the tunnel do not fit the path to an IPv6 host: the kernel does
// not fragment packets that are tunnelled over IPv6 (ip6_fragment() in net/ipv6/ip6_output.c; no
// tunnel sets ignore_df), so such packets would be lost.
void CheckTunnelMtu(const sys::VxlanLink& vxlan, const std::string& link) {
  if (vxlan.remote.family == wire::Family::kIpv4) return;
  constexpr int kHeaders = wire::kVxlanOverIpv6Overhead;
  const int mtu = sys::PathMtu(vxlan.remote);
  if (vxlan.mtu + kHeaders <= mtu) return;
  throw UsageError("link " + link + ": with VXLAN over IPv6, packets of up to " +
                   std::to_string(vxlan.mtu) +
                   " bytes are too large for the network between the machines, " + "whose MTU is " +
                   std::to_string(mtu) + "; set mtu: " + std::to_string(mtu - kHeaders) +
                   " for the link, or increase the MTU of that network");
}

void CreateTunnel(sys::Netlink& host, const sys::VxlanLink& vxlan, const Link& link) {
  try {
    sys::CreateVxlan(host, vxlan);
  } catch (const SystemError& error) {
    if (error.error_number() == EEXIST) {
      throw UsageError("link " + link.name + ": another lab of this machine uses the VNI " +
                       std::to_string(vxlan.vni) + "; choose another name for this lab");
    }
    if (error.error_number() != EOPNOTSUPP) throw;
    throw EnvironmentError("link " + link.name +
                           ": the kernel of this machine does not support VXLAN");
  }
}

}  // namespace viaduct::lab
