#include "lab/names.h"

#include <set>
#include <vector>

#include "base/error.h"
#include "base/wire/address_scope.h"
#include "sys/machine/own_mounts.h"

namespace viaduct::lab {
namespace {

// The names of one node's addresses, in the order of the hosts file.
class NodeNames {
 public:
  explicit NodeNames(const std::string& node) : node_(node) {}

  // `interface`: the interface that has the address, or an empty string if no interface has the
  // address.
  void Add(const wire::IpAddress& address, const std::string& interface) {
    if (wire::IsLinkLocal(address)) return;
    const bool is_first = families_.insert(address.family).second;
    std::string names = is_first ? node_ : "";
    if (!interface.empty()) names += (is_first ? " " : "") + node_ + "." + interface;
    if (!names.empty()) all_.push_back({address, names});
  }
  void AddTo(std::vector<sys::HostName>* all) const {
    all->insert(all->end(), all_.begin(), all_.end());
  }

 private:
  const std::string& node_;
  std::set<wire::Family> families_;
  std::vector<sys::HostName> all_;
};

}  // namespace

void CheckLoopbacks(const Node& node) {
  for (const wire::IpPrefix& prefix : node.loopback) {
    const wire::IpAddress& address = prefix.address;
    if (address.IsUnspecified() || address.IsMulticast() || wire::IsLinkLocal(address) ||
        prefix.length != 8 * address.Length()) {
      throw UsageError("node " + node.name + ": " + prefix.ToString() +
                       " is not a node address (an IPv4 /32 or an IPv6 /128)");
    }
  }
}

std::string HostsFile(const Topology& topology) {
  std::vector<sys::HostName> all;
  for (const Node& node : topology.nodes) {
    NodeNames names(node.name);
    for (const wire::IpPrefix& address : node.loopback) names.Add(address.address, "");
    for (const Interface& interface : node.interfaces) {
      for (const auto& address : interface.addresses) names.Add(address.address, interface.name);
    }
    names.AddTo(&all);
  }
  for (const Remote& remote : topology.remotes) {
    if (!remote.programs_of.empty()) continue;
    NodeNames names(remote.name);
    for (const auto& address : remote.interface.addresses) names.Add(address.address, "");
    names.AddTo(&all);
  }
  for (const OtherNode& other : topology.others) {
    NodeNames names(other.name);
    for (const wire::IpAddress& address : other.addresses) names.Add(address, "");
    names.AddTo(&all);
  }
  return sys::HostsText(all);
}

}  // namespace viaduct::lab
