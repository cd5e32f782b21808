#include "run/load/receiver.h"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/error.h"
#include "base/sequence_window.h"
#include "base/wire/probe_header.h"

namespace viaduct::load {
namespace {

constexpr int kBatch = 64;
// The time without packets after which a flow is over although all its packets have arrived:
// duplicates may follow.
constexpr Duration kLingerWhenComplete = Duration::Milliseconds(300);

// Buffers for one recvmmsg call; the payloads are truncated to the header of viaduct-load.
class ReceiveBatch {
 public:
  ReceiveBatch() {
    for (int i = 0; i < kBatch; ++i) {
      vectors_[i] = {.iov_base = headers_[i].data(), .iov_len = kHeaderBytes};
      messages_[i].msg_hdr.msg_iov = &vectors_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  // Waits for packets until the socket's timeout; returns the number of received packets.
  int Receive(int fd) {
    const int n = recvmmsg(fd, messages_.data(), kBatch, MSG_WAITFORONE | MSG_TRUNC, nullptr);
    if (n >= 0) return n;
    if (errno == EAGAIN || errno == EINTR) return 0;
    SystemCall("recvmmsg", n);
    return 0;
  }
  std::optional<Header> HeaderOf(int index) const {
    return ReadHeader(
        std::span(headers_[index]).first(std::min<size_t>(LengthOf(index), kHeaderBytes)));
  }
  int LengthOf(int index) const { return static_cast<int>(messages_[index].msg_len); }

 private:
  std::array<std::array<std::byte, kHeaderBytes>, kBatch> headers_;
  std::array<iovec, kBatch> vectors_;
  std::array<mmsghdr, kBatch> messages_{};
};

class Receiver {
 public:
  Receiver(const ReceiveOptions& options, const ReceiveRequests& requests)
      : options_(options), requests_(requests), fd_(OpenReceiver(options.socket)) {}

  ReceiveResult Run() {
    prctl(PR_SET_TIMERSLACK, 1);
    started_ = MonotonicClock::Now();
    last_activity_ = started_;
    for (Instant now = started_; !Over(now);) {
      const int n = batch_.Receive(fd_.get());
      now = MonotonicClock::Now();
      for (int i = 0; i < n; ++i) Take(i, now);
      if (n > 0) last_activity_ = now;
      CountUpTo(now, n > 0);
    }
    Finish();
    return std::move(result_);
  }

 private:
  bool Over(Instant now) {
    const Duration quiet = now - last_activity_;
    if (requests_.stop || (options_.duration && now - started_ >= *options_.duration)) {
      result_.end = requests_.stop ? ReceiveResult::End::kSignal : ReceiveResult::End::kDuration;
      result_.cut = Total() > 0 && !Complete() && quiet < options_.linger;
      return true;
    }
    if (requests_.sender_ended && !told_) {
      told_ = true;
      // Packets that are still in the network may arrive during the next `linger`, as after an end
      // marker.
      last_activity_ = now;
      return false;
    }
    if (!result_.sent && !told_) return false;
    result_.end = ReceiveResult::End::kSender;
    return quiet >= (Complete() ? std::min(kLingerWhenComplete, options_.linger) : options_.linger);
  }

  bool Complete() { return result_.sent && Received() >= *result_.sent; }

  void Take(int index, Instant now) {
    const auto header = batch_.HeaderOf(index);
    if (header && !flow_) flow_ = header->flow;
    if (!header || header->flow != *flow_) {
      ++result_.foreign;
    } else if (header->type == PacketType::kEnd) {
      result_.sent = header->sequence;
    } else {
      size_ = batch_.LengthOf(index);
      result_.tally.Record(*header, size_, now - options_.clock_ahead);
    }
  }

  uint64_t Received() { return options_.socket.sample > 1 ? Total() : result_.tally.received(); }

  // Returns the number of packets so far: the packets that were read, and with sampling also the
  // packets that the filter dropped and counted.
  uint64_t Total() {
    const uint64_t read = result_.tally.received() + result_.tally.duplicates();
    return options_.socket.sample > 1 ? read + Drops() : read;
  }

  // Extends the kernel's counter of dropped packets, whose 32 bits overflow within an hour in a
  // fast flow.
  uint64_t Drops() { return drops_ = GrownFrom(drops_, SocketDrops(fd_.get())); }

  // Updates the time series, and the last time at which the number of packets is known. Duplicates
  // do not count.
  void CountUpTo(Instant now, bool arrived) {
    const uint64_t total = Received();
    if (total == counted_) return;
    if (counted_ == 0) {
      first_ = now;
      first_count_ = total;
    }
    result_.series.Add(now - first_, total - counted_);
    // Sets the time only if a packet was received now: the growth of the kernel's counter does not
    // show when packets arrived.
    if (arrived) {
      last_ = now;
      last_count_ = total;
    }
    counted_ = total;
  }

  void Finish() {
    result_.received = Received();
    result_.dropped_here = options_.socket.sample > 1 ? 0 : Drops();
    const Duration span = last_ - first_;
    if (span > Duration()) {
      result_.packets_per_second = (last_count_ - first_count_) / span.ToSeconds();
    }
  }

  const ReceiveOptions& options_;
  const ReceiveRequests& requests_;
  UniqueFd fd_;
  ReceiveBatch batch_;
  ReceiveResult result_;
  std::optional<uint32_t> flow_;
  int size_ = 0;
  bool told_ = false;  // whether a request has reported that the sender has ended
  uint64_t drops_ = 0;
  uint64_t counted_ = 0, first_count_ = 0, last_count_ = 0;
  Instant started_, last_activity_, first_, last_;
};

}  // namespace

ReceiveResult Receive(const ReceiveOptions& options, const ReceiveRequests& requests,
                      const std::function<void()>& listening) {
  Receiver receiver(options, requests);
  listening();
  return receiver.Run();
}

}  // namespace viaduct::load
