// Fuzzes the schedule that guests share with their calendar. Whatever bytes the guests write into
// the schedule, and at any time, the calendar must read no memory except the schedule's memory, and
// no more queues than a guest may name.
//
// The input is a sequence of steps. Each step writes bytes at an offset and then runs an action of
// the calendar.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/fd.h"
#include "guest/time/shared_schedule.h"
#include "guest/virtio/shared_mapping.h"

namespace {

using namespace viaduct;
using namespace viaduct::guest;

constexpr uint16_t kGuests = 3;
constexpr size_t kMapped = 8192;

struct Step {
  uint16_t offset;
  uint8_t slot;
  uint8_t length;  // the number of bytes to write
};

// Makes the accesses to the schedule that the calendar makes for one run of a guest.
void Exercise(SharedSchedule& schedule, uint16_t slot) {
  const SharedSchedule::Use use = schedule.UseOf(slot);
  if (!use.time && (use.queues || use.doorbells)) __builtin_trap();
  (void)schedule.Request(slot);
  (void)schedule.CurrentTime();
  const auto kicks = schedule.TakeKicks(slot);
  if (kicks && kicks->size() > SharedSchedule::kMaxQueues) __builtin_trap();
  schedule.ClearRequest(slot);
  schedule.SetCalls(slot, std::vector<uint16_t>(slot));
  schedule.LetRun(slot, true);
  (void)schedule.AwaitWait(slot, 0, Duration::Nanoseconds(1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto rest = std::as_bytes(std::span(data, size));
  SharedSchedule schedule(kGuests);
  const UniqueFd fd(dup(schedule.memory_fd()));
  const SharedMapping guests(fd, kMapped);
  Step step;
  while (rest.size() >= sizeof step) {
    std::memcpy(&step, rest.data(), sizeof step);
    rest = rest.subspan(sizeof step);
    const size_t offset = step.offset % kMapped;
    const size_t length = std::min({size_t{step.length}, rest.size(), kMapped - offset});
    std::memcpy(guests.start() + offset, rest.data(), length);
    rest = rest.subspan(length);
    Exercise(schedule, static_cast<uint16_t>(1 + step.slot % kGuests));
    if (guests.lost()) __builtin_trap();
  }
  return 0;
}
