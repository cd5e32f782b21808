#include "remote/join/inner_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/vxlan.h"

namespace viaduct::remote {
namespace {

// The name of the WireGuard interface. The name must be free in the current namespace, too, because
// the kernel also looks up the name in that namespace.
constexpr char kInterface[] = "viaduct-wg";
constexpr int kUsualMtu = 1420;  // MTU of WireGuard over either family on Ethernet
constexpr int kMinMtu = 576, kMaxMtu = 65535;
// The bytes of the UDP header, of WireGuard's header and of WireGuard's authentication tag.
constexpr int kWireguardOverhead = 8 + 16 + 16;
// The keepalive interval of the end that sends first: a firewall or NAT between the two ends
// forgets a silent connection.
constexpr uint16_t kKeepalive = 10;  // seconds

wire::IpPrefix HostPrefix(const wire::IpAddress& address) {
  return {address, 8 * address.Length()};
}

}  // namespace

int InnerMtu(const wire::IpAddress& outer) {
  const int header = outer.family == wire::Family::kIpv4 ? 20 : 40;
  try {
    return std::clamp(sys::PathMtu(outer) - header - kWireguardOverhead, kMinMtu, kMaxMtu);
  } catch (const SystemError&) {
    return kUsualMtu;  // there is no route, so the MTU is not known
  }
}

InnerNetwork::InnerNetwork(const claim::TunnelKey& secret, const wire::IpAddress& own,
                           uint16_t port)
    : namespace_(sys::CreateNamelessNamespace()), mtu_(kUsualMtu) {
  sys::CreateWireguard({kInterface, namespace_.get(), mtu_});
  sys::Netlink inside(namespace_.get());
  ifindex_ = inside.IfIndex(kInterface);
  wireguard_.emplace(namespace_.get(), kInterface);
  wireguard_->Start(secret.bytes, port);
  inside.AddAddress(ifindex_, HostPrefix(own));
  try {
    inside.SetUp(ifindex_, true);
  } catch (const SystemError& error) {
    if (error.error_number() != EADDRINUSE) throw;
    throw UsageError(fmt::format(
        "WireGuard's UDP port {} is in use in this network namespace; specify another port", port));
  }
  inside.AddRoute(wire::IpPrefix(), std::nullopt, ifindex_);
}

void InnerNetwork::Set(const Other& other) {
  for (const auto& [key, known] : others_) {
    if ((known.inner == other.inner) != (key == other.key)) {
      throw UsageError("another client has the same WireGuard key or inner address");
    }
  }
  sys::WireguardPeer peer;
  peer.key = other.key.bytes;
  peer.allowed = {HostPrefix(other.inner)};
  if (other.port != 0) {
    peer.endpoint = {other.outer, other.port};
    peer.keepalive = kKeepalive;
  }
  others_[other.key] = {other.inner, InnerMtu(other.outer)};
  AdjustMtu();
  wireguard_->SetPeer(peer);
}

void InnerNetwork::Remove(const claim::TunnelKey& key) {
  if (others_.erase(key) == 0) return;
  wireguard_->RemovePeer(key.bytes);
  AdjustMtu();
}

// Sets the MTU of the WireGuard interface to the smallest MTU of all remote ends. So longer packets
// are divided before they are encrypted, and not afterwards, because networks tend to lose divided
// datagrams.
void InnerNetwork::AdjustMtu() {
  int mtu = others_.empty() ? kUsualMtu : kMaxMtu;
  for (const auto& [key, known] : others_) mtu = std::min(mtu, known.mtu);
  if (mtu == mtu_) return;
  sys::Netlink(namespace_.get()).SetMtu(ifindex_, mtu);
  mtu_ = mtu;
}

}  // namespace viaduct::remote
