#include "run/ping_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace viaduct::run {

void PingReader::Line(const std::string& line) {
  const size_t time = line.find(" time=");
  double stamp = 0, milliseconds = 0;
  if (time != std::string::npos && std::sscanf(line.c_str(), "[%lf]", &stamp) == 1 &&
      std::sscanf(line.c_str() + time, " time=%lf", &milliseconds) == 1) {
    if (line.find("(DUP!)") == std::string::npos) Answer(stamp, milliseconds);
    return;
  }
  Summary summary;
  if (std::sscanf(line.c_str(), "rtt min/avg/max/mdev = %lf/%lf/%lf", &summary.min, &summary.mean,
                  &summary.max) == 3) {
    summary_ = summary;
    return;
  }
  unsigned long transmitted = 0;
  if (std::sscanf(line.c_str(), "%lu packets transmitted", &transmitted) == 1) {
    transmitted_ = transmitted;
  }
}

void PingReader::Answer(double stamp, double milliseconds) {
  least_ms_ = answers_ == 0 ? milliseconds : std::min(least_ms_, milliseconds);
  ++answers_;
  round_trips_.Record(std::llround(milliseconds * 1e6));
  // The stamp is the answer's; what counts is when the request was sent.
  const double start = static_cast<double>((start_ - Instant()).nanoseconds()) / 1e9;
  samples_.Add(std::max(stamp - milliseconds / 1e3 - start, 0.0), milliseconds);
}

void PingReader::Finish(result::FlowResult& result, const std::string& why) const {
  if (!transmitted_) {
    result.error = why;
    return;
  }
  result.Count(*transmitted_, answers_);
  if (answers_ > 0) {
    result.rtt = result::Times::Of(round_trips_);
    result.rtt->min = least_ms_;
    if (summary_) {
      result.rtt->min = summary_->min;
      result.rtt->mean = summary_->mean;
      result.rtt->max = summary_->max;
      // The lines' rounding takes no quantile out of the range that ping states.
      for (double* quantile : {&result.rtt->p50, &result.rtt->p99}) {
        *quantile = std::clamp(*quantile, summary_->min, summary_->max);
      }
    }
  }
  result.SetSamples(samples_);
}

}  // namespace viaduct::run
