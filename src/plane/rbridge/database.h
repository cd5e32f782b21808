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
  // The durations that ISO 10589 specifies for LSPs, which RFC 6325 does not change.
  struct Ages {
    Duration lifetime = Duration::Seconds(1200);  // lifetime of an LSP from its origination
    Duration refresh = Duration::Seconds(900);    // time after which own LSPs are originated again
    Duration withdrawn = Duration::Seconds(60);   // time until withdrawn LSPs are forgotten
  };

  Database(const SystemId& self, const Ages& ages) : self_(self), ages_(ages) {}

  // The result of comparing a received LSP, or a sequence numbers PDU's line about an LSP, with the
  // known LSP.
  enum class Verdict {
    kNewer,  // newer than the known LSP, and stored by Receive()
    kSame,
    kOlder,  // the known LSP is newer: the sender should receive it
    // A newer LSP of this RBridge itself, from before a restart: the LSP has been originated again
    // with a higher sequence number, or withdrawn.
    kOwn,
  };
  Verdict Receive(const Lsp& lsp, Instant now);
  // Compares an LSP with the known LSP, without storing it. Returns kNewer also if no LSP of this
  // identifier is known.
  Verdict Compare(const LspEntry& entry, Instant now) const;

  // Sets the content of this RBridge's LSPs. Returns the fragments that have changed, which must be
  // flooded.
  std::vector<LspId> Originate(const LspContent& content, Instant now);
  // Withdraws LSPs that have become too old, forgets LSPs that were withdrawn long ago, and
  // originates own LSPs again when their time has come. Returns the LSPs that must be flooded.
  std::vector<LspId> Age(Instant now);

  // Returns the LSP with its remaining lifetime, also if it is withdrawn (lifetime 0). The LSP must
  // be known.
  Lsp Get(const LspId& id, Instant now) const;
  bool Knows(const LspId& id) const { return lsps_.contains(id); }
  // Returns the line of a request for an LSP: the line of the known LSP, or, if none is known, a
  // line with the sequence number 0.
  LspEntry EntryFor(const LspId& id, Instant now) const;

  // Returns all known LSPs, as the lines of at least one complete sequence numbers PDU.
  std::vector<SequenceNumbers> Summary(Instant now) const;
  // The differences between the database and a received sequence numbers PDU: LSPs that must be
  // sent to the sender, and LSPs of which the sender has a newer version.
  struct Difference {
    std::vector<LspId> to_send, to_request;
  };
  Difference CompareAll(const SequenceNumbers& numbers, Instant now) const;

  // Returns the content of each RBridge's valid LSPs; leaves out an RBridge without its first
  // fragment, which identifies the RBridge.
  std::map<SystemId, LspContent> Contents() const;

 private:
  struct Stored {
    Lsp lsp;
    Instant expires;  // for a withdrawn LSP, the time at which it is forgotten
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
  std::map<uint8_t, Instant> refresh_at_;  // keyed by the number of the own fragment
};

}  // namespace viaduct::rbridge
