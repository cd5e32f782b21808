// Fuzzes the rings of a guest's sockets. Whatever bytes the guest writes into the rings, and at any
// time, this process must read and write no memory except the rings' memory, and no event may have
// more than kMaxPiece bytes of data.
//
// The input is a sequence of steps. Each step writes bytes at a place and then runs an action of
// this process.
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
  uint8_t length;  // the number of bytes to write into the rings
  uint8_t put;     // the number of kilobytes to send
};

// Returns the offset to which a step writes: mostly in the heads and tails, or in the first records
// of the ring of events.
size_t PlaceOf(const Step& step) {
  constexpr size_t kEvents = SocketRing::kControl + SocketRing::kRing;
  switch (step.place % 4) {
    case 0:
      return step.place / 4 % 80;
    case 1:
      return SocketRing::kSize - 1 - step.place / 4;  // from the end of the ring of events
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
  // The memory of the rings, whose bounds AddressSanitizer checks.
  std::vector<std::byte> memory(SocketRing::kSize);
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
  } catch (const Error&) {  // the guest's bytes are invalid
  }
  return 0;
}
