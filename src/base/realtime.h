// The wall clock.
#pragma once

#include <ctime>

#include "base/time.h"

namespace viaduct {

// Reads CLOCK_REALTIME, with which the kernel stamps frames. The clock may be set, also backwards.
inline Instant RealtimeNow() {
  timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return Instant::FromNanoseconds(ts.tv_sec * 1000000000LL + ts.tv_nsec);
}

}  // namespace viaduct
