#include "remote/join/join_network.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/file.h"
#include "base/wire/vxlan.h"
#include "sys/ipc/message.h"
#include "sys/machine/own_mounts.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/sysctl.h"
#include "sys/network/vxlan.h"

namespace viaduct::remote {
namespace {

using nlohmann::json;

UniqueFd OpenGiven(const std::string& into, const sys::Identity& user) {
  UniqueFd network = sys::OpenUsersNamespace(into, user.uid, "--into");
  if (sys::NamespaceInode(network.get()) ==
      sys::NamespaceInode(sys::OpenCurrentNamespace().get())) {
    throw UsageError(
        fmt::format("--into {}: this namespace connects to the hub and cannot also be the node; "
                    "specify another namespace",
                    into));
  }
  return network;
}

std::string FreeInterfaceName(int network) {
  sys::Netlink session(network);
  for (int number = 0;; ++number) {
    std::string name = fmt::format("eth{}", number);
    if (!session.FindLink(name)) return name;
  }
}

bool HasIpv6LinkLocal(const claim::Offer& offer) {
  return std::ranges::any_of(offer.addresses, [](const wire::IpPrefix& prefix) {
    const auto& bytes = prefix.address.bytes;
    return prefix.address.family == wire::Family::kIpv6 && bytes[0] == 0xFE &&
           (bytes[1] & 0xC0) == 0x80;
  });
}

bool HasIpv6(const claim::Offer& offer) {
  return std::ranges::any_of(offer.addresses, [](const wire::IpPrefix& prefix) {
    return prefix.address.family == wire::Family::kIpv6;
  });
}

// Returns the MTU of the node's interface. Over IPv6 the kernel's VXLAN divides no datagram
// (drivers/net/vxlan, udp_tunnel6_xmit_skb()): it drops the first packet to each destination that
// is too long, without an error, and reports only the next such packet to the sender. So the
// interface must not take packets that are too long for the path. Over IPv4 the kernel divides
// datagrams, so the MTU may be larger than the path allows. In an inner network the kernel divides
// datagrams, too. There the MTU is nevertheless limited to the path, because most datagrams would
// have to be divided.
int MtuOver(const JoinRequest& request) {
  constexpr int kLeast = 1280;
  const claim::Offer& offer = request.offer;
  const auto fit = [&](int room) { return std::min(offer.mtu, std::max(room, kLeast)); };
  if (offer.wireguard) return fit(InnerMtu(request.hub) - wire::kVxlanOverhead);
  if (request.hub.family == wire::Family::kIpv4) return offer.mtu;
  try {
    return fit(sys::PathMtu(request.hub) - wire::kVxlanOverIpv6Overhead);
  } catch (const SystemError&) {
    return offer.mtu;  // there is no route, so the MTU is not known, and nothing is sent
  }
}

}  // namespace

std::string HostsFile(const claim::Offer& offer) {
  std::vector<sys::HostName> names;
  for (const auto& [name, addresses] : offer.names) {
    for (const wire::IpAddress& address : addresses) names.push_back({address, name});
  }
  return sys::HostsText(names);
}

json EncodeJoin(const JoinRequest& request) {
  return {{"offer", claim::WriteOffer(request.offer)},
          {"hub", request.hub.ToString()},
          {"into", request.into},
          {"secret", request.secret.ToString()}};
}

JoinRequest DecodeJoin(const json& json) {
  constexpr uint16_t kFirstFreePort = 1024;
  constexpr size_t kMaxNameLength = 255;
  JoinRequest request;
  const auto offer = json.find("offer");
  if (offer == json.end() || !offer->is_object()) throw UsageError("request: the offer is missing");
  try {
    request.offer = claim::ReadOffer(*offer);
  } catch (const claim::MessageError& error) {
    throw UsageError(error.what());
  }
  if (request.offer.port < kFirstFreePort) {
    throw UsageError(
        fmt::format("the hub's UDP port is {}, but ports below {} are reserved for the system; "
                    "start the hub with another --port",
                    request.offer.port, kFirstFreePort));
  }
  request.hub = wire::IpAddress::Parse(ipc::Member<std::string>(json, "hub"));
  if (request.hub.IsMulticast() || request.hub.IsUnspecified()) {
    throw UsageError(request.hub.ToString() +
                     " is not a unicast address; a hub needs a unicast address");
  }
  request.into = ipc::Member<std::string>(json, "into");
  request.secret = claim::TunnelKey::Parse(ipc::Member<std::string>(json, "secret"));
  const bool is_path = request.into.find('/') != std::string::npos || request.into == "." ||
                       request.into == ".." || request.into.find('\0') != std::string::npos;
  if (is_path || request.into.size() > kMaxNameLength) {
    throw UsageError("--into: expected the name of a network namespace (ip netns) or a pid");
  }
  return request;
}

claim::EncryptedTunnel DecodeTunnel(const json& json) {
  try {
    return claim::ReadTunnel(json);
  } catch (const claim::MessageError& error) {
    throw UsageError(error.what());
  }
}

JoinNetwork::JoinNetwork(const JoinRequest& request, const sys::Identity& user)
    : request_(request) {
  if (const auto& tunnel = request_.offer.wireguard) {
    inner_.emplace(request_.secret, tunnel->client, 0);
    ChangeHub(*tunnel);
  }
  inside_ = request_.into.empty() ? sys::CreateNamelessNamespace() : OpenGiven(request_.into, user);
  const sys::MachineLock lock;
  info_.name = fmt::format("vjn{}", getpid());
  info_.uid = user.uid;
  info_.node = request_.offer.node;
  info_.hub = request_.hub.ToString();
  record_ = RecordJoin(&info_, lock);
  try {
    Build();
  } catch (...) {
    RemoveJoin(info_, lock, inside_.get());
    throw;
  }
}

JoinNetwork::~JoinNetwork() {
  try {
    RemoveJoin(info_, sys::MachineLock(), inside_.get());
  } catch (const Error&) {
    // The error cannot be reported; `viaduct clean` finds the record.
  }
}

void JoinNetwork::Build() {
  const bool is_own = request_.into.empty();
  RecordJoinInside({sys::IdentifyNamespace(inside_.get()), is_own, FreeInterfaceName(inside_.get()),
                    request_.offer.mac.ToString()},
                   &info_, &record_);
  if (is_own) {
    WriteFile(info_.hosts_file(), HostsFile(request_.offer));
    sys::WriteSysctl(inside_.get(), sys::kPingGroups, sys::kEveryGroup);
  }
  CreateInterface();
  const std::string& interface = info_.inside->interface;
  // Offloads are disabled because the hub may be on this machine: nothing would divide a
  // super-frame, or complete a checksum, before the hub gets the frame.
  sys::DisableOffloads(inside_.get(), interface, sys::Offloads::kAll);
  sys::Netlink inside(inside_.get());
  if (is_own) inside.SetUp(inside.IfIndex("lo"), true);
  const int ifindex = inside.IfIndex(interface);
  // The kernel makes a link-local address only if the node has IPv6 and the offer has no such
  // address; a node without IPv6 must not ask for routers.
  const bool makes_own = HasIpv6(request_.offer) && !HasIpv6LinkLocal(request_.offer);
  if (!makes_own) inside.SetIpv6LinkLocal(ifindex, false);
  for (const wire::IpPrefix& address : request_.offer.addresses) {
    inside.AddAddress(ifindex, address);
  }
  try {
    inside.SetUp(ifindex, true);
  } catch (const SystemError& error) {
    if (error.error_number() != EADDRINUSE) throw;
    throw EnvironmentError(
        fmt::format("UDP port {} is in use in this network namespace, by the hub itself or by "
                    "another program; join from another machine or network namespace",
                    request_.offer.port));
  }
  AddRoutes(ifindex);
}

void JoinNetwork::CreateInterface() {
  sys::VxlanLink link;
  // The interface gets the record's name at first: a kernel before 6.15 refuses a name that an
  // interface of the current namespace has.
  link.name = info_.name;
  link.namespace_fd = inside_.get();
  link.vni = request_.offer.vni;
  link.remote = inner_ ? request_.offer.wireguard->hub : request_.hub;
  link.port = request_.offer.port;
  link.mac = request_.offer.mac;
  link.mtu = MtuOver(request_);
  sys::Netlink here = inner_ ? sys::Netlink(inner_->fd()) : sys::Netlink();
  try {
    sys::CreateVxlan(here, link);
  } catch (const SystemError& error) {
    if (error.error_number() != EEXIST) throw;
    throw EnvironmentError(fmt::format(
        "VNI {} on UDP port {} is in use by another VXLAN interface of this network namespace, "
        "such as a joined node of another hub (viaduct ls); set another nodes.NAME.vni, start the "
        "hub with another --port, or join from another network namespace",
        link.vni, link.port));
  }
  sys::Netlink inside(inside_.get());
  inside.MoveLink(inside.IfIndex(link.name), inside_.get(), info_.inside->interface);
}

void JoinNetwork::ChangeHub(const claim::EncryptedTunnel& tunnel) {
  const auto& first = request_.offer.wireguard;
  if (!inner_ || !first || tunnel.hub != first->hub || tunnel.client != first->client) {
    throw UsageError("the parameters of the hub's tunnel have changed; run viaduct join again");
  }
  if (hub_key_ && *hub_key_ != tunnel.key) inner_->Remove(*hub_key_);
  inner_->Set({tunnel.key, tunnel.hub, request_.hub, tunnel.port});
  hub_key_ = tunnel.key;
}

void JoinNetwork::AddRoutes(int ifindex) {
  sys::Netlink inside(inside_.get());
  for (const claim::Route& route : request_.offer.routes) {
    inside.AddRoute(route.to, route.via, ifindex);
  }
  for (const wire::IpAddress& gateway : request_.offer.gateways) {
    wire::IpPrefix everything;
    everything.address.family = gateway.family;
    try {
      inside.AddRoute(everything, gateway.IsUnspecified() ? std::nullopt : std::optional(gateway),
                      ifindex);
    } catch (const SystemError& error) {
      if (error.error_number() != EEXIST) throw;
      throw UsageError(
          fmt::format("--into {}: the namespace already has a default route, but the node needs "
                      "its own; remove the "
                      "default route, or start the container without a network",
                      request_.into));
    }
  }
}

void JoinNetwork::EnterNames() const {
  if (!info_.inside->own) return;
  sys::EnterNames(request_.offer.node, info_.hosts_file());
}

}  // namespace viaduct::remote
