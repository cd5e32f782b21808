#include "port/xdp/xdp_port.h"

#include <fmt/format.h>
#include <linux/bpf.h>
#include <linux/if_xdp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/socket_option.h"
#include "base/wire/checksum.h"
#include "base/wire/ethernet.h"
#include "base/wire/layers.h"
#include "base/wire/transport.h"
#include "port/interface.h"
#include "port/xdp/xdp_ring.h"
#include "port/xdp/xdp_sender.h"
#include "port/xdp/xdp_stamp.h"

namespace viaduct::io {
namespace {

// The values of XDP_USE_SG and XDP_PKT_CONTD, which linux/if_xdp.h has since Linux 6.6.
constexpr uint16_t kUseSg = 1 << 4;      // XDP_USE_SG
constexpr uint32_t kContinued = 1 << 0;  // XDP_PKT_CONTD
constexpr size_t kVlanTags = 2 * wire::VlanTag::kSize;
constexpr size_t kEthernet = wire::EthernetHeader::kSize;
constexpr size_t kLentAtMost = 256;  // maximum number of frames that one Receive() lends
constexpr size_t kJumboFrames = 64;

size_t LongestFrame(uint32_t mtu) { return mtu + kEthernet + kVlanTags; }

int64_t Nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

std::string Mebibytes(uint64_t bytes) { return fmt::format("{:.1f} MiB", double(bytes) / 0x1p20); }

[[noreturn]] void RefuseMemory(const XdpMemory& memory, int error_number) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (error_number != ENOBUFS) throw SystemError("register memory for AF_XDP", error_number);
  throw EnvironmentError(
      fmt::format("AF_XDP needs {} of locked memory, but the limit for all processes of "
                  "this user is {}; raise the limit (ulimit -l, LimitMEMLOCK=), or use AF_PACKET",
                  Mebibytes(memory.bytes()), Mebibytes(limit.rlim_cur)));
}

void Register(int fd, const XdpMemory& memory) {
  xdp_umem_reg request{};
  request.addr = reinterpret_cast<uint64_t>(memory.data());
  request.len = memory.bytes();
  request.chunk_size = memory.chunk_bytes();
  if (setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &request, sizeof request) != 0) {
    RefuseMemory(memory, errno);
  }
}

// Puts a socket into an XSKMAP. Any process with the map's descriptor may do this.
void PutIntoMap(int map, uint32_t queue, int socket) {
  bpf_attr request{};
  request.map_fd = static_cast<uint32_t>(map);
  request.key = reinterpret_cast<uint64_t>(&queue);
  request.value = reinterpret_cast<uint64_t>(&socket);
  SystemCall("direct frames to an AF_XDP socket",
             static_cast<int>(syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &request, sizeof request)));
}

}  // namespace

std::string XdpState::Describe() const {
  return fmt::format(
      "{}, {}, {} queue{}, chunks of {} bytes{}{}, {}", native ? "native mode" : "generic mode",
      zero_copy ? "zero-copy" : "copy mode", queues, queues == 1 ? "" : "s", chunk_bytes,
      multi_buffer ? ", several chunks per frame" : "", busy_poll ? ", busy polling" : "", program);
}

// The order of the members was measured: members that are used together are next to each other.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
class XdpPort::Impl {
 public:
  Impl(XdpSockets sockets, const XdpOptions& options)
      : keeper_(std::move(sockets.keeper)),
        control_(std::move(sockets.control)),
        ifindex_(sockets.ifindex),
        mtu_(InterfaceMtu(control_.get(), ifindex_)),
        longest_(LongestFrame(mtu_)),
        slots_(options.slots),
        memory_(options.memory
                    ? options.memory
                    : std::make_shared<XdpMemory>(ChunksFor(options, sockets.queues.size()),
                                                  ChunkBytesFor(mtu_))),
        held_(memory_->bytes() / memory_->chunk_bytes()) {
    state_.native = sockets.native;
    state_.busy_poll = sockets.busy_poll;
    state_.may_be_partial = sockets.may_be_partial;
    state_.program = sockets.program;
    state_.chunk_bytes = memory_->chunk_bytes();
    state_.chunks = static_cast<uint32_t>(held_.size());
    state_.multi_buffer = longest_ > memory_->room();
    Bind(std::move(sockets.queues), options);
    lent_.reserve(kLentAtMost);
    if (state_.multi_buffer) jumbo_ = std::make_unique<std::byte[]>(kJumboFrames * longest_);
    Refill();
    for (size_t queue = 0; queue < queues_.size(); ++queue) {
      PutIntoMap(sockets.map.get(), static_cast<uint32_t>(queue), queues_[queue].socket.get());
    }
  }

