#include <array>

#include "bpf/forwarder.h"

namespace viaduct::bpf {

const char* OutcomeName(viaduct_outcome outcome) {
  static constexpr std::array<const char*, VIADUCT_OUTCOMES> kNames = {
      "forwarded",    "not-ip",         "not-unicast", "unusual-header",
      "own-source",   "ttl-expires",    "exceeds-mtu", "local-or-no-route",
      "no-neighbour", "same-interface", "not-a-wire"};
  return kNames.at(outcome);
}

}  // namespace viaduct::bpf
