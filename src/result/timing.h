// How late things happened, and whether that voids the results.
#pragma once

#include <cstdint>
#include <optional>

#include "base/histogram.h"
#include "base/time.h"
#include "result/record.h"

namespace viaduct::result {

enum class Verdict { kValid, kVoid };
// "VALID", "VOID".
const char* VerdictName(Verdict verdict);
NLOHMANN_JSON_SERIALIZE_ENUM(Verdict, {{Verdict::kValid, "VALID"}, {Verdict::kVoid, "VOID"}})

struct Timing {
  uint64_t events = 0;
  int64_t p50_ns = 0, p99_ns = 0, max_ns = 0;
  std::optional<int64_t> p90_ns, p999_ns;  // the path engine's
  std::optional<double> mean_ns;
  std::optional<int64_t> limit_ns;  // of p99
  std::optional<int> nice;          // the simulator's
  std::optional<bool> over_limit;   // by the simulator's own count of events, not the histogram

  static KeysOf<Timing> Keys();
};

// From a histogram of nanoseconds.
Timing Summarize(const Histogram& lateness);
// Those that the path engine gives besides: p90, p99.9 and the mean.
Timing SummarizeFinely(const Histogram& lateness);
// Sets the limit, if there is one, and judges by it: VOID where p99 is above.
Verdict Judge(Timing& timing, std::optional<Duration> limit);

}  // namespace viaduct::result
