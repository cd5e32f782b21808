// The content of an RBridge's LSPs: the information that the RBridge announces about itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plane/rbridge/isis.h"
#include "plane/rbridge/tables.h"

namespace viaduct::rbridge {

struct LspContent {
  struct Claim {
    Nickname nickname = kNoNickname;
    uint8_t priority = 0;  // priority for keeping the nickname if another RBridge claims it
    // The priority for becoming the root of a distribution tree; 0: never.
    uint16_t root_priority = 0;
    friend auto operator<=>(const Claim&, const Claim&) = default;
  };
  struct Neighbour {
    SystemId system;
    uint32_t metric = 0;  // 24 bits
    friend auto operator<=>(const Neighbour&, const Neighbour&) = default;
  };
  std::optional<Claim> claim;
  uint16_t trees = 0;      // number of trees to compute if this RBridge has the highest priority
  uint16_t max_trees = 0;  // maximum number of trees that this RBridge can compute
  std::vector<Neighbour> neighbours;
  std::vector<TerminalKey> terminals;  // terminals on this RBridge's links

  friend bool operator==(const LspContent&, const LspContent&) = default;
};

// Returns the TLVs of each fragment, in the fragments' order; at least one fragment, at most 256
// (content that does not fit is left out: 52,000 terminals fit). The same content gives the same
// bytes.
std::vector<Octets> WriteFragments(const SystemId& self, const LspContent& content);

// Adds the content of a fragment to `content`. Returns false, with nothing added, if the fragment's
// TLVs are malformed. Unknown TLVs are skipped.
bool ReadFragment(std::span<const std::byte> tlvs, LspContent& content);

}  // namespace viaduct::rbridge
