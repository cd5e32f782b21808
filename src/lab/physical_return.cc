#include "lab/physical_return.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/fd.h"
#include "lab/card_names.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"

namespace viaduct::lab {
namespace {

UniqueFd OpenNamespaceOf(const RunInfo& run, const RecordedPhysical& physical) {
  const auto entry =
      std::ranges::find(run.namespaces, physical.namespace_name, &RecordedNamespace::name);
  return entry == run.namespaces.end() ? UniqueFd() : OpenRecorded(*entry);
}

// Throws Error if the interface's name is taken on the host: the kernel moves an interface first
// and renames it afterwards, so it would leave the interface on the host under another name.
void CheckNameIsFree(sys::Netlink& host, const RecordedPhysical& physical) {
  if (!host.FindLink(physical.host_name)) return;
  throw Error("physical interface " + physical.host_name +
              " cannot return to the machine from namespace " + physical.namespace_name +
              ": another interface of the machine has this name; rename the other interface");
}

// Restores the MTU, MAC address and offloads of an interface that is down and in the session's
// namespace `inside`.
void RestoreSettings(sys::Netlink& session, int inside, const sys::LinkInfo& link,
                     const RecordedPhysical& physical) {
  session.SetMtu(link.ifindex, physical.mtu);
  const auto mac = wire::MacAddress::Parse(physical.mac);
  if (link.mac != mac) session.SetMac(link.ifindex, mac);
  sys::EnableOffloads(inside, link.name, physical.offloads);
}

void ReturnAlone(const RunInfo& run, const RecordedPhysical& physical) {
  const UniqueFd inside = OpenNamespaceOf(run, physical);
  if (!inside) return;
  sys::Netlink session(inside.get());
  std::optional<sys::LinkInfo> link = session.FindLink(physical.name);
  // The interface may have been moved into the node, but not yet renamed.
  if (!link) link = session.FindLink(physical.host_name);
  if (!link) return;  // the interface was never moved into the node, or has been unplugged
  sys::Netlink host;
  CheckNameIsFree(host, physical);
  session.SetUp(link->ifindex, false);
  RestoreSettings(session, inside.get(), *link, physical);
  session.MoveLink(link->ifindex, sys::OpenCurrentNamespace().get(), physical.host_name);
  if (physical.was_up) host.SetUp(host.IfIndex(physical.host_name), true);
}

// Returns a Wi-Fi card with its recorded interfaces, all of which are in one namespace.
class CardReturn {
 public:
  CardReturn(const RunInfo& run, const RecordedPhysical& first, sys::WirelessCards& cards)
      : number_(first.card->number), inside_(OpenNamespaceOf(run, first)), cards_(cards) {
    for (const RecordedPhysical& physical : run.physicals) {
      if (physical.card && physical.card->number == number_) physicals_.push_back(&physical);
    }
  }

  void Do() {
    if (IsInside()) {
      for (const RecordedPhysical* physical : physicals_) CheckNameIsFree(host_, *physical);
      cards_.Move(number_, inside_.get(), here_.get());
    }
    const std::vector<sys::CardInterface> back = InterfacesIn(here_.get());
    CardNames names;
    for (const RecordedPhysical* physical : physicals_) {
      names[physical->card->interface_id] = physical->host_name;
    }
    NameCardInterfaces(host_, back, names);
    for (const RecordedPhysical* physical : physicals_) {
      const auto found =
          std::ranges::find(back, physical->card->interface_id, &sys::CardInterface::id);
      if (found != back.end()) Restore(*physical, found->ifindex);
    }
  }

 private:
  bool IsInside() { return inside_ && !InterfacesIn(inside_.get()).empty(); }

  std::vector<sys::CardInterface> InterfacesIn(int namespace_fd) {
    std::vector<sys::CardInterface> interfaces = cards_.Interfaces(namespace_fd);
    std::erase_if(interfaces, [this](const auto& each) { return each.card != number_; });
    return interfaces;
  }

  // Restores an interface of a card that has just returned, or of a card whose earlier return was
  // interrupted at this step. Does nothing to an interface that is up: it has been restored
  // already, and may be in use again.
  void Restore(const RecordedPhysical& physical, int ifindex) {
    const std::optional<sys::LinkInfo> link = host_.FindLink(ifindex);
    if (!link || link->up) return;
    RestoreSettings(host_, here_.get(), *link, physical);
    if (physical.was_up) host_.SetUp(link->ifindex, true);
  }

  const uint32_t number_;
  const UniqueFd inside_;
  const UniqueFd here_ = sys::OpenCurrentNamespace();
  sys::WirelessCards& cards_;
  sys::Netlink host_;
  std::vector<const RecordedPhysical*> physicals_;
};

}  // namespace

std::vector<std::function<void()>> PhysicalReturns(const RunInfo& run, sys::WirelessCards& cards) {
  std::vector<std::function<void()>> steps;
  std::set<uint32_t> seen;
  for (auto it = run.physicals.rbegin(); it != run.physicals.rend(); ++it) {
    const RecordedPhysical& physical = *it;
    if (!physical.card) {
      steps.emplace_back([&run, &physical] { ReturnAlone(run, physical); });
    } else if (seen.insert(physical.card->number).second) {
      steps.emplace_back([&run, &physical, &cards] { CardReturn(run, physical, cards).Do(); });
    }
  }
  return steps;
}

}  // namespace viaduct::lab
