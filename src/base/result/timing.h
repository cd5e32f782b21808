// The lateness of events, and the verdict on whether it makes the results void.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/histogram.h"
#include "base/time.h"

namespace viaduct::result {

// The verdict on timing. kNotJudged: there is no limit, or nothing was measured.
enum class Verdict { kNotJudged, kValid, kVoid };
// Returns "not judged", "VALID" or "VOID".
const char* VerdictName(Verdict verdict);
NLOHMANN_JSON_SERIALIZE_ENUM(Verdict, {{Verdict::kNotJudged, "not judged"},
                                       {Verdict::kValid, "VALID"},
                                       {Verdict::kVoid, "VOID"}})

struct Timing {
  uint64_t events = 0;
  int64_t p50_ns = 0, p99_ns = 0, max_ns = 0;
  std::optional<int64_t> p90_ns, p999_ns;  // only from the path engine
  std::optional<double> mean_ns;
  std::optional<int64_t> limit_ns;  // the limit of p99_ns
  // The number of frames that the product itself lost at the place where the lateness was measured;
  // a lost frame counts as later than any limit.
  std::optional<uint64_t> lost;
  std::optional<int> nice;  // only from the simulator
  // Whether more than one event in 100 was later than the limit. The simulator counts these events
  // itself, without the histogram.
  std::optional<bool> over_limit;

  static fields::KeysOf<Timing> Keys();
};

// Computes the timing from a histogram of nanoseconds.
Timing Summarize(const Histogram& lateness);
// Computes the timing with the further statistics of the path engine: p90, p99.9 and the mean.
Timing SummarizeFinely(const Histogram& lateness);
// Returns the verdict by `limit_ns`: VOID if p99 is above the limit, or if more than one frame in a
// hundred was lost.
Verdict VerdictOf(const Timing& timing);
// Sets the timing's limit, if there is one, and returns the verdict.
Verdict Judge(Timing& timing, std::optional<Duration> limit);
// Returns the joint verdict of two measurements: VOID if either is VOID, not judged if neither was
// judged.
Verdict Worse(Verdict a, Verdict b);
// Returns `verdict`, but "not judged" in place of VALID if there are failures: a failed run did not
// measure what the user asked for.
Verdict UnlessFailed(Verdict verdict, const std::vector<std::string>& failures);

// Returns "timing: p50/p99/max lateness 1.2/8.0/310 us over 12345 events: VALID (limit 1 ms)".
// `whose` is printed before the numbers ("links "); `failures` are the failures of the measured run
// or path.
std::string TimingLine(const Timing& timing, const std::string& whose = "",
                       const std::vector<std::string>& failures = {});

// Formats a time in microseconds: "1.2".
std::string Micros(int64_t nanoseconds);

}  // namespace viaduct::result
