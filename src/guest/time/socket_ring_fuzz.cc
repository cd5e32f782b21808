// Fuzzes the rings of a guest's sockets: whatever the guest writes into them, and at any time, this
// process reads and writes no memory but the rings', and no event has more than a piece of data.
//
// The input is a row of steps: bytes that are written at a place, then an action of this process.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "guest/time/socket_ring.h"

namespace {

using namespace viaduct;
using namespace viaduct::guest;

struct Step {
  uint16_t place;
  uint8_t length;  // bytes to write
  uint8_t put;     // bytes to send
};

// Returns the place that a step writes to: mostly the heads and tails, or the first records of the
// events.
size_t PlaceOf(const Step& step) {
  constexpr size_t kEvents = SocketRing::kControl + SocketRing::kRing;
  switch (step.place % 4) {
    case 0:
      return step.place / 4 % 80;
    case 1:
      return SocketRing::kSize - 1 - step.place / 4;  // the ring's end
    default:
      return kEvents + step.place / 4;
  }
}

void Exercise(SocketRing& ring, const Step& step) {
  const std::vector<std::byte> payload(size_t{step.put} * 1000);
  ring.Put({SocketOperation::Code::kSend, 1, 0, false, false}, {payload});
  ring.Take([](const SocketEvent& event) {
    if (event.bytes.size() > SocketRing::kMaxPiece) __builtin_trap();
    if (event.code != SocketEvent::Code::kData && !event.bytes.empty()) __builtin_trap();
    if (event.code == SocketEvent::Code::kData && event.value > SocketRing::kMaxPiece)
      __builtin_trap();
  });
  (void)ring.Refill();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto rest = std::as_bytes(std::span(data, size));
  std::vector<std::byte> memory(SocketRing::kSize);  // AddressSanitizer knows its bounds
  SocketRing ring(memory.data());
  Step step;
  try {
    while (rest.size() >= sizeof step) {
      std::memcpy(&step, rest.data(), sizeof step);
      rest = rest.subspan(sizeof step);
      const size_t place = PlaceOf(step);
      const size_t length = std::min({size_t{step.length}, rest.size(), memory.size() - place});
      std::memcpy(memory.data() + place, rest.data(), length);
      rest = rest.subspan(length);
      Exercise(ring, step);
    }
  } catch (const Error&) {  // the result of a guest's invalid bytes
  }
  return 0;
}
