// The NAT of a SPEC: the direction with this SPEC begins in a network behind the NAT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace viaduct::path {

struct NatSpec {
  // The bindings are replaced for the first time after `first` (default: `rebind`), and then at
  // intervals of `rebind`.
  std::optional<Duration> rebind, first;
  // A number that distinguishes SPECs: a live change to another number replaces the bindings.
  uint64_t id = 0;
  friend bool operator==(const NatSpec&, const NatSpec&) = default;

  // Throws UsageError if the parameters contradict each other.
  void Check() const;
};

// Parses "port", "port:rebind=5s,first=1s" or "port:id=2". Throws UsageError if the value is not
// valid.
NatSpec ParseNat(std::string_view value);
std::string FormatNat(const NatSpec& nat);

}  // namespace viaduct::path
