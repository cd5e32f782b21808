#include "load/sender.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "load/pacer.h"
#include "load/payload.h"

namespace viaduct::load {
namespace {

// Below this distance to the next packet the pacer spins: a timer wakes about 5 us late on an
// idle core, up to 60 us seen.
constexpr Duration kSpin = Duration::Microseconds(100);
constexpr Duration kCatchUp = Duration::Milliseconds(2);
constexpr uint64_t kHopeless = 100;
constexpr int kEndMarkers = 5;
constexpr Duration kEndMarkerGap = Duration::Milliseconds(10);

void SleepFor(Duration duration) {
  const timespec ts = {.tv_sec = duration.nanoseconds() / 1'000'000'000,
                       .tv_nsec = duration.nanoseconds() % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, nullptr);
}

// Payloads and message headers for one sendmmsg call, set up once.
class SendBatch {
 public:
  SendBatch(int packets, int size) : size_(size), payloads_(static_cast<size_t>(packets) * size) {
    vectors_.resize(packets);
    messages_.resize(packets);
    for (int i = 0; i < packets; ++i) {
      vectors_[i] = {.iov_base = &payloads_[static_cast<size_t>(i) * size],
                     .iov_len = static_cast<size_t>(size)};
      messages_[i].msg_hdr.msg_iov = &vectors_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  int capacity() const { return static_cast<int>(messages_.size()); }
  void Fill(int index, const Header& header) {
    WriteHeader(header,
                {&payloads_[static_cast<size_t>(index) * size_], static_cast<size_t>(size_)});
  }
  // How many packets the kernel took; 0 if it refused the first.
  int Send(int fd, int packets) { return std::max(0, sendmmsg(fd, messages_.data(), packets, 0)); }

 private:
  int size_;
  std::vector<std::byte> payloads_;
  std::vector<iovec> vectors_;
  std::vector<mmsghdr> messages_;
};

class Sender {
 public:
  Sender(const SendOptions& options, const std::atomic<bool>& stop)
      : options_(options),
        stop_(stop),
        fd_(OpenSender(options.to, options.bind)),
        batch_(options.batch, options.size) {
    result_.flow = std::random_device{}();
  }

  SendResult Run() {
    prctl(PR_SET_TIMERSLACK, 1);
    start_ = MonotonicClock::Now();
    end_ = start_ + options_.duration;
    if (options_.rate) {
      RunPaced();
    } else {
      RunUnpaced();
    }
    result_.sent = number_;
    result_.elapsed = MonotonicClock::Now() - start_;
    SendEndMarkers();
    return result_;
  }

 private:
  bool Finished(Instant now) const { return now >= end_ || Remaining() == 0 || stop_; }
  uint64_t Remaining() const {
    return options_.count ? *options_.count - std::min(*options_.count, number_) : UINT64_MAX;
  }

  // Hands packets number_, number_ + 1, ... over; returns how many were taken or refused. A refused
  // packet keeps no number, so that the receiver does not take it for one the network lost.
  int SendPackets(int packets, Instant now) {
    for (int i = 0; i < packets; ++i) {
      batch_.Fill(
          i,
          {.type = PacketType::kData, .flow = result_.flow, .sequence = number_ + i, .sent = now});
    }
    const int taken = batch_.Send(fd_.get(), packets);
    if (taken == 0) CountError();
    number_ += taken;
    return std::max(taken, 1);
  }

  // A path that never took a packet is the caller's mistake, not a result.
  void CountError() {
    const int error = errno;
    if (++result_.errors >= kHopeless && number_ == 0) {
      throw SystemError("send UDP: every packet was refused", error);
    }
  }

  void RunPaced() {
    Pacer pacer(*options_.rate, start_, kCatchUp);
    uint64_t due_number = 0;  // packets whose time has come, refused ones too
    for (Instant now = start_; !Finished(now); now = MonotonicClock::Now()) {
      const int limit = static_cast<int>(std::min<uint64_t>(batch_.capacity(), Remaining()));
      const int due = pacer.DueNow(due_number, now, limit);
      if (due == 0) {
        const Duration wait = std::min(pacer.Due(due_number), end_) - now;
        if (wait > kSpin) SleepFor(std::min(wait - kSpin, Duration::Milliseconds(50)));
        continue;
      }
      for (int i = 0; i < due; ++i) {
        result_.late.Record((now - pacer.Due(due_number + i)).nanoseconds());
      }
      due_number += SendPackets(due, now);
    }
    result_.slip = pacer.Slip();
  }

  void RunUnpaced() {
    for (Instant now = start_; !Finished(now); now = MonotonicClock::Now()) {
      SendPackets(static_cast<int>(std::min<uint64_t>(batch_.capacity(), Remaining())), now);
    }
  }

  // Several, because the first may find full queues.
  void SendEndMarkers() {
    for (int i = 0; i < kEndMarkers && !(stop_ && i > 0); ++i) {
      if (i > 0) SleepFor(kEndMarkerGap);
      batch_.Fill(0, {.type = PacketType::kEnd,
                      .flow = result_.flow,
                      .sequence = number_,
                      .sent = MonotonicClock::Now()});
      batch_.Send(fd_.get(), 1);
    }
  }

  const SendOptions& options_;
  const std::atomic<bool>& stop_;
  UniqueFd fd_;
  SendBatch batch_;
  Instant start_, end_;
  uint64_t number_ = 0;  // of the next packet
  SendResult result_;
};

}  // namespace

SendResult Send(const SendOptions& options, const std::atomic<bool>& stop) {
  return Sender(options, stop).Run();
}

}  // namespace viaduct::load
