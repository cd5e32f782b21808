#include "base/utc_time.h"

#include <array>

namespace viaduct {

std::string FormatUtc(std::time_t time) {
  std::tm fields{};
  gmtime_r(&time, &fields);
  std::array<char, 32> text;
  return {text.data(), strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

std::string UtcNow() { return FormatUtc(std::time(nullptr)); }

}  // namespace viaduct
