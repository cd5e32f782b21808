// Dates and times in the format that results use.
#pragma once

#include <ctime>
#include <string>

namespace viaduct {

// Returns a time in the format ISO 8601, in UTC, to the second: "2026-01-31T23:59:59Z".
std::string FormatUtc(std::time_t time);
// Returns the current time (CLOCK_REALTIME) in the format of FormatUtc().
std::string UtcNow();

}  // namespace viaduct
