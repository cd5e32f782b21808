// Times of a run in a scenario file: a duration, or a part of the run ("40%"), so that a run can be
// shortened or extended as a whole.
#pragma once

#include "base/time.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// A moment of a run of this duration; it must lie before the end. Throws UsageError.
Duration ReadMoment(const Section& section, const char* key, Duration run);
// A span from `start` on; it must end with the run at the latest. Throws UsageError.
Duration ReadSpan(const Section& section, const char* key, Duration start, Duration run);

}  // namespace viaduct::scenario
