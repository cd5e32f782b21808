#include "lab/physical_interface.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/wire/address_scope.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"

namespace viaduct::lab {
namespace {

// Throws UsageError with the reason why a physical interface is missing: it names the lab that has
// the interface, if a lab has it.
[[noreturn]] void ThrowPhysicalMissing(const std::string& root, const std::string& interface) {
  for (const RunInfo& run : ListRuns(root)) {
    for (const RecordedPhysical& physical : run.physicals) {
      if (physical.host_name != interface) continue;
      throw UsageError("physical interface " + interface + " is in use by lab " + run.name +
                       (run.alive ? " (process " + std::to_string(run.pid) + ")"
                                  : ", which exited without cleaning up; run `viaduct clean`"));
    }
  }
  throw UsageError("physical interface " + interface +
                   " does not exist on this machine; `ip link` lists the existing interfaces");
}

// Throws UsageError if the machine itself uses the interface; `what` is the beginning of the
// message.
void CheckFree(sys::Netlink& host, const sys::LinkInfo& link, const std::string& what) {
  if (link.master != 0) {
    throw UsageError(what +
                     " is busy: the interface belongs to a bridge or bond; first remove the "
                     "interface from the bridge or bond (ip link set " +
                     link.name + " nomaster)");
  }
  const std::vector<wire::IpPrefix> addresses = host.Addresses(link.ifindex);
  const auto used = std::find_if(
      addresses.begin(), addresses.end(),
      [](const wire::IpPrefix& address) { return !wire::IsLinkLocal(address.address); });
  if (used != addresses.end()) {
    throw UsageError(what + " is busy: this machine uses the interface with address " +
                     used->ToString() + "; remove the addresses first (ip addr flush dev " +
                     link.name + ")");
  }
}

std::string Called(const std::string& interface) { return "physical interface " + interface; }

sys::LinkInfo CheckPhysical(sys::Netlink& host, const std::string& root,
                            const std::string& interface) {
  const std::optional<sys::LinkInfo> link = host.FindLink(interface);
  if (!link) ThrowPhysicalMissing(root, interface);
  if (interface == "lo") {
    throw UsageError(Called(interface) + ": the loopback interface cannot be moved into a node");
  }
  CheckFree(host, *link, Called(interface));
  return *link;
}

const sys::CardInterface* FindPart(const std::vector<sys::CardInterface>& parts,
                                   const std::string& name) {
  const auto found = std::ranges::find(parts, name, &sys::CardInterface::name);
  return found == parts.end() ? nullptr : &*found;
}

// Returns the node's interface that the machine's interface `host_name` becomes; null if the node
// requests no such interface.
const Interface* FindAsked(const Node& node, const std::string& host_name) {
  const auto found = std::ranges::find(node.interfaces, host_name, &Interface::physical);
  return found == node.interfaces.end() ? nullptr : &*found;
}

std::string CalledCompanion(const std::string& asked, const std::string& companion) {
  return Called(asked) + ": " + companion + ", of the same Wi-Fi card and moved with it,";
}

void CheckCard(sys::WirelessCards& cards, int here, const sys::CardInterface& part) {
  const sys::WirelessCard card = cards.Inspect(here, part.card);
  if (card.movable) return;
  throw EnvironmentError(Called(part.name) + ": the driver of the Wi-Fi card " + card.name +
                         " cannot move the card into a node; use a card whose driver can (" +
                         "`iw phy` then lists set_wiphy_netns)");
}

[[noreturn]] void ThrowNotMoved(const std::string& interface, const SystemError& error) {
  const std::string remedy = sys::KnowsCards()
                                 ? "use another interface"
                                 : "for a Wi-Fi card, use a build with libnl-genl-3-dev";
  throw EnvironmentError(Called(interface) +
                         ": the kernel cannot move this kind of interface into a node; " + remedy +
                         " (" + error.what() + ")");
}

// Sets the MAC address, MTU and offloads of a physical interface as the node requires. The
// interface must be down and in the node.
void Adapt(sys::Netlink& inside, int namespace_fd, const Node& node, const Interface& interface) {
  const sys::LinkInfo link = inside.GetLink(interface.name);
  if (interface.mac != wire::MacAddress() && interface.mac != link.mac) {
    inside.SetMac(link.ifindex, interface.mac);
  }
  if (interface.mtu != link.mtu) inside.SetMtu(link.ifindex, interface.mtu);
  if (!node.data_plane->layout.keeps_offloads) {
    sys::DisableOffloads(namespace_fd, interface.name, sys::Offloads::kAll);
  }
}

// Checks the physical interfaces of nodes, one after the other.
class PhysicalChecks {
 public:
  PhysicalChecks(const std::string& root, sys::WirelessCards& cards)
      : root_(root), cards_(cards), parts_(cards.Interfaces(here_.get())) {}

  void Check(const Node& node, const std::string& interface) {
    CheckPhysical(host_, root_, interface);
    const sys::CardInterface* part = FindPart(parts_, interface);
    if (part == nullptr) return;
    const auto [owner, fresh] = owners_.emplace(part->card, std::pair(node.name, interface));
    const auto& [other_node, other_interface] = owner->second;
    if (other_node != node.name) {
      throw UsageError(Called(interface) + " of node " + node.name + " is on the same Wi-Fi card " +
                       "as " + other_interface + " of node " + other_node +
                       "; the interfaces of a card can only move together: assign both interfaces "
                       "to the same node");
    }
    if (!fresh) return;
    CheckCard(cards_, here_.get(), *part);
    CheckCompanions(*part);
  }

