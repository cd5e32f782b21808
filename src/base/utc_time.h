// Dates in results and records.
#pragma once

#include <ctime>
#include <string>

namespace viaduct {

// ISO 8601 in UTC to the second: "2026-01-31T23:59:59Z".
std::string FormatUtc(std::time_t time);
// The same of this moment, as CLOCK_REALTIME has it.
std::string UtcNow();

}  // namespace viaduct
