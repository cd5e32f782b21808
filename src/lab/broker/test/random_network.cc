#include "lab/broker/test/random_network.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <iterator>

namespace viaduct::broker::test {
namespace {

constexpr int kHostMtu = 1500;
constexpr std::array kMtus = {1500, 1400, 1400, 1280};
constexpr uint8_t kStranger = 0x77;
constexpr std::array kLinkLocal = {"fe80::5", "fe80::9"};
constexpr std::array kFamilies = {wire::Family::kIpv4, wire::Family::kIpv6};

// Returns the address of a side of a link: "10.0.LINK.SIDE/24" or "2001:db8:LINK::SIDE/64".
wire::IpPrefix AddressOn(wire::Family family, size_t link, int side) {
  return wire::IpPrefix::Parse(family == wire::Family::kIpv4
                                   ? fmt::format("10.0.{}.{}/24", link, side)
                                   : fmt::format("2001:db8:{}::{}/64", link, side));
}

class Builder {
 public:
  Builder(uint64_t seed, const fib::DataPlane& plane, EqualPaths paths)
      : random_(seed, "network"), plane_(plane), paths_(paths) {
    network_.topology.name = fmt::format("planes{}", getpid());
    const size_t routers = 2 + random_.Below(4);
    for (size_t i = 0; i < routers; ++i) AddNode(fmt::format("r{}", i), plane_);
    for (size_t i = 1; i < routers; ++i) Join(i, random_.Below(i), RandomMtu());
    for (size_t more = random_.Below(4); more > 0; --more) {
      const size_t one = random_.Below(routers);
      const size_t other = one + 1 + random_.Below(routers - 1);
      Join(one, other < routers ? other : other - routers, RandomMtu());
    }
    AddHost(kSource, 0);
    AddHost(kSink, routers - 1);
    AddHost("d1", random_.Below(routers));
    AddRoutes();
    AddEndpoints();
  }

  RandomNetwork Take() { return std::move(network_); }

 private:
  struct End {
    size_t node;
    std::string interface;
  };
  using Ends = std::array<End, 2>;

  int RandomMtu() { return kMtus[random_.Below(kMtus.size())]; }

  size_t AddNode(const std::string& name, const fib::DataPlane& plane) {
    lab::Node node{name, &plane, {}, {}, {}};
    // The node's kernel sends an ICMP error for every packet in error, without a rate limit.
    // Redirects are disabled, because they cannot be exempted from the limit.
    node.sysctls = {{"net.ipv4.icmp_ratemask", "0"},
                    {"net.ipv6.icmp.ratemask", "255"},
                    {"net.ipv4.conf.all.send_redirects", "0"}};
    network_.topology.nodes.push_back(std::move(node));
    return network_.topology.nodes.size() - 1;
  }

  void Join(size_t one, size_t other, int mtu) {
    const size_t link = links_.size();
    Ends ends;
    for (const size_t side : {0, 1}) {
      lab::Node& node = network_.topology.nodes[side == 0 ? one : other];
      lab::Interface interface;
      interface.name = fmt::format("eth{}", node.interfaces.size());
      interface.mac = wire::MacAddress::Parse(fmt::format("02:00:00:00:{:02x}:0{}", link, side));
      for (const wire::Family family : kFamilies) {
        interface.addresses.push_back(AddressOn(family, link, static_cast<int>(side) + 1));
      }
      interface.mtu = mtu;
      node.sysctls.emplace(fmt::format("net.ipv4.conf.{}.send_redirects", interface.name), "0");
      ends[side] = {side == 0 ? one : other, interface.name};
      node.interfaces.push_back(std::move(interface));
    }
    network_.topology.links.push_back({fmt::format("link{}", link),
                                       lab::Link::Kind::kPair,
                                       {EndpointOf(ends[0]), EndpointOf(ends[1])},
                                       {}});
    links_.push_back(ends);
  }

  lab::Endpoint EndpointOf(const End& end) const {
    return {network_.topology.nodes[end.node].name, end.interface};
  }

  void AddHost(const std::string& name, size_t router) {
    Join(AddNode(name, fib::kKernelPlane), router, kHostMtu);
    hosts_.push_back(links_.size() - 1);
  }

  // Returns the number of hops from a node to the network of a link.
  int Distance(size_t node, size_t link) const {
    std::vector<int> distances(network_.topology.nodes.size(), INT_MAX - 1);
    for (const End& end : links_[link]) distances[end.node] = 0;
    for (size_t round = 0; round < distances.size(); ++round) {
      for (const Ends& ends : links_) {
        for (const size_t side : {0, 1}) {
          int& here = distances[ends[side].node];
          here = std::min(here, distances[ends[1 - side].node] + 1);
        }
      }
    }
    return distances[node];
  }

