// The last step of a loop: each frame that arrived before the loop ends is included in the
// statistics.
#include <algorithm>

#include "path/engine/loop.h"

namespace viaduct::engine {
namespace {

// The maximum duration of a loop's last step. It applies if frames keep arriving at a port, or if a
// far port is full.
constexpr Duration kMaxEndDuration = Duration::Milliseconds(100);
constexpr Duration kEndRetry = Duration::Microseconds(20);

}  // namespace

// Reads all frames that wait at the ports into the pipelines.
void Loop::ReadWhatWaits(Instant until) {
  for (Receiver& receiver : receivers_) {
    Instant looked = clock_.Now();
    do {
      receiver.emptied = TakeBurst(receiver, looked);
    } while (!receiver.emptied && clock_.Now() < until);
  }
  for (Group& group : groups_) {
    if (group.receivers.empty()) continue;
    // All receivers of the group have been read, so that none of their frames has to wait for an
    // earlier frame.
    for (const Arrival& arrival : group.arrivals) {
      for (const uint32_t each : group.receivers) {
        receivers_[each].searched = std::max(receivers_[each].searched, arrival.at);
      }
    }
    PollGroup(group);
  }
  UpdateTouched();
}

void Loop::End() {
  const Instant until = clock_.Now() + kMaxEndDuration;
  ReadWhatWaits(until);
  Turn();  // sends the frames that are due
  for (int i = 0;
       i < kMaxEndDuration / kEndRetry && retry_ != Instant::Never() && clock_.Now() < until; ++i) {
    waiter_.Sleep(kEndRetry);
    Turn();
  }
}

}  // namespace viaduct::engine
