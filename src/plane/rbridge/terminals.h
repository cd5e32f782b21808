// The locations of terminals, learned from frames and from RBridges' announcements, and forgotten
// after a time (RFC 6325 section 4.8). Among contradictions the latest counts, so a terminal that
// moves is found at its new place with its first frame, or with the first LSP about it.
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

  // Maintains `tables.terminals`; the tables must outlive this.
  explicit Terminals(Tables& tables) : tables_(tables) {}

  // The functions that return bool return whether the terminals of this RBridge's own links have
  // changed, so that its announcement changes.

  // Learns a terminal that Forward() has seen. A table that is full does not change: frames to the
  // terminal are flooded.
  bool Learn(const Seen& seen);
  // Updates the announcements of the other RBridges, and the indices of RBridges in reach
  // (Routes::Reachable()). Terminals of RBridges out of reach are forgotten.
  bool Update(const LinkStates& states, const std::map<SystemId, RBridgeIndex>& reachable);
  // Forgets the terminals of a port, which no longer serves any.
  bool ForgetPort(PortIndex port);
  // Begins an epoch (Tables::epoch), and forgets terminals that were silent.
  bool NextEpoch();

  // Returns the terminals of this RBridge's own links, sorted.
  std::vector<TerminalKey> Local() const;

 private:
  using Keys = std::set<TerminalKey>;
  struct Announcer {
    RBridgeIndex index = kNone;  // kNone: out of reach
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
