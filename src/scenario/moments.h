// Times of a run in a scenario file: a duration, or a percentage of the run ("40%"), so that all
// times change with the duration of the run.
#pragma once

#include "base/time.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Reads a time within a run of this duration; the time must be before the run's end. Throws
// UsageError.
Duration ReadMoment(const Section& section, const char* key, Duration run);
// Reads a duration that begins at `start`; it must end at the latest with the run. Throws
// UsageError.
Duration ReadSpan(const Section& section, const char* key, Duration start, Duration run);

}  // namespace viaduct::scenario
