#include "scenario/moments.h"

#include <fmt/format.h>

#include <string>

#include "base/units.h"

namespace viaduct::scenario {
namespace {

Duration TimeOrPart(const Section& section, const char* key, Duration run) {
  const std::string text = section.Text(key);
  if (text.empty() || text.back() != '%') return section.Duration(key);
  const int64_t percent =
      section.Located(key, [&] { return ParseInteger(text.substr(0, text.size() - 1), 0, 100); });
  return run / 100 * percent;
}

}  // namespace

Duration ReadMoment(const Section& section, const char* key, Duration run) {
  const Duration at = TimeOrPart(section, key, run);
  if (at >= run) {
    section.Fail(key, fmt::format("{} is not before the run's end (duration: {})",
                                  FormatDuration(at), FormatDuration(run)));
  }
  return at;
}

Duration ReadSpan(const Section& section, const char* key, Duration start, Duration run) {
  const Duration span = TimeOrPart(section, key, run);
  if (span <= Duration()) section.Fail(key, "must be greater than 0");
  if (span > run - start) {
    section.Fail(key, fmt::format("the end would be after the run's end (duration: {})",
                                  FormatDuration(run)));
  }
  return span;
}

}  // namespace viaduct::scenario
