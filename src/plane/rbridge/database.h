// The link-state database of an RBridge: every RBridge's LSPs, which is newer, and how old each may
// get (ISO 10589 section 7.3.16). Time is passed in; flooding is the caller's.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/time.h"
#include "plane/rbridge/isis.h"
#include "plane/rbridge/lsp_content.h"

namespace viaduct::rbridge {

class Database {
 public:
  // RFC 6325 leaves ISO 10589's values.
  struct Ages {
    Duration lifetime = Duration::Seconds(1200);  // of an LSP after its origination
    Duration refresh = Duration::Seconds(900);    // own ones are originated again after this
    Duration withdrawn = Duration::Seconds(60);   // how long a withdrawn one is remembered
  };

  Database(const SystemId& self, const Ages& ages) : self_(self), ages_(ages) {}

  // What came of an LSP, or of a line about one.
  enum class Verdict {
    kNewer,  // it is newer than what was known, and is known now
    kSame,
    kOlder,  // what is known is newer: the sender should have it
    // A newer one of this RBridge's own, from before a restart: it has been originated again with a
    // higher number, or withdrawn.
    kOwn,
  };
  Verdict Receive(const Lsp& lsp, Instant now);
  // Compares only. kNewer also if nothing is known.
  Verdict Compare(const LspEntry& entry, Instant now) const;

  // Sets what this RBridge says. Returns the fragments that have changed, which have to be flooded.
  std::vector<LspId> Originate(const LspContent& content, Instant now);
  // Withdraws what has become too old, forgets what was withdrawn long ago, originates own LSPs
  // again that are due. Returns what has to be flooded.
  std::vector<LspId> Age(Instant now);

  // The LSP with its remaining lifetime; withdrawn (lifetime 0) ones too. Must be known.
  Lsp Get(const LspId& id, Instant now) const;
  bool Knows(const LspId& id) const { return lsps_.contains(id); }
  // The lines of a request for LSPs: what is known of each, or the number 0.
  LspEntry EntryFor(const LspId& id, Instant now) const;

  // All that is known, as complete sequence numbers PDUs: one at least.
  std::vector<SequenceNumbers> Summary(Instant now) const;
  // What the sender of sequence numbers should have, and what it has that is newer.
  struct Difference {
    std::vector<LspId> to_send, to_request;
  };
  Difference CompareAll(const SequenceNumbers& numbers, Instant now) const;

  // What an RBridge says in its valid LSPs; nothing without its first fragment, which says who it
  // is.
  std::map<SystemId, LspContent> Contents() const;

 private:
  struct Stored {
    Lsp lsp;
    Instant expires;  // withdrawn: when it is forgotten
    bool withdrawn = false;
  };

  uint16_t LifetimeOf(const Stored& stored, Instant now) const;
  void Store(const Lsp& lsp, Instant now);
  void Withdraw(Stored& stored, Instant now) const;
  void OriginateFragment(uint8_t fragment, const Octets& tlvs, Instant now);
  bool IsOwn(const LspId& id) const { return id.system == self_; }

  const SystemId self_;
  const Ages ages_;
  std::map<LspId, Stored> lsps_;
  std::map<uint8_t, Instant> refresh_at_;  // by own fragment
};

}  // namespace viaduct::rbridge
