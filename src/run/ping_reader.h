// What ping prints, read line by line as it comes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/time.h"
#include "result/flow.h"

namespace viaduct::run {

// Of iputils' `ping -D`, in bounded memory however long it runs: "[1700000000.123456] 64 bytes from
// 10.0.0.2: icmp_seq=1 ttl=64 time=0.052 ms", and at the end "3 packets transmitted, 3 received,
// 0% packet loss, time 2003ms" ("+1 duplicates," and the like may stand between) and a summary of
// the round-trip times. Its sequence
// numbers have 16 bits and begin anew; ping itself knows which answer is a duplicate, and says so.
//
// Ping sends each request an interval after the one before, at the earliest: of many requests the
// last ones are late, on a busy machine by more than the flow lasts. Such a ping is made to end, in
// two steps, so that no request counts as lost whose answer is still under way.
class PingReader {
 public:
  // `start`: of the flow, CLOCK_REALTIME, as ping's own stamps are. `asked`: how many requests it
  // was told to send.
  PingReader(Instant start, uint64_t asked) : start_(start), asked_(asked) {}

  void Line(const std::string& line);
  // To be called before ping gets SIGQUIT, upon which it says on standard error how many requests
  // it has sent: "23/25 packets, 8% loss, min/avg/ewma/max = ...". Later ones do not count.
  void Close() { closing_ = true; }
  // That it shall send no more than this, because the run ends early.
  void Shorten(uint64_t asked) { asked_ = std::min(asked_, asked); }
  // Sets what was measured. Without ping's last words there is no result: `why` becomes the error.
  void Finish(result::FlowResult& result, const std::string& why) const;

 private:
  // "rtt min/avg/max/mdev = 40.031/40.429/42.475/0.508 ms", in microseconds, where the lines of
  // answers are rounded to three digits. Of all answers, duplicates too.
  struct Summary {
    double min = 0, mean = 0, max = 0;  // ms
  };

  struct Reply {
    uint16_t sequence = 0;
    double stamp = 0;  // s, CLOCK_REALTIME, of the answer
    double milliseconds = 0;
  };

  void Take(const Reply& reply);
  void Count(const Reply& reply);
  void CloseAt(uint64_t transmitted);
  // `all_count`: no request was sent that does not, so that ping's own summary holds.
  void SetTimes(result::FlowResult& result, bool all_count) const;

  Instant start_;
  uint64_t asked_;
  bool closing_ = false;
  std::vector<Reply> held_;         // while it is not known which requests count
  std::optional<uint64_t> closed_;  // so many requests count
  std::optional<uint64_t> transmitted_;
  uint64_t answers_ = 0;
  std::optional<Summary> summary_;
  Histogram round_trips_;  // ns
  result::Samples samples_;
  result::GapFinder gaps_;
  uint64_t next_ = 0;  // request after the latest that was answered, from 0
};

}  // namespace viaduct::run
