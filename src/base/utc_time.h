// Dates in the format of results and records.
#pragma once

#include <ctime>
#include <string>

namespace viaduct {

// Returns ISO 8601 in UTC to the second: "2026-01-31T23:59:59Z".
std::string FormatUtc(std::time_t time);
// Returns the current time (CLOCK_REALTIME) in this format.
std::string UtcNow();

}  // namespace viaduct
