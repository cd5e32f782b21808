// Measures a limit for all programs on this machine: how late a loop that only reads the clock
// would notice an instant.
//
//   clock-reader --duration 2
//
// The loop can be interrupted between two readings of the clock (by the kernel, by other programs,
// by a hypervisor); an instant within such a gap is noticed at the gap's end. So the share of all
// instants that are noticed more than x late is the sum of max(0, gap - x) over all gaps, divided
// by the total time. This share has no sampling error. Prints JSON: {"p50_ns", "p99_ns", "max_ns"}
// of the lateness, and the number of "readings".
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/clock.h"
#include "base/text/json_text.h"
#include "program.h"
#include "sys/process/process.h"

namespace viaduct::bench {
namespace {

// The gaps between consecutive readings of the clock: short gaps are counted by their length, all
// other gaps are stored.
class Gaps {
 public:
  void Add(int64_t gap) {
    total_ += gap;
    if (gap < kShort) {
      ++short_[static_cast<size_t>(gap)];
    } else {
      long_.push_back(gap);
    }
  }
  // Returns the minimum lateness that at most the share `share` of all instants exceeds.
  int64_t Lateness(double share) const {
    const double most = share * static_cast<double>(total_);
    int64_t low = 0, high = Longest();
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (TimeLaterThan(middle) <= most) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  int64_t Longest() const {
    if (!long_.empty()) return *std::max_element(long_.begin(), long_.end());
    for (size_t gap = kShort; gap-- > 0;) {
      if (short_[gap] > 0) return static_cast<int64_t>(gap);
    }
    return 0;
  }

 private:
  static constexpr int64_t kShort = 4096;  // ns; shorter gaps are counted by length

  double TimeLaterThan(int64_t lateness) const {
    double time = 0;
    for (int64_t gap = lateness + 1; gap < kShort; ++gap) {
      time += static_cast<double>(short_[static_cast<size_t>(gap)]) *
              static_cast<double>(gap - lateness);
    }
    for (const int64_t gap : long_) {
      time += static_cast<double>(std::max<int64_t>(0, gap - lateness));
    }
    return time;
  }

  int64_t total_ = 0;
  std::vector<uint64_t> short_ = std::vector<uint64_t>(kShort);
  std::vector<int64_t> long_;
};

int Main(int argc, char** argv) {
  double seconds = 1;
  CLI::App app("measures how late a loop that only reads the clock sees an instant");
  app.add_option("--duration", seconds, "seconds");
  CLI11_PARSE(app, argc, argv);
  sys::TakeHighestPriority();  // the priority of the path engine's threads
  Gaps gaps;
  uint64_t readings = 0;
  Instant before = MonotonicClock::Now();
  const Instant end = before + Duration::Nanoseconds(static_cast<int64_t>(seconds * 1e9));
  for (; before < end; ++readings) {
    const Instant now = MonotonicClock::Now();
    gaps.Add((now - before).nanoseconds());
    before = now;
  }
  const nlohmann::json result = {{"p50_ns", gaps.Lateness(0.5)},
                                 {"p99_ns", gaps.Lateness(0.01)},
                                 {"max_ns", gaps.Longest()},
                                 {"readings", readings}};
  std::printf("%s\n", JsonText(result).c_str());
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  return viaduct::bench::ExitStatusOf("clock-reader",
                                      [&] { return viaduct::bench::Main(argc, argv); });
}
