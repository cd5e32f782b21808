#include "lab/physical_interface.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "lab/record.h"
#include "wire/address_scope.h"

namespace viaduct::lab {
namespace {

// Says why a physical interface is missing: which lab has taken it, if one has.
[[noreturn]] void ThrowPhysicalMissing(const std::string& root, const std::string& interface) {
  for (const RunInfo& run : ListRuns(root)) {
    for (const RecordedPhysical& physical : run.physicals) {
      if (physical.host_name != interface) continue;
      throw UsageError("physical interface " + interface + " is in use by lab " + run.name +
                       (run.alive ? " (process " + std::to_string(run.pid) + ")"
                                  : ", which ended without cleaning up; run `viaduct clean`"));
    }
  }
  throw UsageError("physical interface " + interface +
                   " does not exist on this host; `ip link` lists those that do");
}

}  // namespace

sys::LinkInfo CheckPhysical(sys::Netlink& host, const std::string& root,
                            const std::string& interface) {
  const std::optional<sys::LinkInfo> link = host.FindLink(interface);
  if (!link) ThrowPhysicalMissing(root, interface);
  const std::string where = "physical interface " + interface;
  if (interface == "lo") throw UsageError(where + ": the loopback cannot be moved into a node");
  if (link->master != 0) {
    throw UsageError(where +
                     " is busy: it belongs to a bridge or bond; remove it first (ip link set " +
                     interface + " nomaster)");
  }
  const std::vector<wire::IpPrefix> addresses = host.Addresses(link->ifindex);
  const auto used = std::find_if(
      addresses.begin(), addresses.end(),
      [](const wire::IpPrefix& address) { return !wire::IsLinkLocal(address.address); });
  if (used != addresses.end()) {
    throw UsageError(where + " is busy: the host uses it as " + used->ToString() +
                     "; remove its addresses first (ip addr flush dev " + interface + ")");
  }
  return *link;
}

}  // namespace viaduct::lab
