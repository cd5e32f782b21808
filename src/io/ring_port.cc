#include "io/ring_port.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/socket_option.h"
#include "io/flight_log.h"
#include "io/interface.h"
#include "io/shared_counters.h"
#include "io/vnet_header.h"
#include "wire/ethernet.h"
#include "wire/link_tag.h"

namespace viaduct::io {
namespace {

constexpr size_t kTxBurst = 64;
// How many frames longer than a slot can be lent at a time, and their maximum length (a full GSO
// frame).
constexpr size_t kLongFrames = 16;
constexpr size_t kLongFrameBytes = 65536 + 256;
constexpr size_t kPage = 4096;
constexpr size_t kTags = 2 * wire::VlanTag::kSize;  // IEEE 802.1ad
constexpr uint32_t kLooksAnError = 16;  // empty calls of Receive() per check for an error

size_t SendBufferOf(int fd) {
  int bytes = 0;
  socklen_t size = sizeof(bytes);
  SystemCall("getsockopt SO_SNDBUF", getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size));
  return static_cast<size_t>(bytes);
}

// The receive ring's memory, shared with the kernel.
class Mapping {
 public:
  Mapping() = default;
  Mapping(int fd, size_t bytes) : bytes_(bytes) {
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) throw SystemError("mmap of a packet ring", errno);
    memory_ = static_cast<std::byte*>(memory);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(memory_, bytes_); }
  std::byte* data() const { return memory_; }

 private:
  std::byte* memory_;
  size_t bytes_;
};

size_t SlotBytes(const RingOptions& options, int fd) {
  const size_t frame = options.slot_bytes != 0 ? options.slot_bytes
                                               : size_t{InterfaceMtu(fd, options.ifindex)} +
                                                     wire::EthernetHeader::kSize + kTags;
  // What precedes a frame in its slot: af_packet.c, tpacket_rcv().
  const size_t header = TPACKET_ALIGN(TPACKET2_HDRLEN + 16) + sizeof(VnetHeader);
  return std::bit_ceil(header + frame);
}

void SetUpSending(int fd, const RingOptions& options) {
  SetSocketOption(fd, SOL_PACKET, PACKET_QDISC_BYPASS, options.qdisc_bypass ? 1 : 0,
                  "PACKET_QDISC_BYPASS");
}

// Receives the frames of this type of the interface, those of type 0 never, and sends there.
void BindTo(int fd, int ifindex, uint16_t ether_type) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ether_type);
  address.sll_ifindex = ifindex;
  SystemCall("bind of a packet socket",
             bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)));
}

// Order of the calls: the kernel refuses PACKET_VNET_HDR once there is a ring.
tpacket_req SetUpRing(int fd, const RingOptions& options) {
  SetSocketOption(fd, SOL_PACKET, PACKET_VERSION, int{TPACKET_V2}, "PACKET_VERSION");
  SetSocketOption(fd, SOL_PACKET, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR");
  SetUpSending(fd, options);
  SetSocketOption(fd, SOL_PACKET, PACKET_COPY_THRESH, 1, "PACKET_COPY_THRESH");
  tpacket_req request{};
  request.tp_frame_size = static_cast<uint32_t>(SlotBytes(options, fd));
  // Blocks of 64 KiB are easy for the kernel to allocate; slots do not straddle them.
  request.tp_block_size = std::max<uint32_t>(16 * kPage, request.tp_frame_size);
  const uint32_t per_block = request.tp_block_size / request.tp_frame_size;
  request.tp_block_nr = (std::max<uint32_t>(options.slots, 1) + per_block - 1) / per_block;
  request.tp_frame_nr = request.tp_block_nr * per_block;
  SetSocketOption(fd, SOL_PACKET, PACKET_RX_RING, request, "PACKET_RX_RING");
  return request;
}

}  // namespace

