#include <array>

#include "plane/bpf/forward_program.h"
#include "plane/bpf/joiner.h"

namespace viaduct::bpf {

const char* OutcomeName(viaduct_outcome outcome) {
  static constexpr std::array<const char*, VIADUCT_OUTCOMES> kNames = {
      "forwarded",    "not-ip",         "not-unicast", "unusual-header",
      "own-source",   "ttl-expires",    "exceeds-mtu", "local-or-no-route",
      "no-neighbour", "same-interface", "not-a-wire"};
  return kNames.at(outcome);
}

const char* OutcomeName(viaduct_join_outcome outcome) {
  static constexpr std::array<const char*, VIADUCT_JOIN_OUTCOMES> kNames = {
      "joined",      "not-ip",      "other-mac", "unusual-header",  "not-looked-for", "by-hop",
      "ttl-expires", "exceeds-mtu", "segments",  "path-mtu-unsure", "own-source"};
  return kNames.at(outcome);
}

}  // namespace viaduct::bpf
