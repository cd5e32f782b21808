// The machine's own interfaces that a lab moves into its nodes. All interfaces of a Wi-Fi card move
// together, also those that the topology does not name (sys/card/wireless_cards.h).
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "lab/card_names.h"
#include "lab/record.h"
#include "lab/topology.h"
#include "sys/card/wireless_cards.h"
#include "sys/network/link.h"

namespace viaduct::lab {

bool HasPhysical(const Node& node);

// Finds the topology's physical interfaces in the calling thread's namespace. Throws UsageError if
// the lab cannot have one: it does not exist, another lab (of the records in `root`) has it, the
// machine itself uses it or another interface of its card, or nodes share a card. Throws
// EnvironmentError if the driver of a card cannot move it.
void CheckPhysicals(const Topology& topology, const std::string& root, sys::WirelessCards& cards);

// Records physical interfaces and moves them from the calling thread's namespace into nodes.
// PhysicalReturns() moves them back, also after an error.
class PhysicalMover {
 public:
  // `record` and `cards` are not owned; `root` is the folder of all labs' records.
  PhysicalMover(std::string root, sys::OwnEntry* record, sys::WirelessCards* cards);

  // Moves the interfaces of one node, whose namespace has the given name, descriptor and session.
  // The interfaces are down afterwards, with the node's names, MTUs, MAC addresses and offloads.
  // Throws as CheckPhysicals() does, and SystemError.
  void MoveIn(const Node& node, const std::string& name, int namespace_fd, sys::Netlink& inside);

 private:
  struct Place;
  void MoveAlone(const Place& place, const Interface& interface);
  CardNames RecordCard(const Place& place, uint32_t card);
  void MoveCard(const Place& place, uint32_t card);
  void Record(const Place& place, const sys::LinkInfo& link, const std::string& inner_name,
              const sys::CardInterface* part);

  const std::string root_;
  sys::OwnEntry& record_;
  sys::WirelessCards& cards_;
  const UniqueFd here_;
  // The interfaces of all cards, before any was moved.
  const std::vector<sys::CardInterface> parts_;
  sys::Netlink host_;
};

}  // namespace viaduct::lab
