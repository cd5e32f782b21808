// What a loop does last, so that each frame that came before its end is in the statistics.
#include <algorithm>

#include "path/engine/loop.h"

namespace viaduct::engine {
namespace {

// How long the end may take, where frames come without an end or the far ports have no room.
constexpr Duration kMaxEndDuration = Duration::Milliseconds(100);
constexpr Duration kEndRetry = Duration::Microseconds(20);

}  // namespace

// Everything that waits at the ports enters.
void Loop::ReadWhatWaits(Instant until) {
  for (Receiver& receiver : receivers_) {
    Instant looked = clock_.Now();
    do {
      receiver.emptied = TakeBurst(receiver, looked);
    } while (!receiver.emptied && clock_.Now() < until);
  }
  for (Group& group : groups_) {
    if (group.receivers.empty()) continue;
    // All have been read, so that none of their frames has to wait for an earlier one.
    for (const Arrival& arrival : group.arrivals) {
      for (const uint32_t each : group.receivers) {
        receivers_[each].searched = std::max(receivers_[each].searched, arrival.at);
      }
    }
    LookAt(group);
  }
  UpdateTouched();
}

void Loop::End() {
  const Instant until = clock_.Now() + kMaxEndDuration;
  ReadWhatWaits(until);
  Turn();  // what is due leaves
  for (int i = 0;
       i < kMaxEndDuration / kEndRetry && retry_ != Instant::Never() && clock_.Now() < until; ++i) {
    waiter_.Sleep(kEndRetry);
    Turn();
  }
}

}  // namespace viaduct::engine
