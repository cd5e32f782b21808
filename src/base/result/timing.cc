#include "base/result/timing.h"

#include <fmt/format.h>

#include <algorithm>

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kValid:
      return "VALID";
    case Verdict::kVoid:
      return "VOID";
    case Verdict::kNotJudged:
      break;
  }
  return "not judged";
}

fields::KeysOf<Timing> Timing::Keys() {
  static constexpr fields::Key<Timing> kKeys[] = {
      Always<&Timing::events>("events", "events or packets",
                              "the number of events or packets that were measured"),
      Always<&Timing::p50_ns>("p50_ns", "ns",
                              "the median lateness; exact for up to 1024 values, otherwise within "
                              "0.1%, as are the other percentiles"),
      WhenSet<&Timing::p90_ns>("p90_ns", "ns",
                               "the 90th percentile of the lateness; only for links"),
      Always<&Timing::p99_ns>("p99_ns", "ns",
                              "the 99th percentile of the lateness, to which the limit applies"),
      WhenSet<&Timing::p999_ns>("p999_ns", "ns",
                                "the 99.9th percentile of the lateness; only for links"),
      Always<&Timing::max_ns>("max_ns", "ns", "the highest lateness"),
      WhenSet<&Timing::mean_ns>("mean_ns", "ns", "the mean lateness; only for links"),
      WhenSet<&Timing::limit_ns>("limit_ns", "ns", "the run's limit for `p99_ns`, if it has one"),
      WhenSet<&Timing::lost>("lost", "frames",
                             "frames that Viaduct itself lost, which count as later than any "
                             "limit; only for links and ports"),
      WhenSet<&Timing::nice>(
          "nice", "-20..19",
          "the simulator's scheduling priority (nice value); only for the simulator"),
      WhenSet<&Timing::over_limit>(
          "void", "true or false",
          "whether more than one event in 100 was later than the limit; only for the simulator"),
  };
  return kKeys;
}

Timing Summarize(const Histogram& lateness) {
  Timing timing;
  timing.events = lateness.Count();
  timing.p50_ns = lateness.Quantile(0.5);
  timing.p99_ns = lateness.Quantile(0.99);
  timing.max_ns = lateness.Max();
  return timing;
}

Timing SummarizeFinely(const Histogram& lateness) {
  Timing timing = Summarize(lateness);
  timing.p90_ns = lateness.Quantile(0.9);
  timing.p999_ns = lateness.Quantile(0.999);
  timing.mean_ns = lateness.Mean();
  return timing;
}

Verdict VerdictOf(const Timing& timing) {
  const uint64_t lost = timing.lost.value_or(0);
  const uint64_t all = timing.events + lost;
  if (!timing.limit_ns || all == 0) return Verdict::kNotJudged;
  return timing.p99_ns > *timing.limit_ns || lost * 100 > all ? Verdict::kVoid : Verdict::kValid;
}

Verdict Judge(Timing& timing, std::optional<Duration> limit) {
  if (limit) timing.limit_ns = limit->nanoseconds();
  return VerdictOf(timing);
}

Verdict Worse(Verdict a, Verdict b) { return std::max(a, b); }

Verdict UnlessFailed(Verdict verdict, const std::vector<std::string>& failures) {
  return !failures.empty() && verdict == Verdict::kValid ? Verdict::kNotJudged : verdict;
}

std::string Micros(int64_t nanoseconds) {
  return fmt::format("{:.1f}", static_cast<double>(nanoseconds) / 1e3);
}

std::string TimingLine(const Timing& timing, const std::string& whose,
                       const std::vector<std::string>& failures) {
  const Verdict verdict = UnlessFailed(VerdictOf(timing), failures);
  const uint64_t lost = timing.lost.value_or(0);
  const std::string limit = timing.limit_ns
                                ? fmt::format("limit p99 {} us{}", Micros(*timing.limit_ns),
                                              timing.p99_ns > *timing.limit_ns ? " exceeded" : "")
                                : "no limit set";
  return fmt::format("timing: {}p50/p99/max lateness {}/{}/{} us over {} events{}: {} ({})\n",
                     whose, Micros(timing.p50_ns), Micros(timing.p99_ns), Micros(timing.max_ns),
                     timing.events, lost > 0 ? fmt::format(", {} frames lost", lost) : "",
                     VerdictName(verdict), limit);
}

}  // namespace viaduct::result
