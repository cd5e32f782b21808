#include "scenario/loopbacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/wire/address_scope.h"
#include "scenario/end_hosts.h"
#include "scenario/protocols.h"
#include "scenario/subnets.h"

namespace viaduct::scenario {
namespace {

using wire::IpAddress, wire::IpPrefix;

int BitsOf(const IpAddress& address) { return 8 * address.Length(); }

std::vector<IpPrefix> ReadPools(const Section& addressing) {
  std::vector<IpPrefix> pools;
  for (const std::string& text : addressing.Texts("loopback")) {
    if (text == "none") continue;
    const IpPrefix pool = addressing.Located("loopback", [&] { return IpPrefix::Parse(text); });
    if (pool != pool.Network()) {
      addressing.Fail("loopback", fmt::format("'{}' has host bits set; write {}", text,
                                              pool.Network().ToString()));
    }
    const IpAddress& address = pool.address;
    if (address.IsMulticast() || wire::IsLinkLocal(address) || wire::IsLoopback(address)) {
      addressing.Fail("loopback",
                      fmt::format("'{}' contains no addresses that other nodes can reach", text));
    }
    for (const IpPrefix& other : pools) {
      if (other.address.family == address.family) {
        addressing.Fail(
            "loopback",
            "more than one prefix of a family; set one IPv4 prefix, one IPv6 prefix, or both");
      }
    }
    pools.push_back(pool);
  }
  return pools;
}

// Reads the loopback addresses in the settings of one node.
std::vector<IpPrefix> ReadOwn(const Section& node) {
  std::vector<IpPrefix> own;
  for (const std::string& text : node.Texts("loopback")) {
    IpPrefix prefix = node.Located("loopback", [&] {
      return text.find('/') == std::string::npos
                 ? IpPrefix{IpAddress::Parse(text), BitsOf(IpAddress::Parse(text))}
                 : IpPrefix::Parse(text);
    });
    const IpAddress& address = prefix.address;
    if (prefix.length != BitsOf(address) || address.IsMulticast() || address.IsUnspecified() ||
        wire::IsLinkLocal(address) || wire::IsLoopback(address)) {
      node.Fail("loopback",
                fmt::format("'{}' is not a valid address of a node, such as 10.255.0.1", text));
    }
    for (const IpPrefix& other : own) {
      if (other.address.family == address.family) {
        node.Fail(
            "loopback",
            "more than one address of a family; set one IPv4 address, one IPv6 address, or both");
      }
    }
    own.push_back(prefix);
  }
  std::ranges::sort(own, {}, [](const IpPrefix& one) { return one.address.family; });
  return own;
}

std::map<std::string, std::vector<IpPrefix>> ReadAllOwn(const Section& file) {
  std::map<std::string, std::vector<IpPrefix>> all;
  const Value* nodes = file.Find("nodes");
  if (nodes == nullptr || !nodes->IsMap()) return all;
  for (const auto& [name, value] : nodes->members) {
    if (name == "count" && value.IsScalar()) continue;
    const Section node(value, "nodes.NAME", "nodes." + name);
    if (node.Has("loopback")) all[name] = ReadOwn(node);
  }
  return all;
}

class Loopbacks {
 public:
  Loopbacks(const Section& file, Scenario* scenario)
      : file_(file), addressing_(file.Inner("addressing")), scenario_(*scenario) {}

  void Read() {
    const auto own = ReadAllOwn(file_);
    for (NodeSettings& node : scenario_.nodes) {
      const auto found = own.find(node.name);
      if (found == own.end()) continue;
      if (node.host) {
        Fail(PlaceOfNode(file_, node.name),
             fmt::format("nodes.{}.loopback: not supported for a host, whose loopback address is "
                         "not announced; remove the key loopback",
                         node.name));
      }
      for (const IpPrefix& address : found->second) Add(node, address, At(node));
    }
    for (const IpPrefix& pool : ReadPools(addressing_)) Assign(pool);
    for (NodeSettings& node : scenario_.nodes) {
      std::ranges::sort(node.loopback, {}, [](const IpPrefix& one) { return one.address.family; });
    }
  }

 private:
  const Value& At(const NodeSettings& node) const { return PlaceOfNode(file_, node.name); }

  void Add(NodeSettings& node, const IpPrefix& address, const Value& at) {
    CheckProtocol(address, at);
    if (!taken_.insert(address.address).second) {
      Fail(at, fmt::format("loopback: {} is the address of two nodes; change one of them",
                           address.address.ToString()));
    }
    for (const LinkSettings& link : scenario_.links) {
      const auto overlaps = [&](const IpPrefix& each) {
        return each != kNoAddress && Overlap(each.Network(), address);
      };
      if (!std::ranges::any_of(link.addresses, overlaps)) continue;
      Fail(at, fmt::format("loopback: {} is in the network of link {}; choose an address outside",
                           address.address.ToString(), link.name));
    }
    node.loopback.push_back(address);
  }

  // Checks that the routing protocol announces the address to other nodes.
  void CheckProtocol(const IpPrefix& address, const Value& at) const {
    const RoutingProtocol* protocol = FindRoutingProtocol(scenario_.routing.protocol);
    if (const FrameNodes* nodes = FrameNodesOf(scenario_)) {
      Fail(at, fmt::format(
                   "loopback: not supported, because {} has no address; remove the key loopback",
                   nodes->one));
    }
    if (protocol == nullptr) return;  // static routes, or a protocol of the user
    if (!protocol->announces_networks) {
      Fail(at,
           fmt::format(
               "loopback: not supported with {}, which announces only one address of each node, "
               "the address of a link; remove the key loopback, or use another routing.protocol",
               protocol->name));
    }
    if (protocol->family == address.address.family) return;
    Fail(at, fmt::format("loopback: {} cannot announce {}, because the protocol supports only the "
                         "other IP version",
                         protocol->name, address.address.ToString()));
  }

  void Assign(const IpPrefix& pool) {
    const Value& at = addressing_.At("loopback");
    const int host_bits = BitsOf(pool.address) - pool.length;
    uint32_t number = 0;
    for (NodeSettings& node : scenario_.nodes) {
      const bool has = std::ranges::any_of(node.loopback, [&](const IpPrefix& one) {
        return one.address.family == pool.address.family;
      });
      if (node.host || has) continue;
      IpPrefix address;
      do {
        ++number;
        if (host_bits < 32 && number >= uint64_t{1} << host_bits) {
          Fail(at,
               fmt::format(
                   "addressing.loopback: {} has no free address for node {}; set a larger prefix",
                   pool.ToString(), node.name));
        }
        address = {HostAddress(pool, number).address, BitsOf(pool.address)};
      } while (taken_.contains(address.address));
      Add(node, address, at);
    }
  }

  const Section& file_;
  const Section addressing_;
  Scenario& scenario_;
  std::set<IpAddress> taken_;
};

}  // namespace

std::vector<IpPrefix> LoopbackPrefixes(const Section& file) {
  std::vector<IpPrefix> all = ReadPools(file.Inner("addressing"));
  for (const auto& [node, own] : ReadAllOwn(file)) all.insert(all.end(), own.begin(), own.end());
  return all;
}

void ReadLoopbacks(const Section& file, Scenario* scenario) { Loopbacks(file, scenario).Read(); }

}  // namespace viaduct::scenario
