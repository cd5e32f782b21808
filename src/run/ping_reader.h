// What ping prints, read line by line as it comes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/histogram.h"
#include "base/time.h"
#include "result/flow.h"

namespace viaduct::run {

// Of iputils' `ping -D`, in bounded memory however long it runs: "[1700000000.123456] 64 bytes from
// 10.0.0.2: icmp_seq=1 ttl=64 time=0.052 ms", and at the end "3 packets transmitted, 3 received,
// 0% packet loss, time 2003ms" ("+1 duplicates," and the like may stand between) and a summary of
// the round-trip times. Its sequence
// numbers have 16 bits and begin anew; ping itself knows which answer is a duplicate, and says so.
class PingReader {
 public:
  // `start`: of the flow, CLOCK_REALTIME, as ping's own stamps are.
  explicit PingReader(Instant start) : start_(start) {}

  void Line(const std::string& line);
  // Sets what was measured. Without ping's last words there is no result: `why` becomes the error.
  void Finish(result::FlowResult& result, const std::string& why) const;

 private:
  // "rtt min/avg/max/mdev = 40.031/40.429/42.475/0.508 ms", in microseconds, where the lines of
  // answers are rounded to three digits. Of all answers, duplicates too.
  struct Summary {
    double min = 0, mean = 0, max = 0;  // ms
  };

  void Answer(double stamp, double milliseconds);

  Instant start_;
  std::optional<uint64_t> transmitted_;
  uint64_t answers_ = 0;
  double least_ms_ = 0;
  std::optional<Summary> summary_;
  Histogram round_trips_;  // ns
  result::Samples samples_;
};

}  // namespace viaduct::run
