// The namespace of a router, for tests.
#pragma once

#include <string>

#include "plane/fib/data_plane.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::fib::test {

// A router: eth0 has 10.0.0.1/24 and fd00::1/64, eth1 10.0.1.1/24; each is wired to a peer.
struct RouterPlace {
  RouterPlace() {
    for (const std::string side : {"0", "1"}) {
      sys::VethEnd end, peer;
      end.name = "eth" + side;
      peer.name = "peer" + side;
      netlink.CreateVethPair(end, peer);
      netlink.SetUp(netlink.IfIndex(end.name), true);
      netlink.SetUp(netlink.IfIndex(peer.name), true);
    }
    Add("eth0", "10.0.0.1/24");
    Add("eth0", "fd00::1/64");
    Add("eth1", "10.0.1.1/24");
    place.namespace_fd = fd.get();
    place.interfaces = place.ports = {"eth0", "eth1"};
  }
  void Add(const std::string& interface, const std::string& address) {
    netlink.AddAddress(netlink.IfIndex(interface), wire::IpPrefix::Parse(address));
  }

  UniqueFd fd = sys::OpenCurrentNamespace();
  sys::Netlink netlink;
  NodePlace place;
};

}  // namespace viaduct::fib::test
