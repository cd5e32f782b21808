#include "path/queue/rate_series.h"

#include <algorithm>
#include <span>

#include "base/units.h"
#include "path/trace/trace_lines.h"

namespace viaduct::path {
namespace {

constexpr std::string_view kRepeat = "repeat";

int64_t ParseRateOrZero(std::string_view text) {
  return text == "0" || text == "0bit" ? 0 : ParseRate(text);
}

void CheckTime(const RateSegments& series, Duration time) {
  if (series.round != Duration()) throw UsageError("nothing may follow \"repeat\"");
  if (series.segments.empty()) {
    if (time != Duration()) throw UsageError("the first line's time must be 0");
  } else if (time <= series.segments.back().start) {
    throw UsageError("times must increase from line to line");
  }
}

}  // namespace

RateSegments ParseRateSeries(std::string_view text, const std::string& file) {
  RateSegments series;
  ForEachLine(text, file, [&series](std::string_view line) {
    const auto [time, word] = SplitTimed(line, "TIME RATE", "2.5 10Mbit");
    CheckTime(series, time);
    if (word != kRepeat) {
      series.segments.push_back({time, ParseRateOrZero(word)});
    } else if (time == Duration()) {
      throw UsageError("a series that repeats must have a duration greater than 0");
    } else {
      series.round = time;
    }
  });
  if (std::none_of(series.segments.begin(), series.segments.end(),
                   [](const auto& segment) { return segment.rate > 0; })) {
    throw UsageError(file +
                     ": contains no rate greater than 0; expected lines of the form \"TIME RATE\"");
  }
  return series;
}

RateSeries::RateSeries(RateSegments series, FrameOverhead overhead)
    : series_(std::move(series)), overhead_(overhead), work_per_round_(WorkPerRound()) {}

Duration RateSeries::SegmentEnd(size_t segment) const {
  if (segment + 1 < series_.segments.size()) return series_.segments[segment + 1].start;
  return series_.round != Duration() ? series_.round : Duration::Max();
}

RateSeries::Work RateSeries::WorkPerRound() const {
  Work work = 0;
  if (series_.round == Duration()) return work;
  for (size_t i = 0; i < series_.segments.size(); ++i) {
    const Duration length = SegmentEnd(i) - series_.segments[i].start;
    work += static_cast<Work>(length.nanoseconds()) * static_cast<Work>(series_.segments[i].rate);
  }
  return work;
}

size_t RateSeries::SegmentAt(Duration offset) const {
  const auto next =
      std::upper_bound(series_.segments.begin(), series_.segments.end(), offset,
                       [](Duration value, const auto& segment) { return value < segment.start; });
  return static_cast<size_t>(next - series_.segments.begin()) - 1;
}

int64_t RateSeries::RateAt(Instant now) const {
  Duration offset = now - base_;
  if (series_.round != Duration()) {
    // base_ may be in the future: it is the start of the round in which the packet being sent will
    // have left.
    const int64_t round = series_.round.nanoseconds();
    offset = Duration::Nanoseconds((offset.nanoseconds() % round + round) % round);
  }
  const std::span later = std::span(series_.segments).subspan(SegmentAt(offset));
  if (finish_ != Instant::Never()) return later.front().rate;
  const auto first = std::find_if(later.begin(), later.end(),
                                  [](const auto& segment) { return segment.rate > 0; });
  return first != later.end() ? first->rate : 0;
}

Instant RateSeries::Send(Instant start, uint32_t bytes) {
  if (start != finish_) work_ = 0;
  work_ += static_cast<Work>(overhead_.Of(bytes)) * 8 * 1000000000;
  finish_ = Finish(start);
  return finish_;
}

// Returns the instant at which the link has done work_. Leaves the remainder, less than a
// nanosecond's work, in work_.
Instant RateSeries::Finish(Instant start) {
  Duration at = start - base_;
  size_t segment = 0;
  while (true) {
    if (series_.round != Duration()) {
      int64_t rounds = at / series_.round;
      at -= series_.round * rounds;
      // Skips complete rounds in one step; if the work ends exactly at the end of a round, this
      // round is not skipped.
      const auto whole = work_ == 0 ? 0 : static_cast<int64_t>((work_ - 1) / work_per_round_);
      work_ -= work_per_round_ * static_cast<Work>(whole);
      base_ += series_.round * (rounds + whole);
    }
    segment = SegmentAt(at);
    const auto rate = static_cast<Work>(series_.segments[segment].rate);
    const Duration end = SegmentEnd(segment);
    const auto capacity = rate * static_cast<Work>((end - at).nanoseconds());
    if (rate > 0 && work_ <= capacity) {
      at += Duration::Nanoseconds(static_cast<int64_t>(work_ / rate));
      work_ %= rate;
      return base_ + at;
    }
    if (end == Duration::Max()) return Instant::Never();
    work_ -= capacity;
    at = end;
  }
}

}  // namespace viaduct::path
