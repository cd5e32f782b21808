#include "load/sender.h"

#include <algorithm>
#include <cerrno>
#include <random>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "load/payload.h"

namespace viaduct::load {
namespace {

constexpr uint64_t kHopeless = 100;
constexpr int kEndMarkers = 5;
constexpr Duration kEndMarkerGap = Duration::Milliseconds(10);

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
  void Fill(int index, const Header& header) {
    WriteHeader(header,
                {&payloads_[static_cast<size_t>(index) * size_], static_cast<size_t>(size_)});
  }
  // Returns how many packets the kernel accepted; 0 if it refused the first.
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
    static_cast<Paced&>(result_) =
        Pace(options_, stop_, [this](auto... what) { return SendPackets(what...); });
    SendEndMarkers();
    return result_;
  }

 private:
  int SendPackets(uint64_t number, int packets, Instant now) {
    for (int i = 0; i < packets; ++i) {
      batch_.Fill(i, {.type = PacketType::kData,
                      .flow = result_.flow,
                      .sequence = number + static_cast<uint64_t>(i),
                      .sent = now});
    }
    const int taken = batch_.Send(fd_.get(), packets);
    if (taken == 0) CountError(number);
    return taken;
  }

  // If no packet was ever accepted, that is a mistake of the caller and not a result.
  void CountError(uint64_t number) {
    const int error = errno;
    if (++result_.errors >= kHopeless && number == 0) {
      throw SystemError("send UDP: every packet was refused", error);
    }
  }

  // Several are sent, because the first may find full queues.
  void SendEndMarkers() {
    for (int i = 0; i < kEndMarkers && !(stop_ && i > 0); ++i) {
      if (i > 0) SleepFor(kEndMarkerGap);
      batch_.Fill(0, {.type = PacketType::kEnd,
                      .flow = result_.flow,
                      .sequence = result_.sent,
                      .sent = MonotonicClock::Now()});
      batch_.Send(fd_.get(), 1);
    }
  }

  const SendOptions& options_;
  const std::atomic<bool>& stop_;
  UniqueFd fd_;
  SendBatch batch_;
  SendResult result_;
};

}  // namespace

SendResult Send(const SendOptions& options, const std::atomic<bool>& stop) {
  return Sender(options, stop).Run();
}

}  // namespace viaduct::load
