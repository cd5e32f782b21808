#include "plane/fib/ebpf_routes.h"

#include <algorithm>
#include <iterator>

namespace viaduct::fib {
namespace {

std::map<std::string, int> IfIndexesOf(sys::Netlink& session, const NodePlace& place) {
  std::map<std::string, int> ifindexes;
  // A node with one interface gets no program. Each packet that the node forwards leaves through
  // the interface on which it arrived, and the program would leave such packets to the kernel (ICMP
  // redirects).
  if (place.interfaces.size() < 2) return ifindexes;
  for (const std::string& name : place.interfaces) ifindexes[name] = session.IfIndex(name);
  return ifindexes;
}

std::vector<bpf::Interface> PortsOf(const std::map<std::string, int>& ifindexes,
                                    const NodePlace& place) {
  std::vector<bpf::Interface> ports;
  for (const auto& [name, ifindex] : ifindexes) {
    const auto wire = place.wires.find(name);
    ports.push_back(
        {ifindex, wire == place.wires.end() ? std::nullopt : std::optional(wire->second)});
  }
  return ports;
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
  std::vector<wire::IpAddress> own;
  for (const sys::InterfaceAddress& of : session_.Addresses()) own.push_back(of.address.address);
  forwarder_->SetOwnAddresses(own);
}

size_t EbpfRoutes::Reinstall() {
  TellAddresses();
  return kernel_.Reinstall();
}

std::map<std::string, std::map<std::string, uint64_t>> EbpfRoutes::PacketCounters() const {
  std::map<std::string, std::map<std::string, uint64_t>> counters;
  for (const auto& [name, ifindex] : ifindexes_) {
    const viaduct_port_counters port = forwarder_->CountersOf(ifindex);
    for (size_t i = 0; i < std::size(port.packets); ++i) {
      counters[name][bpf::OutcomeName(static_cast<viaduct_outcome>(i))] = port.packets[i];
    }
    counters[name]["forwarded-bytes"] = port.bytes;
  }
  return counters;
}

}  // namespace viaduct::fib
