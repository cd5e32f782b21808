// The link-state database of an RBridge: every RBridge's LSPs, their order of age, and their
// lifetimes (ISO 10589 section 7.3.16). The caller passes the time, and floods the LSPs.
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
  // The values of ISO 10589, which RFC 6325 does not change.
  struct Ages {
    Duration lifetime = Duration::Seconds(1200);  // after an LSP's origination
    Duration refresh = Duration::Seconds(900);    // own LSPs are originated again after this
    Duration withdrawn = Duration::Seconds(60);   // withdrawn LSPs are remembered until this
  };

  Database(const SystemId& self, const Ages& ages) : self_(self), ages_(ages) {}

  // The result for a received LSP, or for a line about one.
  enum class Verdict {
    kNewer,  // newer than the known LSP, and stored by Receive()
    kSame,
    kOlder,  // the known LSP is newer: the sender should have it
    // A newer LSP of this RBridge itself, from before a restart: it has been originated again with
    // a higher number, or withdrawn.
    kOwn,
  };
  Verdict Receive(const Lsp& lsp, Instant now);
  // Compares only. Returns kNewer also if no such LSP is known.
  Verdict Compare(const LspEntry& entry, Instant now) const;

  // Sets the content of this RBridge's LSPs. Returns the fragments that have changed, which must be
  // flooded.
  std::vector<LspId> Originate(const LspContent& content, Instant now);
  // Withdraws LSPs that have become too old, forgets LSPs that were withdrawn long ago, originates
  // own LSPs again that are due. Returns the LSPs that must be flooded.
  std::vector<LspId> Age(Instant now);

  // Returns the LSP with its remaining lifetime; withdrawn (lifetime 0) ones too. Must be known.
  Lsp Get(const LspId& id, Instant now) const;
  bool Knows(const LspId& id) const { return lsps_.contains(id); }
  // Returns the line of a request for an LSP: of the known LSP, or with the number 0.
  LspEntry EntryFor(const LspId& id, Instant now) const;

  // Returns all known LSPs, as complete sequence numbers PDUs: one at least.
  std::vector<SequenceNumbers> Summary(Instant now) const;
  // The LSPs that the sender of sequence numbers should have, and those that it has newer.
  struct Difference {
    std::vector<LspId> to_send, to_request;
  };
  Difference CompareAll(const SequenceNumbers& numbers, Instant now) const;

  // Returns the content of each RBridge's valid LSPs; an RBridge without its first fragment, which
  // identifies it, is left out.
  std::map<SystemId, LspContent> Contents() const;

 private:
  struct Stored {
    Lsp lsp;
    Instant expires;  // withdrawn: time at which it is forgotten
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
  std::map<uint8_t, Instant> refresh_at_;  // keyed by own fragment
};

}  // namespace viaduct::rbridge
