// The locations of terminals, learned from frames and from RBridges' announcements, and forgotten
// after a time (RFC 6325 section 4.8). If observations contradict each other, the latest counts: a
// terminal that moves is known at its new location as soon as it sends a frame there, or an LSP
// announces it there.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plane/rbridge/forward.h"
#include "plane/rbridge/routes.h"
#include "plane/rbridge/tables.h"

namespace viaduct::rbridge {

class Terminals {
 public:
  // The number of silent epochs after which a terminal that no RBridge announces is forgotten.
  static constexpr uint32_t kSilentEpochs = 4;

  // Maintains `tables.terminals`; the tables must outlive this object.
  explicit Terminals(Tables& tables) : tables_(tables) {}

  // All functions that return bool return whether the set of terminals on this RBridge's own links
  // has changed; if so, the RBridge's announcement changes.

  // Learns the location of a terminal that Forward() has seen. If the table is full, it remains
  // unchanged, and frames to the terminal are flooded.
  bool Learn(const Seen& seen);
  // Updates the announcements of the other RBridges, and the indices of reachable RBridges
  // (Routes::Reachable()). Forgets the terminals of unreachable RBridges.
  bool Update(const LinkStates& states, const std::map<SystemId, RBridgeIndex>& reachable);
  // Forgets the terminals of a port, which no longer serves terminals.
  bool ForgetPort(PortIndex port);
  // Begins a new epoch (Tables::epoch), and forgets terminals that have been silent for
  // kSilentEpochs.
  bool NextEpoch();

  // Returns the terminals of this RBridge's own links, sorted.
  std::vector<TerminalKey> Local() const;

 private:
  using Keys = std::set<TerminalKey>;
  struct Announcer {
    RBridgeIndex index = kNone;  // kNone: the RBridge is unreachable
    Keys keys;
  };

  template <class Predicate>
  void EraseIf(Predicate predicate);
  void Announce(Announcer& announcer, const Keys& keys, bool returned);
  void FindAgain(TerminalKey key);
  bool IsAnnounced(const TerminalTable::Entry& entry) const;

  Tables& tables_;
  std::map<SystemId, Announcer> announcers_;
  bool local_changed_ = false;
};

}  // namespace viaduct::rbridge
