#include "fib/ebpf_routes.h"

#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace viaduct::fib {
namespace {

std::map<std::string, int> IfIndexesOf(sys::Netlink& session, const NodePlace& place) {
  std::map<std::string, int> ifindexes;
  // A node with one interface forwards nothing that is not left to the kernel (ICMP redirects).
  if (place.interfaces.size() < 2) return ifindexes;
  for (const std::string& name : place.interfaces) ifindexes[name] = session.IfIndex(name);
  return ifindexes;
}

std::vector<bpf::Port> PortsOf(const std::map<std::string, int>& ifindexes,
                               const NodePlace& place) {
  std::vector<bpf::Port> ports;
  for (const auto& [name, ifindex] : ifindexes) {
    const bool is_wire = std::ranges::find(place.wires, name) != place.wires.end();
    ports.push_back({ifindex, is_wire});
  }
  return ports;
}

// Of all interfaces, in one request: a node may have hundreds.
std::vector<wire::IpAddress> Ipv4Addresses(sys::Netlink& session) {
  sys::NetlinkMessage query(RTM_GETADDR, NLM_F_DUMP);
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  query.AppendHeader(header);
  std::vector<wire::IpAddress> addresses;
  session.socket().Query(query, "list addresses", [&](const nlmsghdr* answer) {
    const nlattr* local =
        nlmsg_find_attr(const_cast<nlmsghdr*>(answer), sizeof(ifaddrmsg), IFA_LOCAL);
    if (local == nullptr || nla_len(local) != 4) return;
    addresses.emplace_back();
    std::memcpy(addresses.back().bytes.data(), nla_data(local), 4);
  });
  return addresses;
}

}  // namespace

EbpfRoutes::EbpfRoutes(const NodePlace& place)
    : kernel_(place.namespace_fd),
      session_(place.namespace_fd),
      ifindexes_(IfIndexesOf(session_, place)) {
  if (ifindexes_.empty()) return;
  forwarder_.emplace(place.namespace_fd, PortsOf(ifindexes_, place));
  TellAddresses();
}

void EbpfRoutes::TellAddresses() {
  if (!forwarder_) return;
  forwarder_->SetOwnAddresses(Ipv4Addresses(session_));
}

size_t EbpfRoutes::Reinstall() {
  TellAddresses();
  return kernel_.Reinstall();
}

std::map<std::string, std::map<std::string, uint64_t>> EbpfRoutes::PacketCounters() const {
  std::map<std::string, std::map<std::string, uint64_t>> counters;
  for (const auto& [name, ifindex] : ifindexes_) {
    const viaduct_port port = forwarder_->CountersOf(ifindex);
    for (size_t i = 0; i < std::size(port.packets); ++i) {
      counters[name][bpf::OutcomeName(static_cast<viaduct_outcome>(i))] = port.packets[i];
    }
    counters[name]["forwarded-bytes"] = port.bytes;
  }
  return counters;
}

}  // namespace viaduct::fib