class RingPort::Impl {
 public:
  Impl(UniqueFd socket, const RingOptions& options, UniqueFd sender)
      : socket_(std::move(socket)),
        sender_(std::move(sender)),
        ifindex_(options.ifindex),
        outgoing_(options.outgoing),
        mtu_(InterfaceMtu(socket_.get(), options.ifindex)),
        request_(SetUpRing(socket_.get(), options)),
        ring_(socket_.get(), size_t{request_.tp_block_size} * request_.tp_block_nr),
        long_frames_(std::make_unique_for_overwrite<LongFrame[]>(kLongFrames)),
        flight_(SendBufferOf(SendingFd())) {
    refused_.reserve(kTxBurst);
    PrepareTransmit();
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
      // For a place of its own in the caller's epoll set.
      transmit_fd_ = UniqueFd(SystemCall("dup", fcntl(socket_.get(), F_DUPFD_CLOEXEC, 0)));
    }
  }

  // The group, not the socket, decides on what this machine sends; before Linux 6.2 it gets that,
  // too, and it is left out here.
  uint16_t JoinFanout(std::optional<uint16_t> group) {
    constexpr uint32_t kIgnoreOutgoing = 0x4000;  // PACKET_FANOUT_FLAG_IGNORE_OUTGOING
    leaves_out_outgoing_ = !outgoing_;
    const uint32_t unique = group ? 0 : PACKET_FANOUT_FLAG_UNIQUEID;
    const auto join = [&](uint32_t flags) {
      const uint32_t request = (PACKET_FANOUT_HASH | unique | flags) << 16 | group.value_or(0);
      return setsockopt(Fd(), SOL_PACKET, PACKET_FANOUT, &request, sizeof request);
    };
    if (outgoing_ || join(kIgnoreOutgoing) != 0) SystemCall("setsockopt PACKET_FANOUT", join(0));
    uint32_t made = 0;
    socklen_t size = sizeof made;
    SystemCall("getsockopt PACKET_FANOUT",
               getsockopt(Fd(), SOL_PACKET, PACKET_FANOUT, &made, &size));
    return static_cast<uint16_t>(made);
  }

  int Fd() const { return socket_.get(); }
  uint32_t Mtu() const { return mtu_; }

  size_t Receive(std::span<ReceivedFrame> frames) {
    ReturnLentSlots();
    size_t count = 0;
    size_t long_used = 0;
    uint64_t bytes = 0;
    while (count < frames.size() && lent_ < request_.tp_frame_nr) {
      tpacket2_hdr* const slot = Slot((first_lent_ + lent_) % request_.tp_frame_nr);
      const uint32_t status = std::atomic_ref(slot->tp_status).load(std::memory_order_acquire);
      if ((status & TP_STATUS_USER) == 0) break;
      if ((status & TP_STATUS_COPY) != 0 && long_used == kLongFrames) break;
      ++lent_;
      if (leaves_out_outgoing_ && IsOutgoing(*slot)) {
        if ((status & TP_STATUS_COPY) != 0) DiscardLong();
        continue;
      }
      ReceivedFrame& frame = frames[count];
      const bool whole = (status & TP_STATUS_COPY) != 0
                             ? TakeLong(*slot, status, long_frames_[long_used], frame)
                             : TakeFromSlot(*slot, status, frame);
      if (!whole) {
        counters_.rx.dropped_truncated.Add(1);
        continue;
      }
      if ((status & TP_STATUS_COPY) != 0) ++long_used;
      ++count;
      bytes += frame.bytes.size();
    }
    if (count == 0) {
      if (empty_looks_++ % kLooksAnError == 0) ClearError();
    } else {
      counters_.rx.frames.Add(count);
      counters_.rx.bytes.Add(bytes);
    }
    return count;
  }

  size_t Transmit(std::span<const FrameToSend> frames) {
    size_t taken = 0;
    refused_.clear();
    while (taken < frames.size()) {
      const size_t burst = std::min(frames.size() - taken, kTxBurst);
      for (size_t i = 0; i < burst; ++i) {
        iovecs_[2 * i + 1] = {const_cast<std::byte*>(frames[taken + i].data()),
                              frames[taken + i].size()};
      }
      const int sent =
          sendmmsg(SendingFd(), messages_.data(), static_cast<unsigned>(burst), MSG_DONTWAIT);
      if (sent > 0) {
        uint64_t bytes = 0;
        for (int i = 0; i < sent; ++i) {
          bytes += frames[taken + i].size();
          flight_.Add(frames[taken + i].size());
        }
        counters_.tx.bytes.Add(bytes);
        counters_.tx.frames.Add(static_cast<uint64_t>(sent));
        taken += static_cast<size_t>(sent);
        continue;
      }
      // sendmmsg only reports the error of the first frame of a call.
      if (errno == EINTR) continue;
      if (IsBackpressure(errno)) break;
      counters_.tx.dropped_error.Add(1);
      refused_.push_back(static_cast<uint32_t>(taken));
      ++taken;
    }
    return taken;
  }

  std::span<const uint32_t> Refused() const { return refused_; }

  size_t BytesInFlight() {
    int memory = 0;
    if (ioctl(SendingFd(), SIOCOUTQ, &memory) != 0) memory = 0;
    return flight_.Update(static_cast<size_t>(std::max(memory, 0)));
  }

  int TransmitFd() const { return transmit_fd_ ? transmit_fd_.get() : sender_.get(); }

  PortCounters Counters() {
    // The kernel resets its counters when they are read.
    tpacket_stats stats{};
    socklen_t size = sizeof(stats);
    if (getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0) {
      ring_full_.fetch_add(stats.tp_drops, std::memory_order_relaxed);
    }
    PortCounters counters = counters_.Read();
    counters.rx_dropped_ring_full = ring_full_.load(std::memory_order_relaxed);
    return counters;
  }

  bool Up() const { return InterfaceIsUp(socket_.get(), ifindex_); }

  std::string Description() const {
    const uint32_t stamp = last_stamp_.load(std::memory_order_relaxed);
    return std::string("AF_PACKET ring") +
           ((stamp & TP_STATUS_TS_SOFTWARE) != 0 ? ", frames stamped on arrival" : "");
  }

 private:
  int SendingFd() const { return sender_ ? sender_.get() : socket_.get(); }

  // A frame received by recvmsg: a VnetHeader, then the frame. As in a slot, the header's bytes are
  // the room for putting a VLAN tag back.
  using LongFrame = std::array<std::byte, kLongFrameBytes>;

  tpacket2_hdr* Slot(uint32_t index) const {
    return reinterpret_cast<tpacket2_hdr*>(ring_.data() + size_t{index} * request_.tp_frame_size);
  }

  void ReturnLentSlots() {
    for (; lent_ > 0; --lent_) {
      std::atomic_ref(Slot(first_lent_)->tp_status)
          .store(TP_STATUS_KERNEL, std::memory_order_release);
      first_lent_ = (first_lent_ + 1) % request_.tp_frame_nr;
    }
  }

  static bool IsOutgoing(const tpacket2_hdr& slot) {
    sockaddr_ll address;
    std::memcpy(&address,
                reinterpret_cast<const std::byte*>(&slot) + TPACKET_ALIGN(sizeof(tpacket2_hdr)),
                sizeof address);
    return address.sll_pkttype == PACKET_OUTGOING;
  }

  void DiscardLong() {
    std::byte nothing;
    recv(socket_.get(), &nothing, sizeof nothing, MSG_DONTWAIT | MSG_TRUNC);
  }

  bool TakeFromSlot(tpacket2_hdr& slot, uint32_t status, ReceivedFrame& frame) {
    if (slot.tp_snaplen < slot.tp_len) return false;
    std::byte* const start = reinterpret_cast<std::byte*>(&slot) + slot.tp_mac;
    VnetHeader header;
    std::memcpy(&header, start - sizeof(header), sizeof(header));
    Describe(slot, status, header, {start, slot.tp_len}, frame);
    return true;
  }

  // The kernel queues a copy of each such frame for recvmsg, in the order of the slots.
  bool TakeLong(const tpacket2_hdr& slot, uint32_t status, LongFrame& memory,
                ReceivedFrame& frame) {
    iovec part = {memory.data(), memory.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const ssize_t length = recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    VnetHeader header;
    if (length < 0 || (message.msg_flags & MSG_TRUNC) != 0) return false;
    if (static_cast<size_t>(length) != sizeof(header) + slot.tp_len) return false;
    std::memcpy(&header, memory.data(), sizeof(header));
    Describe(slot, status, header, {memory.data() + sizeof(header), slot.tp_len}, frame);
    return true;
  }

  // `bytes` has at least a VnetHeader (10 bytes, already read) of room before it.
  void Describe(const tpacket2_hdr& slot, uint32_t status, const VnetHeader& header,
                std::span<std::byte> bytes, ReceivedFrame& frame) {
    frame = {};
    last_stamp_.store(status, std::memory_order_relaxed);
    frame.received = Instant::FromNanoseconds(slot.tp_sec * int64_t{1000000000} + slot.tp_nsec);
    header.Describe(frame);
    if ((status & TP_STATUS_VLAN_VALID) != 0 && bytes.size() >= wire::EthernetHeader::kSize) {
      const uint16_t type =
          (status & TP_STATUS_VLAN_TPID_VALID) != 0 ? slot.tp_vlan_tpid : wire::ether_type::kVlan;
      bytes = *wire::PushTag(bytes, {wire::LinkTag::Kind::kVlan, type, slot.tp_vlan_tci});
      if (frame.checksum == Checksum::kPartial) {
        frame.checksum_start = static_cast<uint16_t>(frame.checksum_start + wire::LinkTag::kSize);
      }
    }
    frame.bytes = bytes;
  }

  // A link that went down leaves ENETDOWN on the socket, and poll() returns at once until it was
  // read. Reading costs a system call, which a spinning caller should not pay every time.
  void ClearError() {
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }

  // A socket that receives with VnetHeaders wants one of each frame sent; the sender has none,
  // which makes it faster.
  void PrepareTransmit() {
    const size_t first = sender_ ? 1 : 0;
    for (size_t i = 0; i < kTxBurst; ++i) {
      iovecs_[2 * i] = {&no_offload_, sizeof(no_offload_)};
      messages_[i].msg_hdr.msg_iov = &iovecs_[2 * i + first];
      messages_[i].msg_hdr.msg_iovlen = 2 - first;
    }
  }

  // Without the qdisc, an interface without carrier fails like a full one; only the latter will
  // accept the frame later.
  bool IsBackpressure(int error) const {
    return error == EAGAIN || (error == ENOBUFS && InterfaceHasCarrier(socket_.get(), ifindex_));
  }

  SharedCounters counters_;
  UniqueFd socket_, sender_, transmit_fd_;
  int ifindex_;
  bool outgoing_;
  bool leaves_out_outgoing_ = false;  // frames that this machine sends may be in the ring
  uint32_t mtu_;
  tpacket_req request_;
  Mapping ring_;
  std::unique_ptr<LongFrame[]> long_frames_;
  uint32_t first_lent_ = 0;
  uint32_t lent_ = 0;
  uint32_t empty_looks_ = 0;
  std::atomic<uint64_t> ring_full_ = 0;
  std::atomic<uint32_t> last_stamp_ = 0;  // the last frame's status, which says whose stamp it has
  VnetHeader no_offload_{};
  std::array<iovec, 2 * kTxBurst> iovecs_{};
  std::array<mmsghdr, kTxBurst> messages_{};
  std::vector<uint32_t> refused_;
  FlightLog flight_;
};