  // Closes the sockets first: the kernel then no longer uses the memory.
  ~Impl() {
    if (!memory_) return;
    ReturnLent();
    queues_.clear();
    for (size_t chunk = 0; chunk < held_.size(); ++chunk) {
      if (held_[chunk] != 0) memory_->Give(chunk * memory_->chunk_bytes());
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  int fd() const { return all_ ? all_.get() : queues_.front().socket.get(); }
  uint32_t Mtu() const { return mtu_; }
  bool Up() const { return InterfaceIsUp(control_.get(), ifindex_); }
  const XdpState& state() const { return state_; }
  const std::shared_ptr<XdpMemory>& memory() const { return memory_; }

  size_t Receive(std::span<ReceivedFrame> frames) {
    ReturnLent();
    Refill();
    const size_t wanted = std::min(frames.size(), kLentAtMost);
    const int64_t to_realtime =
        wanted == 0 ? 0 : Nanoseconds(CLOCK_REALTIME) - Nanoseconds(CLOCK_MONOTONIC);
    size_t count = 0;
    jumbo_used_ = 0;
    for (size_t i = 0; i < queues_.size() && count < wanted; ++i) {
      Queue& queue = queues_[(first_queue_ + i) % queues_.size()];
      count += ReceiveFrom(queue, frames.subspan(count, wanted - count), to_realtime);
    }
    first_queue_ = (first_queue_ + 1) % queues_.size();
    if (count == 0) return 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += frames[i].bytes.size();
    Count(rx_.frames, count);
    Count(rx_.bytes, bytes);
    return count;
  }

  size_t Transmit(std::span<const FrameToSend> frames) { return sender_->Transmit(frames); }
  size_t Send(std::span<const XdpFrame> frames) { return sender_->Send(frames); }
  std::span<const uint32_t> Refused() const { return sender_->Refused(); }
  size_t BytesInFlight() { return sender_->BytesInFlight(); }

  std::optional<XdpFrame> Keep(size_t index) {
    if (index >= lent_.size() || lent_[index].length == 0) return std::nullopt;
    return std::exchange(lent_[index], XdpFrame{});
  }

  PortCounters Counters() const {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    PortCounters counters{.rx_frames = rx_.frames.load(kRelaxed),
                          .rx_bytes = rx_.bytes.load(kRelaxed),
                          .rx_dropped_truncated = rx_.dropped_truncated.load(kRelaxed)};
    sender_->AddTo(&counters);
    for (const Queue& queue : queues_) {
      AddStatistics(queue.socket.get(), &counters);
      counters.rx_waiting += queue.rx.CountWaiting(
          [](const xdp_desc& entry) { return (entry.options & kContinued) == 0; });
    }
    return counters;
  }

 private:
  struct Queue {
    UniqueFd socket;
    XdpRing<xdp_desc> rx;
    XdpRing<uint64_t> fill, completed;  // the sender has the first queue's `completed`
    uint32_t with_kernel = 0;           // number of chunks in `fill` and `rx`
  };

  // ---- Opening

  void Bind(std::vector<UniqueFd> sockets, const XdpOptions& options) {
    state_.queues = static_cast<uint32_t>(sockets.size());
    for (size_t number = 0; number < sockets.size(); ++number) {
      Queue queue;
      queue.socket = std::move(sockets[number]);
      const bool is_first = number == 0;
      const int fd = queue.socket.get();
      if (is_first) Register(fd, *memory_);
      using O = xdp_mmap_offsets;
      queue.rx = {fd, XDP_RX_RING, XDP_PGOFF_RX_RING, &O::rx, options.slots, false};
      queue.fill = {fd,     XDP_UMEM_FILL_RING, static_cast<off_t>(XDP_UMEM_PGOFF_FILL_RING),
                    &O::fr, options.slots,      true};
      if (is_first) {
        sender_.emplace(fd, control_.get(), ifindex_, options.send_slots, memory_);
        BindFirst(fd, options);
      } else {
        queue.completed = {fd,
                           XDP_UMEM_COMPLETION_RING,
                           static_cast<off_t>(XDP_UMEM_PGOFF_COMPLETION_RING),
                           &O::cr,
                           2,
                           false};
        if (!BindFurther(fd, number)) break;  // the kernel counts fewer queues than the driver
      }
      queues_.push_back(std::move(queue));
    }
    state_.queues = static_cast<uint32_t>(queues_.size());
    xdp_options got{};
    socklen_t length = sizeof got;
    SystemCall("getsockopt XDP_OPTIONS",
               getsockopt(queues_.front().socket.get(), SOL_XDP, XDP_OPTIONS, &got, &length));
    state_.zero_copy = (got.flags & XDP_OPTIONS_ZEROCOPY) != 0;
    sender_->SetZeroCopy(state_.zero_copy);
    if (queues_.size() > 1) WatchAll();
  }

  sockaddr_xdp Address(size_t queue) const {
    sockaddr_xdp address{};
    address.sxdp_family = AF_XDP;
    address.sxdp_ifindex = static_cast<uint32_t>(ifindex_);
    address.sxdp_queue_id = static_cast<uint32_t>(queue);
    return address;
  }

  // Binds a socket, and tries again while its queue is busy: the kernel releases a queue a little
  // after its socket was closed (xp_release_deferred() in net/xdp/xsk_buff_pool.c).
  static bool BindPatiently(int fd, const sockaddr_xdp& address) {
    constexpr int kPauseMs = 1, kTries = 1000;
    for (int tries = 0; tries < kTries; ++tries) {
      if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
      if (errno != EBUSY) return false;
      poll(nullptr, 0, kPauseMs);
    }
    errno = EBUSY;
    return false;
  }

  // Binds the first socket. Without XDP_COPY the kernel uses zero-copy if the driver supports it,
  // and copies otherwise.
  void BindFirst(int fd, const XdpOptions& options) {
    sockaddr_xdp address = Address(0);
    address.sxdp_flags = XDP_USE_NEED_WAKEUP;
    if (state_.multi_buffer) address.sxdp_flags |= kUseSg;
    if (!options.zero_copy || !state_.native) address.sxdp_flags |= XDP_COPY;
    if (BindPatiently(fd, address)) return;
    if (errno == EINVAL && state_.multi_buffer) {
      throw EnvironmentError(
          fmt::format("AF_XDP: frames of an MTU of {} need several chunks of {} bytes, but this "
                      "kernel does not support multi-buffer frames (supported since Linux 6.6); "
                      "reduce the MTU to "
                      "at most {}, or use af_packet",
                      mtu_, memory_->chunk_bytes(), memory_->room() - kEthernet - kVlanTags));
    }
    RefuseBinding(0);
  }

  bool BindFurther(int fd, size_t number) {
    sockaddr_xdp address = Address(number);
    address.sxdp_flags = XDP_SHARED_UMEM;
    address.sxdp_shared_umem_fd = static_cast<uint32_t>(queues_.front().socket.get());
    if (BindPatiently(fd, address)) return true;
    if (errno != EINVAL) RefuseBinding(number);
    return false;
  }

  [[noreturn]] void RefuseBinding(size_t queue) const {
    const int error = errno;
    if (error != EBUSY)
      throw SystemError(fmt::format("bind an AF_XDP socket to queue {}", queue), error);
    throw EnvironmentError(
        fmt::format("AF_XDP: queue {} of the interface is used by a socket of another program; end "
                    "that program, or use af_packet",
                    queue));
  }

  void WatchAll() {
    all_ = UniqueFd(SystemCall("epoll_create1", epoll_create1(EPOLL_CLOEXEC)));
    for (const Queue& queue : queues_) {
      epoll_event event{};
      event.events = EPOLLIN;
      SystemCall("epoll_ctl", epoll_ctl(all_.get(), EPOLL_CTL_ADD, queue.socket.get(), &event));
    }
  }

  // ---- Receiving

  void ReturnLent() {
    for (const XdpFrame& frame : lent_) {
      if (frame.length != 0) memory_->Give(frame.address);
    }
    lent_.clear();
  }

  // Gives free chunks to the kernel, for each queue at most as many as the kernel may have.
  void Refill() {
    for (Queue& queue : queues_) {
      uint32_t count = 0;
      const uint32_t room = std::min(queue.fill.Available(), slots_ - queue.with_kernel);
      while (count < room) {
        const auto address = memory_->Take();
        if (!address) break;
        queue.fill[count++] = *address;
        held_[ChunkOf(*address)] = 1;
      }
      if (count > 0) queue.fill.Advance(count);
      queue.with_kernel += count;
      // With busy polling, only a system call makes the kernel poll the driver.
      if (queue.fill.NeedsWakeup() || (state_.busy_poll && queue.rx.Available() == 0)) {
        (void)recvfrom(queue.socket.get(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
      }
    }
  }

  size_t ReceiveFrom(Queue& queue, std::span<ReceivedFrame> frames, int64_t to_realtime) {
    const uint32_t available = queue.rx.Available();
    uint32_t read = 0;
    size_t count = 0;
    while (count < frames.size() && read < available) {
      if ((queue.rx[read].options & kContinued) != 0) {
        if (jumbo_used_ == kJumboFrames) break;
        const uint32_t parts = PartsOf(queue, read, available);
        if (parts == 0) break;  // the last parts of the frame have not arrived
        count += Gather(queue, read, parts, frames[count], to_realtime) ? 1 : 0;
        read += parts;
        continue;
      }
      const xdp_desc& entry = queue.rx[read++];
      held_[ChunkOf(entry.addr)] = 0;
      const int64_t stamp = TakeStamp(entry.addr);
      Describe({memory_->data() + entry.addr, entry.len}, stamp, to_realtime, frames[count++]);
      lent_.push_back({entry.addr, entry.len});
    }
    if (read > 0) queue.rx.Advance(read);
    queue.with_kernel -= read;
    return count;
  }

  // Returns the number of ring entries of the frame that begins at `first`; 0 if the end of the
  // frame has not arrived.
  static uint32_t PartsOf(const Queue& queue, uint32_t first, uint32_t available) {
    uint32_t parts = 1;
    while ((queue.rx[first + parts - 1].options & kContinued) != 0) {
      if (first + ++parts > available) return 0;
    }
    return parts;
  }

  // Copies the parts of a frame into one buffer, and returns their chunks to the memory. Returns
  // false if the frame is too long.
  bool Gather(Queue& queue, uint32_t first, uint32_t parts, ReceivedFrame& frame,
              int64_t to_realtime) {
    std::byte* const memory = jumbo_.get() + jumbo_used_ * longest_;
    size_t length = 0;
    const uint64_t start = queue.rx[first].addr;
    const int64_t stamp = TakeStamp(start);
    for (uint32_t i = 0; i < parts; ++i) {
      const xdp_desc& part = queue.rx[first + i];
      if (length + part.len <= longest_) {
        std::memcpy(memory + length, memory_->data() + part.addr, part.len);
      }
      length += part.len;
      held_[ChunkOf(part.addr)] = 0;
      memory_->Give(part.addr);
    }
    if (length > longest_) {
      Count(rx_.dropped_truncated, 1);
      return false;
    }
    ++jumbo_used_;
    Describe({memory, length}, stamp, to_realtime, frame);
    lent_.push_back({});
    return true;
  }

  // Returns the time at which the XDP program saw the frame that begins at `address`
  // (CLOCK_MONOTONIC); 0 if it is not known.
  int64_t TakeStamp(uint64_t address) {
    viaduct_xdp_stamp stamp;
    std::byte* const at = memory_->data() + address - sizeof stamp;
    std::memcpy(&stamp, at, sizeof stamp);
    if (stamp.magic != VIADUCT_XDP_STAMP) return 0;
    std::memset(at, 0, sizeof stamp);
    return static_cast<int64_t>(stamp.nanoseconds);
  }

  void Describe(std::span<std::byte> bytes, int64_t stamp, int64_t to_realtime,
                ReceivedFrame& frame) const {
    frame = {};
    frame.bytes = bytes;
    if (stamp != 0) frame.received = Instant::FromNanoseconds(stamp + to_realtime);
    if (state_.may_be_partial) FindPartialChecksum(frame);
  }

  // Marks the checksum of a frame as partial if its field holds the sum of the pseudo-header. The
  // field of a complete checksum may hold the same value, once in 65536 frames: a checksum that is
  // correct is not marked.
  static void FindPartialChecksum(ReceivedFrame& frame) {
    constexpr uint8_t kTcp = 6, kUdp = 17;
    const auto layers = wire::FindIpLayers(frame.bytes);
    if (!layers || layers->fragment) return;
    if (layers->protocol != kTcp && layers->protocol != kUdp) return;
    const size_t offset = layers->protocol == kTcp ? wire::TcpHeader::kChecksumOffset
                                                   : wire::UdpHeader::kChecksumOffset;
    if (layers->transport + offset + 2 > layers->end) return;
    const uint16_t field = wire::Load16(frame.bytes.data() + layers->transport + offset);
    if (field == 0 && layers->protocol == kUdp) return;
    const auto length = static_cast<uint32_t>(layers->end - layers->transport);
    const wire::IpAddress source = layers->Source(frame.bytes);
    const wire::IpAddress destination = layers->Destination(frame.bytes);
    if (field != wire::PseudoHeaderSum(source, destination, layers->protocol, length)) return;
    if (wire::TransportChecksumIsRight(source, destination, layers->protocol,
                                       frame.bytes.subspan(layers->transport, length))) {
      return;
    }
    frame.checksum = Checksum::kPartial;
    frame.checksum_start = static_cast<uint16_t>(layers->transport);
    frame.checksum_offset = static_cast<uint16_t>(offset);
  }

  size_t ChunkOf(uint64_t address) const { return address / memory_->chunk_bytes(); }

  // ---- Counting

  using Counter = std::atomic<uint64_t>;
  static void Count(Counter& counter, uint64_t n) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  // Adds the statistics of a socket to the counters. A kernel that copies counts a frame for which
  // it has no chunk in `rx_fill_ring_empty_descs` and `rx_dropped`, and a frame that is too long in
  // `rx_dropped` only. A driver with zero-copy counts its reads of an empty ring, not frames.
  void AddStatistics(int fd, PortCounters* counters) const {
    xdp_statistics statistics{};
    socklen_t length = sizeof statistics;
    if (getsockopt(fd, SOL_XDP, XDP_STATISTICS, &statistics, &length) != 0) return;
    const uint64_t no_chunk =
        state_.zero_copy ? 0 : std::min(statistics.rx_fill_ring_empty_descs, statistics.rx_dropped);
    counters->rx_dropped_ring_full += statistics.rx_ring_full + no_chunk;
    counters->rx_dropped_truncated += statistics.rx_dropped - no_chunk;
    counters->tx_dropped_error += statistics.tx_invalid_descs;
  }

  std::shared_ptr<void> keeper_;  // the first member, so it is destroyed last
  UniqueFd control_, all_;
  int ifindex_;
  uint32_t mtu_;
  size_t longest_;
  uint32_t slots_;
  XdpState state_;
  std::shared_ptr<XdpMemory> memory_;
  std::vector<uint8_t> held_;  // for each chunk: whether the kernel has it for receiving
  std::optional<XdpSender> sender_;
  std::vector<Queue> queues_;
  size_t first_queue_ = 0;
  std::vector<XdpFrame> lent_;  // frames of the last Receive(); length 0: copied, or kept by Keep()
  std::unique_ptr<std::byte[]> jumbo_;
  size_t jumbo_used_ = 0;
  struct alignas(64) {
    Counter frames = 0, bytes = 0, dropped_truncated = 0;
  } rx_;
};

XdpPort::XdpPort(XdpSockets sockets, const XdpOptions& options)
    : impl_(std::make_unique<Impl>(std::move(sockets), options)) {}
XdpPort::XdpPort(XdpPort&&) noexcept = default;
XdpPort& XdpPort::operator=(XdpPort&&) noexcept = default;
XdpPort::~XdpPort() = default;

size_t XdpPort::Receive(std::span<ReceivedFrame> frames) { return impl_->Receive(frames); }
size_t XdpPort::Transmit(std::span<const FrameToSend> frames) { return impl_->Transmit(frames); }
std::span<const uint32_t> XdpPort::Refused() const { return impl_->Refused(); }
size_t XdpPort::BytesInFlight() { return impl_->BytesInFlight(); }
int XdpPort::fd() { return impl_->fd(); }
PortCounters XdpPort::Counters() { return impl_->Counters(); }
bool XdpPort::Up() { return impl_->Up(); }
uint32_t XdpPort::Mtu() const { return impl_->Mtu(); }
std::string XdpPort::Description() const { return "AF_XDP: " + impl_->state().Describe(); }
const XdpState& XdpPort::state() const { return impl_->state(); }
std::optional<XdpFrame> XdpPort::Keep(size_t index) { return impl_->Keep(index); }
size_t XdpPort::Send(std::span<const XdpFrame> frames) { return impl_->Send(frames); }
void XdpPort::GiveBack(const XdpFrame& frame) { impl_->memory()->Give(frame.address); }
const std::shared_ptr<XdpMemory>& XdpPort::memory() const { return impl_->memory(); }

uint32_t XdpPort::ChunksFor(const XdpOptions& options, size_t queues) {
  return options.slots * static_cast<uint32_t>(queues) + options.send_slots + kLentAtMost;
}

uint32_t XdpPort::ChunkBytesFor(uint32_t mtu) {
  constexpr uint32_t kSmall = 2048, kPage = 4096;
  return LongestFrame(mtu) + XdpMemory::kHeadroom <= kSmall ? kSmall : kPage;
}

}  // namespace viaduct::io
