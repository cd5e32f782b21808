#include "run/load/sender.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <random>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/wire/probe_header.h"
#include "run/load/frames.h"
#include "sys/network/ip_statistics.h"

namespace viaduct::load {
namespace {

constexpr int kEndMarkers = 5;
constexpr Duration kEndMarkerGap = Duration::Milliseconds(10);

uint64_t OwnInterfaceDrops() { return sys::SendingDrops(ReadFileIfAny("/proc/self/net/dev")); }

// The packets and message headers for one sendmmsg call, set up once.
class SendBatch {
 public:
  // `way`: describes the headers of complete frames. Null: only payloads are sent, and a UDP socket
  // adds the headers.
  SendBatch(int packets, int size, const FrameWay* way)
      : way_(way),
        head_(way == nullptr ? 0 : way->head().size()),
        size_(head_ + static_cast<size_t>(size)),
        packets_(static_cast<size_t>(packets) * size_) {
    vectors_.resize(packets);
    messages_.resize(packets);
    for (int i = 0; i < packets; ++i) {
      const wire::Bytes packet = Packet(i);
      if (way != nullptr) std::ranges::copy(way->head(), packet.begin());
      vectors_[i] = {.iov_base = packet.data(), .iov_len = packet.size()};
      messages_[i].msg_hdr.msg_iov = &vectors_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  void Fill(int index, const Header& header) {
    WriteHeader(header, Packet(index).subspan(head_));
    if (way_ != nullptr) way_->Complete(Packet(index));
  }
  // Returns the number of packets that the kernel accepted; 0 if it refused the first packet.
  int Send(int fd, int packets) { return std::max(0, sendmmsg(fd, messages_.data(), packets, 0)); }

 private:
  wire::Bytes Packet(int index) {
    return wire::Bytes(packets_).subspan(static_cast<size_t>(index) * size_, size_);
  }

  const FrameWay* way_;
  size_t head_, size_;  // bytes of the headers before the payload, and of the packet
  std::vector<std::byte> packets_;
  std::vector<iovec> vectors_;
  std::vector<mmsghdr> messages_;
};

class Sender {
 public:
  Sender(const SendOptions& options, const std::atomic<bool>& stop)
      : options_(options),
        stop_(stop),
        way_(options.frames ? std::make_unique<FrameWay>(options.to, options.bind, options.size)
                            : nullptr),
        socket_(way_ ? UniqueFd() : OpenSender(options.to, options.bind, options.interface)),
        batch_(options.batch, options.size, way_.get()) {
    result_.flow = std::random_device{}();
  }

  SendResult Run() {
    const uint64_t dropped_before = OwnInterfaceDrops();
    static_cast<Paced&>(result_) =
        Pace(options_, stop_, [this](auto... what) { return SendPackets(what...); });
    // The sum may have decreased, because the counter of an interface is lost when the interface is
    // removed.
    const uint64_t dropped = OwnInterfaceDrops();
    result_.interface_drops = dropped - std::min(dropped, dropped_before);
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
    if (!Connected()) {
      CountRefusal(errno);
      return 0;
    }
    int taken = batch_.Send(fd(), packets);
    // Sends a second time if no packet was accepted: a socket first reports an error of an earlier
    // packet (an ICMP error) instead of sending.
    if (taken == 0) taken = batch_.Send(fd(), packets);
    if (taken == 0) CountRefusal(errno);
    any_sent_ = any_sent_ || taken > 0;
    return taken;
  }

  int fd() const { return way_ ? way_->fd() : socket_.get(); }

  // Connects the socket if possible: a link may come up after the start. Sets errno if that is not
  // possible.
  bool Connected() {
    if (connected_ || way_) return true;
    errno = TryConnect(socket_.get(), options_.to);
    connected_ = errno == 0;
    return connected_;
  }

  void CountRefusal(int error) {
    if (IsHopeless(error, ++result_.refused[error]) && !any_sent_) {
      throw SystemError("send UDP packets: the kernel refused every packet", error);
    }
  }

  // Sends several end markers, because queues may be full when the first is sent.
  void SendEndMarkers() {
    for (int i = 0; i < kEndMarkers && !(stop_ && i > 0) && Connected(); ++i) {
      if (i > 0) SleepFor(kEndMarkerGap);
      batch_.Fill(0, {.type = PacketType::kEnd,
                      .flow = result_.flow,
                      .sequence = result_.offered,
                      .sent = MonotonicClock::Now()});
      batch_.Send(fd(), 1);
    }
  }

  const SendOptions& options_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<FrameWay> way_;
  UniqueFd socket_;  // not used if way_ is set
  SendBatch batch_;
  bool connected_ = false, any_sent_ = false;
  SendResult result_;
};

}  // namespace

SendResult Send(const SendOptions& options, const std::atomic<bool>& stop) {
  return Sender(options, stop).Run();
}

}  // namespace viaduct::load
