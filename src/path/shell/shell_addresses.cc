#include "path/shell/shell_addresses.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "sys/network/link.h"
#include "sys/network/route_table.h"

namespace viaduct::path {
namespace {

constexpr uint32_t kFirst = 0x64400000;  // 100.64.0.0
constexpr uint32_t kLast = 0x647ffffc;   // the last /30 of 100.64.0.0/10
constexpr int kSpaceLength = 10;
constexpr int kSubnetLength = 30;
constexpr char kSpace6[] = "fd76:6961:6475::";
constexpr int kSpace6Length = 96;

bool IsWithinSpace(const wire::IpPrefix& prefix) {
  const wire::IpPrefix space{wire::IpAddress::FromIpv4(kFirst), kSpaceLength};
  return prefix.length > kSpaceLength && space.Contains(prefix.address);
}

// Returns whether two prefixes have an address in common.
bool Overlap(const wire::IpPrefix& a, const wire::IpPrefix& b) {
  return a.address.family == b.address.family && (a.Contains(b.address) || b.Contains(a.address));
}

}  // namespace

std::vector<wire::IpPrefix> PrefixesInUse() {
  sys::Netlink session;
  std::vector<wire::IpPrefix> all;
  for (const sys::InterfaceAddress& of : session.Addresses()) all.push_back(of.address);
  for (const wire::IpPrefix& route : sys::RouteDestinations(session, wire::Family::kIpv4)) {
    if (IsWithinSpace(route)) all.push_back(route);
  }
  return all;
}

wire::IpPrefix FreeSubnet(const std::vector<wire::IpPrefix>& taken) {
  for (uint32_t base = kFirst; base <= kLast; base += 4) {
    const wire::IpPrefix subnet{wire::IpAddress::FromIpv4(base), kSubnetLength};
    const bool is_free = std::none_of(taken.begin(), taken.end(), [&](const wire::IpPrefix& other) {
      return Overlap(subnet, other);
    });
    if (is_free) return subnet;
  }
  throw Error(
      "no subnet of 100.64.0.0/10 is free for a shell; end another shell, or remove addresses or "
      "routes of this range from the network namespace");
}

std::vector<wire::IpPrefix> SubnetsOfShells(const std::vector<wire::IpPrefix>& taken) {
  std::set<wire::IpPrefix> subnets;
  for (const wire::IpPrefix& prefix : taken) {
    if (IsWithinSpace(prefix) && prefix.length == kSubnetLength) subnets.insert(prefix.Network());
  }
  return {subnets.begin(), subnets.end()};
}

wire::IpAddress Ipv6Of(const wire::IpAddress& ipv4) {
  wire::IpAddress ipv6 = wire::IpAddress::Parse(kSpace6);
  std::copy_n(ipv4.bytes.begin(), 4, ipv6.bytes.begin() + kSpace6Length / 8);
  return ipv6;
}

wire::IpPrefix Ipv6Of(const wire::IpPrefix& ipv4) {
  return {Ipv6Of(ipv4.address), kSpace6Length + ipv4.length};
}

}  // namespace viaduct::path
