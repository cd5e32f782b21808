// The part of a SPEC by which a link begins in a network behind a NAT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace viaduct::path {

struct NatSpec {
  // The bindings are replaced after `first` (default: `rebind`), and every `rebind` from then on.
  std::optional<Duration> rebind, first;
  // Distinguishes SPECs: a live change to another number replaces the bindings.
  uint64_t id = 0;
  friend bool operator==(const NatSpec&, const NatSpec&) = default;

  // Throws UsageError if the values contradict each other.
  void Check() const;
};

// "port", "port:rebind=5s,first=1s", "port:id=2". Throws UsageError.
NatSpec ParseNat(std::string_view value);
std::string FormatNat(const NatSpec& nat);

}  // namespace viaduct::path
