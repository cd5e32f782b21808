// Where terminals are: what frames teach, what RBridges announce, and when it is forgotten (RFC
// 6325 section 4.8). Of what contradicts itself the latest news counts, so a terminal that moves is
// found at its new place with its first frame, or with the first LSP about it.
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
  // A terminal that is silent for so many epochs is forgotten.
  static constexpr uint32_t kSilentEpochs = 4;

  // Keeps `tables.terminals`; the tables must outlive this.
  explicit Terminals(Tables& tables) : tables_(tables) {}

  // The functions that return bool say whether the terminals of this RBridge's own links have
  // changed, so that it has something else to announce.

  // Of Forward(). A table that is full stays as it is: frames to the terminal are flooded.
  bool Learn(const Seen& seen);
  // What the other RBridges announce, and which are in reach at which index (Routes::Reachable()).
  // Terminals of those out of reach are forgotten.
  bool Update(const LinkStates& states, const std::map<SystemId, RBridgeIndex>& reachable);
  // The port serves no terminals any more.
  bool ForgetPort(PortIndex port);
  // Begins an epoch (Tables::epoch), and forgets terminals that were silent.
  bool NextEpoch();

  // Of this RBridge's own links, sorted.
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
