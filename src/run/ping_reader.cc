#include "run/ping_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/sequence_window.h"

namespace viaduct::run {

void PingReader::Line(const std::string& line) {
  const size_t time = line.find(" time="), sequence = line.find(" icmp_seq=");
  Reply reply;
  if (time != std::string::npos && sequence != std::string::npos &&
      std::sscanf(line.c_str(), "[%lf]", &reply.stamp) == 1 &&
      std::sscanf(line.c_str() + sequence, " icmp_seq=%hu", &reply.sequence) == 1 &&
      std::sscanf(line.c_str() + time, " time=%lf", &reply.milliseconds) == 1) {
    if (line.find("(DUP!)") == std::string::npos) Take(reply);
    return;
  }
  Summary summary;
  if (std::sscanf(line.c_str(), "rtt min/avg/max/mdev = %lf/%lf/%lf", &summary.min, &summary.mean,
                  &summary.max) == 3) {
    summary_ = summary;
    return;
  }
  unsigned long received = 0, transmitted = 0;
  int end = 0;  // where the whole text has been read
  if (std::sscanf(line.c_str(), "%lu packets transmitted%n", &transmitted, &end) == 1 && end > 0) {
    transmitted_ = transmitted;
    if (closing_ && !closed_) CloseAt(transmitted);  // made to end before it could say it
  } else if (std::sscanf(line.c_str(), " %lu/%lu packets,%n", &received, &transmitted, &end) == 2 &&
             end > 0 && closing_ && !closed_) {
    CloseAt(transmitted);
  }
}

void PingReader::Take(const Reply& reply) {
  if (closing_ && !closed_) {
    held_.push_back(reply);
    return;
  }
  // Of the sequence number's 16 bits: whether it is at most that of the last request that counts.
  const auto beyond =
      static_cast<int16_t>(reply.sequence - static_cast<uint16_t>(closed_.value_or(0)));
  if (!closed_ || beyond <= 0) Count(reply);
}

void PingReader::CloseAt(uint64_t transmitted) {
  closed_ = transmitted;
  for (const Reply& reply : std::exchange(held_, {})) Take(reply);
}

void PingReader::Count(const Reply& reply) {
  ++answers_;
  round_trips_.Record(std::llround(reply.milliseconds * 1e6));
  // The stamp is the answer's; what counts is when the request was sent.
  const double start = static_cast<double>((start_ - Instant()).nanoseconds()) / 1e9;
  const double sent = std::max(reply.stamp - reply.milliseconds / 1e3 - start, 0.0);
  samples_.Add(sent, reply.milliseconds);
  // Ping's first request has number 1.
  const uint64_t number = NearestTo(next_, static_cast<uint16_t>(reply.sequence - 1));
  next_ = std::max(next_, number + 1);
  gaps_.Arrived(number, sent);
}

void PingReader::Finish(result::FlowResult& result, const std::string& why) const {
  if (!transmitted_) {
    result.error = why;
    return;
  }
  const uint64_t sent = std::min(closed_.value_or(*transmitted_), *transmitted_);
  result.Count(sent, answers_);
  if (sent < asked_) result.not_offered = asked_ - sent;
  if (answers_ > 0) SetTimes(result, sent == *transmitted_);
  result.SetSamples(samples_);
  result.SetGaps(gaps_);
}

void PingReader::SetTimes(result::FlowResult& result, bool all_count) const {
  result.rtt = result::Times::Of(round_trips_);
  if (!summary_ || !all_count) return;
  result.rtt->min = summary_->min;
  result.rtt->mean = summary_->mean;
  result.rtt->max = summary_->max;
  // The lines' rounding takes no quantile out of the range that ping states.
  for (double* quantile : {&result.rtt->p50, &result.rtt->p99}) {
    *quantile = std::clamp(*quantile, summary_->min, summary_->max);
  }
}

}  // namespace viaduct::run
