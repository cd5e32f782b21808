// The smallest forwarding program, as an example: a repeater, which sends each frame to all ports
// except the port of its arrival.
#pragma once

#include <array>
#include <string_view>

#include "plane/forward/program.h"

namespace viaduct::forward {

class Hub {
 public:
  static constexpr std::array<std::string_view, 1> kOutcomes = {"forwarded"};
  static constexpr std::string_view kFilter = "";
  static constexpr bool kPromiscuous = true;

  explicit Hub(const Node&) {}

  size_t Take(const Frame& frame, Outbox& outbox) {
    outbox.Flood(frame.port, frame.bytes);
    return 0;
  }
};

}  // namespace viaduct::forward