  std::vector<fib::NextHop> NextHops(wire::Family family, size_t node, size_t to) const {
    const int distance = Distance(node, to);
    std::vector<fib::NextHop> hops;
    for (size_t link = 0; link < links_.size(); ++link) {
      for (const size_t side : {0, 1}) {
        const End& here = links_[link][side];
        const size_t there = links_[link][1 - side].node;
        if (here.node != node || Distance(there, to) != distance - 1) continue;
        const int far_side = static_cast<int>(1 - side) + 1;
        hops.push_back({AddressOn(family, link, far_side).address, here.interface});
      }
    }
    std::ranges::sort(hops);
    if (paths_ == EqualPaths::kFirst && hops.size() > 1) hops.resize(1);
    return hops;
  }

  void AddRoute(size_t node, const std::string& destination, std::vector<fib::NextHop> hops) {
    network_.routes.push_back({network_.topology.nodes[node].name,
                               {wire::IpPrefix::Parse(destination), std::move(hops)}});
  }

  void AddRoutes() {
    for (const wire::Family family : kFamilies) {
      const size_t sink_link = hosts_[1];
      const char* beyond = family == wire::Family::kIpv4 ? "10.9.0.0/16" : "2001:db8:99::/64";
      for (size_t node = 0; node < network_.topology.nodes.size(); ++node) {
        if (IsHost(node)) continue;
        for (size_t link = 0; link < links_.size(); ++link) {
          if (Distance(node, link) == 0) continue;
          const auto network = AddressOn(family, link, 1).Network();
          AddRoute(node, network.ToString(), NextHops(family, node, link));
        }
        // The sink returns packets for the network `beyond` to its router until their TTL reaches
        // zero.
        auto hops = NextHops(family, node, sink_link);
        if (hops.empty()) {
          hops = {{AddressOn(family, sink_link, 1).address, InterfaceOn(node, sink_link)}};
        }
        AddRoute(node, beyond, hops);
      }
      for (const size_t link : hosts_) {
        AddRoute(links_[link][0].node, family == wire::Family::kIpv4 ? "0.0.0.0/0" : "::/0",
                 {{AddressOn(family, link, 2).address, "eth0"}});
      }
    }
  }

  bool IsHost(size_t node) const {
    return std::ranges::any_of(hosts_, [&](size_t link) { return links_[link][0].node == node; });
  }

  std::string InterfaceOn(size_t node, size_t link) const {
    const Ends& ends = links_[link];
    return ends[0].node == node ? ends[0].interface : ends[1].interface;
  }

  void AddEndpoints() {
    const std::string source = std::to_string(hosts_[0]), sink = std::to_string(hosts_[1]);
    const std::string other = std::to_string(hosts_[2]);
    const std::string here = "10.0." + source, v6 = "2001:db8:";
    network_.ipv4.sources = {here + ".1", here + ".1", here + ".1", here + ".119",
                             "10.0.0.1",  "127.0.0.1", "224.0.0.9", "192.0.2.1"};
    const std::string there = "10.0." + sink;
    network_.ipv4.destinations = {there + ".1", there + ".1",      there + ".1",   there + ".1",
                                  "10.9.0.1",   "10.9.7.7",        there + ".255", kUnrouted,
                                  "224.0.0.5",  "255.255.255.255", "127.0.0.1",    "240.0.0.1"};
    const std::string here6 = v6 + source + "::";
    network_.ipv6.sources = {here6 + "1", here6 + "1", here6 + "77", v6 + "0::1", "fe80::9", "::1"};
    const std::string there6 = v6 + sink + "::1";
    network_.ipv6.destinations = {there6,       there6,         there6,    there6,
                                  v6 + "99::7", v6 + "dead::1", "ff0e::5", "fe80::5"};
    for (int i = 0; i < 3; ++i) {
      network_.ipv4.destinations.push_back("10.0." + other + ".1");
      network_.ipv6.destinations.push_back(v6 + other + "::1");
    }
    for (size_t link = 0; link < links_.size(); ++link) {
      for (const int side : {1, 2}) {
        network_.ipv4.destinations.push_back(
            AddressOn(wire::Family::kIpv4, link, side).address.ToString());
        network_.ipv6.destinations.push_back(
            AddressOn(wire::Family::kIpv6, link, side).address.ToString());
      }
    }
  }

  RandomStream random_;
  const fib::DataPlane& plane_;
  EqualPaths paths_;
  RandomNetwork network_;
  std::vector<Ends> links_;
  std::vector<size_t> hosts_;  // the links of s, d0 and d1, which are at the first end
};

}  // namespace

std::vector<wire::IpAddress> StrangersOn(const lab::Interface& interface) {
  std::vector<wire::IpAddress> strangers;
  strangers.reserve(std::size(kLinkLocal) + interface.addresses.size());
  for (const char* text : kLinkLocal) strangers.push_back(wire::IpAddress::Parse(text));
  for (const wire::IpPrefix& each : interface.addresses) {
    strangers.push_back(each.address);
    strangers.back().bytes[static_cast<size_t>(each.address.Length()) - 1] = kStranger;
  }
  return strangers;
}

RandomNetwork MakeRandomNetwork(uint64_t seed, const fib::DataPlane& plane, EqualPaths paths) {
  return Builder(seed, plane, paths).Take();
}

}  // namespace viaduct::broker::test
