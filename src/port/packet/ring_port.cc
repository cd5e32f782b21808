#include "port/packet/ring_port.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/socket_option.h"
#include "port/interface.h"
#include "port/packet/packet_ring.h"
#include "port/packet/packet_sender.h"
#include "port/shared_counters.h"

namespace viaduct::io {
namespace {

// The number of empty calls of Receive() for each check of the socket's error.
constexpr uint32_t kPollsPerErrorCheck = 16;

void SetUpSending(int fd, const RingOptions& options) {
  SetSocketOption(fd, SOL_PACKET, PACKET_QDISC_BYPASS, options.qdisc_bypass ? 1 : 0,
                  "PACKET_QDISC_BYPASS");
}

// Binds a socket to the interface: the socket receives the frames of this EtherType (no frames if
// it is 0), and sends on the interface.
void BindTo(int fd, int ifindex, uint16_t ether_type) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ether_type);
  address.sll_ifindex = ifindex;
  SystemCall("bind a packet socket",
             bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

// Creates the ring of a socket. Sets PACKET_VNET_HDR first, because the kernel refuses this option
// for a socket that has a ring.
std::unique_ptr<PacketRing> MakeRing(int fd, const RingOptions& options, SharedCounters& counters) {
  SetSocketOption(fd, SOL_PACKET, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR");
  SetUpSending(fd, options);
  return options.blocks ? MakeBlockRing(fd, options, counters)
                        : MakeSlotRing(fd, options, counters);
}

}  // namespace

class RingPort::Impl {
 public:
  Impl(UniqueFd socket, const RingOptions& options, UniqueFd sender)
      : socket_(std::move(socket)),
        sender_(std::move(sender)),
        ifindex_(options.ifindex),
        outgoing_(options.outgoing),
        blocks_(options.blocks),
        mtu_(InterfaceMtu(socket_.get(), options.ifindex)),
        ring_(MakeRing(socket_.get(), options, counters_)) {
    sending_.emplace(SendingFd(), options.ifindex, /*has_header=*/!sender_, counters_);
    SetSocketOption(socket_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, options.outgoing ? 0 : 1,
                    "PACKET_IGNORE_OUTGOING");
    if (options.stamp_on_arrival) {
      SetSocketOption(socket_.get(), SOL_SOCKET, SO_TIMESTAMPING, int{SOF_TIMESTAMPING_RX_SOFTWARE},
                      "SO_TIMESTAMPING");
    }
    BindTo(socket_.get(), options.ifindex, options.ether_type);
    if (sender_) {
      SetUpSending(sender_.get(), options);
      BindTo(sender_.get(), options.ifindex, 0);
    } else {
      // Duplicates the descriptor, so that the caller's epoll set can have a separate entry for
      // sending.
      transmit_fd_ = UniqueFd(SystemCall("dup", fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0)));
    }
  }

  // Joins a fanout group. The group, not the socket, decides whether frames that this machine sends
  // are received; before Linux 6.2 a group always receives them, and the ring skips them.
  uint16_t JoinFanout(std::optional<uint16_t> group) {
    constexpr uint32_t kIgnoreOutgoing = 0x4000;  // PACKET_FANOUT_FLAG_IGNORE_OUTGOING
    if (!outgoing_) ring_->LeaveOutOutgoing();
    const uint32_t unique = group ? 0 : PACKET_FANOUT_FLAG_UNIQUEID;
    const auto join = [&](uint32_t flags) {
      const uint32_t request = (PACKET_FANOUT_HASH | unique | flags) << 16 | group.value_or(0);
      return setsockopt(fd(), SOL_PACKET, PACKET_FANOUT, &request, sizeof request);
    };
    if (outgoing_ || join(kIgnoreOutgoing) != 0) SystemCall("setsockopt PACKET_FANOUT", join(0));
    uint32_t made = 0;
    socklen_t size = sizeof made;
    SystemCall("getsockopt PACKET_FANOUT",
               getsockopt(fd(), SOL_PACKET, PACKET_FANOUT, &made, &size));
    return static_cast<uint16_t>(made);
  }

  int fd() const { return socket_.get(); }
  uint32_t Mtu() const { return mtu_; }

  size_t Receive(std::span<ReceivedFrame> frames) {
    const size_t count = ring_->Receive(frames);
    if (count == 0 && empty_polls_++ % kPollsPerErrorCheck == 0) ClearError();
    return count;
  }

  PacketSender& sending() { return *sending_; }
  int TransmitFd() const { return transmit_fd_ ? transmit_fd_.get() : sender_.get(); }

  PortCounters Counters() {
    // Adds up the kernel's counters, because each read resets them.
    tpacket_stats stats{};
    socklen_t size = sizeof(stats);
    if (getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0) {
      ring_full_.fetch_add(stats.tp_drops, std::memory_order_relaxed);
      put_into_ring_.fetch_add(stats.tp_packets - stats.tp_drops, std::memory_order_relaxed);
    }
    PortCounters counters = counters_.Read();
    counters.rx_dropped_ring_full = ring_full_.load(std::memory_order_relaxed);
    const uint64_t taken =
        counters.rx_frames + counters.rx_dropped_truncated + counters_.rx.left_out.Get();
    const uint64_t put = put_into_ring_.load(std::memory_order_relaxed);
    counters.rx_waiting = put - std::min(put, taken);
    return counters;
  }

  bool Up() const { return InterfaceIsUp(socket_.get(), ifindex_); }

  std::string Description() const {
    const std::string kind = std::string("AF_PACKET ring") + (blocks_ ? " of blocks" : "");
    const uint32_t status = ring_->last_status();
    return kind + ((status & TP_STATUS_TS_SOFTWARE) != 0 ? ", frames timestamped on arrival" : "");
  }

 private:
  int SendingFd() const { return sender_ ? sender_.get() : socket_.get(); }

  // Clears the socket's error. A link that went down leaves ENETDOWN on the socket, and poll()
  // returns at once until the error is read. Reading the error is a system call, so a caller that
  // polls continuously should not read it every time.
  void ClearError() {
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }

  SharedCounters counters_;
  UniqueFd socket_, sender_, transmit_fd_;
  int ifindex_;
  bool outgoing_, blocks_;
  uint32_t mtu_;
  std::unique_ptr<PacketRing> ring_;
  std::optional<PacketSender> sending_;
  uint32_t empty_polls_ = 0;
  std::atomic<uint64_t> ring_full_ = 0, put_into_ring_ = 0;
};

RingPort::RingPort(UniqueFd socket, const RingOptions& options, UniqueFd sender)
    : impl_(std::make_unique<Impl>(std::move(socket), options, std::move(sender))) {}
RingPort::RingPort(RingPort&&) noexcept = default;
RingPort& RingPort::operator=(RingPort&&) noexcept = default;
RingPort::~RingPort() = default;

uint16_t RingPort::JoinFanout(std::optional<uint16_t> group) { return impl_->JoinFanout(group); }
size_t RingPort::Receive(std::span<ReceivedFrame> frames) { return impl_->Receive(frames); }
size_t RingPort::Transmit(std::span<const FrameToSend> frames) {
  return impl_->sending().Transmit(frames);
}
std::span<const uint32_t> RingPort::Refused() const { return impl_->sending().Refused(); }
size_t RingPort::BytesInFlight() { return impl_->sending().BytesInFlight(); }
int RingPort::TransmitFd() { return impl_->TransmitFd(); }
int RingPort::fd() { return impl_->fd(); }
PortCounters RingPort::Counters() { return impl_->Counters(); }
bool RingPort::Up() { return impl_->Up(); }
uint32_t RingPort::Mtu() const { return impl_->Mtu(); }
std::string RingPort::Description() const { return impl_->Description(); }

}  // namespace viaduct::io
