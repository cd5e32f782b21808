// The ports of flows, the same in every mode.
#pragma once

#include <cstddef>
#include <cstdint>

#include "scenario/scenario.h"

namespace viaduct::scenario {

// The receiver's port of the flow with this index; a ping has none.
constexpr uint16_t PortOf(const Flow& flow, size_t index) {
  constexpr uint16_t kFirstUdp = 5001;
  constexpr uint16_t kFirstTcp = 5201;  // iperf3's own
  return static_cast<uint16_t>((flow.kind == Flow::Kind::kTcp ? kFirstTcp : kFirstUdp) + index);
}

}  // namespace viaduct::scenario
