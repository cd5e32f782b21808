#include "run/load/pinger.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/stamp_mapper.h"
#include "run/load/echo_socket.h"

namespace viaduct::load {
namespace {

class Pinger {
 public:
  Pinger(const PingOptions& options, std::atomic<bool>& stop)
      : options_(options),
        stop_(stop),
        socket_(options.to, options.bind, options.size),
        stamps_(clock_),
        requests_(kNumbers) {}

  PingResult Run() {
    static_cast<Paced&>(result_) =
        Pace(options_, stop_, [this](uint64_t number, int, Instant) { return Send(number); });
    AwaitReplies();
    result_.foreign += socket_.foreign();
    result_.dropped_here = socket_.dropped_here();
    return std::move(result_);
  }

 private:
  // The number of different sequence numbers (16 bits), by which replies are assigned to requests:
  // a reply belongs to the last request with its number.
  static constexpr size_t kNumbers = 1 << 16;

  enum class State : uint8_t { kNone, kSent, kAnswered };
  struct Request {
    Instant sent;
    State state = State::kNone;
  };

  int Send(uint64_t number) {
    // Reads the replies only now: that is not too late, because each reply has a time stamp of the
    // kernel.
    TakeReplies();
    if (number == 0) first_ = MonotonicClock::Now();
    Request& request = requests_[number % kNumbers];
    request.sent = MonotonicClock::Now();
    last_sent_ = request.sent;
    const int error = socket_.Send(static_cast<uint16_t>(number));
    request.state = error == 0 ? State::kSent : State::kNone;
    offered_ = number + 1;
    if (error == 0) {
      ++sent_;
      return 1;
    }
    if (IsHopeless(error, ++result_.refused[error]) && sent_ == 0) {
      throw SystemError("send ICMP echo requests: the kernel refused every request", error);
    }
    return 0;
  }

  void TakeReplies() {
    while (const auto reply = socket_.Receive()) Take(*reply);
  }

  void Take(const EchoSocket::Reply& reply) {
    const uint64_t behind = static_cast<uint16_t>(offered_ - 1 - reply.sequence);
    Request& request = requests_[reply.sequence];
    if (offered_ <= behind || request.state == State::kNone) {
      ++result_.foreign;
      return;
    }
    if (std::exchange(request.state, State::kAnswered) == State::kAnswered) {
      ++result_.duplicates;
      return;
    }
    const Instant now = MonotonicClock::Now();
    const Duration round_trip = stamps_.Map(reply.received, request.sent, now) - request.sent;
    const double since_start = (request.sent - first_).ToSeconds();
    ++result_.received;
    result_.round_trips.Record(round_trip.nanoseconds());
    result_.samples.Add(since_start, round_trip.ToSeconds() * 1e3);
    result_.gaps.Arrived(offered_ - 1 - behind, since_start);
  }

  void AwaitReplies() {
    stop_ = false;  // AwaitReplies() still receives replies after the sending was stopped
    const Instant over = last_sent_ + options_.linger;
    for (;;) {
      TakeReplies();
      const Instant now = MonotonicClock::Now();
      if (result_.received >= sent_ || now >= over || stop_) return;
      socket_.AwaitReply(over - now);
    }
  }

  const PingOptions& options_;
  std::atomic<bool>& stop_;
  EchoSocket socket_;
  SystemClock clock_;
  StampMapper stamps_;
  std::vector<Request> requests_;  // indexed by sequence number
  uint64_t offered_ = 0, sent_ = 0;
  Instant first_, last_sent_;
  PingResult result_;
};

}  // namespace

PingResult Ping(const PingOptions& options, std::atomic<bool>& stop) {
  return Pinger(options, stop).Run();
}

}  // namespace viaduct::load
