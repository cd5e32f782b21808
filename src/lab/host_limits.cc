#include "lab/host_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>

#include "sys/network/sysctl.h"

namespace viaduct::lab {
namespace {

// Whether the node's kernel resolves addresses of this family on the interface.
bool Resolves(const Topology& topology, const Endpoint& end, wire::Family family) {
  const auto node = std::ranges::find(topology.nodes, end.node, &Node::name);
  if (node == topology.nodes.end() || !node->data_plane->layout.addresses_on_interfaces) {
    return false;
  }
  const auto interface = std::ranges::find(node->interfaces, end.interface, &Interface::name);
  return interface != node->interfaces.end() &&
         std::ranges::any_of(interface->addresses, [&](const wire::IpPrefix& prefix) {
           return prefix.address.family == family;
         });
}

uint64_t Neighbours(const Topology& topology, wire::Family family) {
  uint64_t sum = 0;
  for (const Link& link : topology.links) {
    const auto count = static_cast<uint64_t>(std::ranges::count_if(
        link.endpoints, [&](const Endpoint& end) { return Resolves(topology, end, family); }));
    sum += count > 0 ? count * (count - 1) : 0;
  }
  return sum;
}

}  // namespace

std::vector<std::string> ExceededLimits(const Topology& topology, const ReadLimit& read) {
  std::vector<std::string> lines;
  for (const auto& [family, name] :
       {std::pair(wire::Family::kIpv4, "ipv4"), std::pair(wire::Family::kIpv6, "ipv6")}) {
    const std::string parameter = fmt::format("net.{}.neigh.default.gc_thresh3", name);
    const uint64_t needed = Neighbours(topology, family);
    const std::optional<uint64_t> limit = read(parameter);
    if (!limit || needed <= *limit) continue;
    lines.push_back(fmt::format(
        "the nodes of the lab can have {} neighbours, but this machine's kernel stores "
        "only {} for all nodes and drops packets to other neighbours; run sysctl -w {}={}",
        needed, *limit, parameter, std::bit_ceil(2 * needed)));
  }
  return lines;
}

std::optional<uint64_t> ReadHostLimit(const std::string& parameter) {
  std::ifstream file(sys::SysctlPath(parameter));
  uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

}  // namespace viaduct::lab
