// The content of an RBridge's LSPs: its information about itself.
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
    uint8_t priority = 0;  // for keeping it if another RBridge has it too
    // Priority for being the root of a distribution tree; 0: never.
    uint16_t root_priority = 0;
    friend auto operator<=>(const Claim&, const Claim&) = default;
  };
  struct Neighbour {
    SystemId system;
    uint32_t metric = 0;  // 24 bits
    friend auto operator<=>(const Neighbour&, const Neighbour&) = default;
  };
  std::optional<Claim> claim;
  uint16_t trees = 0;      // number that all compute if this RBridge has the highest root priority
  uint16_t max_trees = 0;  // maximum that it can compute
  std::vector<Neighbour> neighbours;
  std::vector<TerminalKey> terminals;  // on its links

  friend bool operator==(const LspContent&, const LspContent&) = default;
};

// Returns the TLVs of each fragment, in their order; one at least, 256 at most (content that does
// not fit is left out: 52,000 terminals fit). The same content gives the same bytes.
std::vector<Octets> WriteFragments(const SystemId& self, const LspContent& content);

// Adds the content of a fragment. Returns false, with nothing added, if its TLVs contradict
// themselves. Unknown TLVs are skipped.
bool ReadFragment(std::span<const std::byte> tlvs, LspContent& content);

}  // namespace viaduct::rbridge