 private:
  void CheckCompanions(const sys::CardInterface& asked) {
    for (const sys::CardInterface& part : parts_) {
      if (part.card != asked.card || part.id == asked.id) continue;
      if (const auto link = host_.FindLink(part.ifindex)) {
        CheckFree(host_, *link, CalledCompanion(asked.name, part.name));
      }
    }
  }

  const std::string& root_;
  sys::WirelessCards& cards_;
  const UniqueFd here_ = sys::OpenCurrentNamespace();
  const std::vector<sys::CardInterface> parts_;
  sys::Netlink host_;
  // The node and interface that first requested a card; the key is the card's number.
  std::map<uint32_t, std::pair<std::string, std::string>> owners_;
};

}  // namespace

bool HasPhysical(const Node& node) {
  return std::ranges::any_of(
      node.interfaces, [](const Interface& interface) { return interface.physical.has_value(); });
}

void CheckPhysicals(const Topology& topology, const std::string& root, sys::WirelessCards& cards) {
  if (std::ranges::none_of(topology.nodes, HasPhysical)) return;
  PhysicalChecks checks(root, cards);
  for (const Node& node : topology.nodes) {
    for (const Interface& interface : node.interfaces) {
      if (interface.physical) checks.Check(node, *interface.physical);
    }
  }
}

// The node into which physical interfaces are moved, and the node's namespace.
struct PhysicalMover::Place {
  const Node& node;
  const std::string& name;
  int fd;
  sys::Netlink& netlink;
};

PhysicalMover::PhysicalMover(std::string root, sys::OwnEntry* record, sys::WirelessCards* cards)
    : root_(std::move(root)),
      record_(*record),
      cards_(*cards),
      here_(sys::OpenCurrentNamespace()),
      parts_(cards_.Interfaces(here_.get())) {}

void PhysicalMover::MoveIn(const Node& node, const std::string& name, int namespace_fd,
                           sys::Netlink& inside) {
  const Place place{node, name, namespace_fd, inside};
  std::set<uint32_t> moved;
  for (const Interface& interface : node.interfaces) {
    if (!interface.physical) continue;
    const sys::CardInterface* part = FindPart(parts_, *interface.physical);
    if (part == nullptr) {
      MoveAlone(place, interface);
    } else if (moved.insert(part->card).second) {
      MoveCard(place, part->card);
    }
  }
}

void PhysicalMover::Record(const Place& place, const sys::LinkInfo& link,
                           const std::string& inner_name, const sys::CardInterface* part) {
  RecordedPhysical physical{link.name,
                            place.name,
                            inner_name,
                            link.up,
                            link.mtu,
                            link.mac.ToString(),
                            sys::ActiveOffloads(here_.get(), link.name, sys::Offloads::kAll),
                            std::nullopt};
  if (part != nullptr) physical.card = {part->card, part->id};
  record_.Write(physical.Line());
}

void PhysicalMover::MoveAlone(const Place& place, const Interface& interface) {
  const sys::LinkInfo link = CheckPhysical(host_, root_, *interface.physical);
  Record(place, link, interface.name, nullptr);
  host_.SetUp(link.ifindex, false);
  try {
    host_.MoveLink(link.ifindex, place.fd, interface.name);
  } catch (const SystemError& error) {
    if (link.up && host_.FindLink(link.ifindex)) host_.SetUp(link.ifindex, true);
    if (error.error_number() == EINVAL) ThrowNotMoved(link.name, error);
    throw;
  }
  Adapt(place.netlink, place.fd, place.node, interface);
}

// Records all interfaces of a card. Returns the names in the node of those interfaces that the node
// requests.
CardNames PhysicalMover::RecordCard(const Place& place, uint32_t card) {
  CardNames names;
  for (const sys::CardInterface& part : parts_) {
    if (part.card != card) continue;
    const Interface* interface = FindAsked(place.node, part.name);
    const sys::LinkInfo link = CheckPhysical(host_, root_, part.name);
    Record(place, link, interface == nullptr ? part.name : interface->name, &part);
    if (interface != nullptr) names[part.id] = interface->name;
  }
  return names;
}

void PhysicalMover::MoveCard(const Place& place, uint32_t card) {
  CardNames names = RecordCard(place, card);
  cards_.Move(card, here_.get(), place.fd);
  std::vector<sys::CardInterface> moved = cards_.Interfaces(place.fd);
  std::erase_if(moved, [&](const sys::CardInterface& each) { return each.card != card; });
  for (const sys::CardInterface& part : moved) {
    // The name that the kernel has chosen may be required for another card's interface.
    const auto before = std::ranges::find(parts_, part.id, &sys::CardInterface::id);
    if (before == parts_.end() || before->name != part.name) names.emplace(part.id, "");
  }
  NameCardInterfaces(place.netlink, moved, names);
  for (const Interface& interface : place.node.interfaces) {
    const sys::CardInterface* part =
        interface.physical ? FindPart(parts_, *interface.physical) : nullptr;
    if (part != nullptr && part->card == card) {
      Adapt(place.netlink, place.fd, place.node, interface);
    }
  }
}

}  // namespace viaduct::lab
