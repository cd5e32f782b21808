// Conversion to the kernel's struct timespec.
#pragma once

#include <ctime>

#include "base/time.h"

namespace viaduct {

// Converts a duration, which must not be negative.
constexpr timespec ToTimespec(Duration duration) {
  return {duration.nanoseconds() / 1'000'000'000, duration.nanoseconds() % 1'000'000'000};
}

constexpr Duration FromTimespec(const timespec& time) {
  return Duration::Seconds(time.tv_sec) + Duration::Nanoseconds(time.tv_nsec);
}

}  // namespace viaduct