RingPort::RingPort(UniqueFd socket, const RingOptions& options, UniqueFd sender)
    : impl_(std::make_unique<Impl>(std::move(socket), options, std::move(sender))) {}
RingPort::RingPort(RingPort&&) noexcept = default;
RingPort& RingPort::operator=(RingPort&&) noexcept = default;
RingPort::~RingPort() = default;

uint16_t RingPort::JoinFanout(std::optional<uint16_t> group) { return impl_->JoinFanout(group); }
size_t RingPort::Receive(std::span<ReceivedFrame> frames) { return impl_->Receive(frames); }
size_t RingPort::Transmit(std::span<const FrameToSend> frames) { return impl_->Transmit(frames); }
std::span<const uint32_t> RingPort::Refused() const { return impl_->Refused(); }
size_t RingPort::BytesInFlight() { return impl_->BytesInFlight(); }
int RingPort::TransmitFd() { return impl_->TransmitFd(); }
int RingPort::Fd() { return impl_->Fd(); }
PortCounters RingPort::Counters() { return impl_->Counters(); }
bool RingPort::Up() { return impl_->Up(); }
uint32_t RingPort::Mtu() const { return impl_->Mtu(); }
std::string RingPort::Description() const { return impl_->Description(); }

}  // namespace viaduct::io
