#include "port/dpdk/driver/port.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <rte_mbuf_dyn.h>
#include <rte_version.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/wire/ethernet.h"
#include "port/dpdk/driver/descriptors.h"
#include "port/dpdk/driver/eal.h"
#include "port/interface.h"

namespace viaduct::dpdk {
namespace {

constexpr size_t kTags = 2 * wire::VlanTag::kSize;
// The number of empty calls of Receive() for each check of the socket's error.
constexpr uint32_t kPollsPerErrorCheck = 16;

size_t LongestFrame(uint32_t mtu) { return mtu + wire::EthernetHeader::kSize + kTags; }

// Returns the bytes of a slot in net_af_packet's rings. A slot holds more than the longest frame,
// so that a longer frame is detected: the kernel cuts off what does not fit into the slot after the
// headers (tpacket_rcv() in net/packet/af_packet.c).
uint32_t SlotBytes(size_t longest) {
  constexpr size_t kHeaders = 128, kSmallest = 2048;
  return static_cast<uint32_t>(std::max(std::bit_ceil(longest + 1 + kHeaders), kSmallest));
}

std::string ArgumentsFor(const Device& device, uint32_t slot_bytes) {
  if (device.ifindex == 0) return "";
  const uint32_t block = std::max<uint32_t>(slot_bytes, 65536);
  const uint32_t slots = std::max(device.slots, block / slot_bytes);
  return fmt::format("iface={},qpairs=1,blocksz={},framesz={},framecnt={},qdisc_bypass={}",
                     device.interface, block, slot_bytes, slots, device.qdisc_bypass ? 1 : 0);
}

// Returns the DPDK name of a device: unique for each device of the driver for kernel interfaces.
std::string NameFor(const Device& device) {
  static std::atomic<uint32_t> devices = 0;
  const bool is_whole = device.ifindex == 0;
  return is_whole ? device.name : fmt::format("{}{}", device.name, devices.fetch_add(1));
}

size_t SendBufferOf(int fd) {
  int bytes = 0;
  socklen_t size = sizeof(bytes);
  SystemCall("getsockopt SO_SNDBUF", getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size));
  return static_cast<size_t>(bytes);
}

UniqueFd AlwaysReadable() {
  return UniqueFd(SystemCall("eventfd", eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC)));
}

UniqueFd Duplicate(int fd) { return UniqueFd(SystemCall("dup", fcntl(fd, F_DUPFD_CLOEXEC, 0))); }

// Whether the administrator switched promiscuous mode on (ip link set promisc on). DPDK switches
// the mode off when it starts a device, unless the device is configured to be promiscuous.
bool IsPromiscuous(int fd, int ifindex) {
  ifreq request{};
  request.ifr_ifindex = ifindex;
  return ioctl(fd, SIOCGIFNAME, &request) == 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0 &&
         (request.ifr_flags & IFF_PROMISC) != 0;
}

// Returns the interfaces on which this process has a DPDK port; key: the cookie of the network
// namespace, and the interface's index. An interface may have one port only: the net_af_packet
// sockets of a process on an interface are a fanout group, in which each socket receives a part of
// the frames. The caller must hold Eal::mutex(). The map is never destroyed: if an error ends the
// program, ns-3 destroys its nodes, and their ports, later than this library's objects.
std::map<std::pair<uint64_t, int>, const Port*>& InUse() {
  static auto& in_use = *new std::map<std::pair<uint64_t, int>, const Port*>;
  return in_use;
}

// Whether a packet socket is still bound. If it is not, the interface has left the network
// namespace since; even if the interface returns with the same index, the kernel never binds the
// socket again.
bool IsBound(int socket) {
  sockaddr_ll address{};
  socklen_t size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) < 0) return true;
  return address.sll_ifindex > 0;
}

uint64_t CookieOf(int socket) {
  constexpr int kNetworkCookie = 71;  // SO_NETNS_COOKIE, Linux 5.14
  uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  (void)getsockopt(socket, SOL_SOCKET, kNetworkCookie, &cookie, &size);
  return cookie;
}

// Makes a descriptor refer to /dev/null during this object's lifetime. When DPDK starts a device,
// it sets the MAC address that the device has already. Through net_af_packet's socket, DPDK would
// also set the MAC address of the kernel interface, and the kernel would delete the interface's
// neighbour entries, including permanent entries (neigh_changeaddr() in net/core/neighbour.c).
class SetAside {
 public:
  explicit SetAside(int fd) : fd_(fd), aside_(Duplicate(fd)) {
    const UniqueFd nothing(SystemCall("open /dev/null", open("/dev/null", O_RDWR | O_CLOEXEC)));
    SystemCall("dup3", dup3(nothing.get(), fd_, O_CLOEXEC));
  }
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;
  ~SetAside() { dup3(aside_.get(), fd_, O_CLOEXEC); }

 private:
  int fd_;
  UniqueFd aside_;
};

}  // namespace

Port::Port(Device device)
    : keeper_(std::move(device.keeper)),
      name_(NameFor(device)),
      ifindex_(device.ifindex),
      mtu_(device.mtu),
      longest_(LongestFrame(device.mtu)),
      control_(std::move(device.control)) {
  refused_.reserve(kLentAtMost);
  const std::scoped_lock lock(Eal::Get().mutex());
  if (ifindex_ != 0 && !Enter()) {
    throw UsageError(
        fmt::format("DPDK on interface {}: this process already has a port on this interface, and "
                    "each port would receive only a part of the frames",
                    device.interface));
  }
  try {
    Open(device);
  } catch (...) {
    Leave();
    throw;
  }
}

Port::~Port() {
  ReturnLent();
  fd_ = {};
  transmit_fd_ = {};
  device_.reset();
  if (buffer_flight_) buffer_flight_->Clear();
  const std::scoped_lock lock(Eal::Get().mutex());
  received_.reset();
  sent_.reset();
  Leave();
}

bool Port::Enter() {
  const Port*& entry = InUse()[{CookieOf(control_.get()), ifindex_}];
  if (entry != nullptr && (!entry->is_packet_socket_ || IsBound(entry->fd_.get()))) return false;
  entry = this;
  return true;
}

void Port::Leave() {
  const auto entry = InUse().find({CookieOf(control_.get()), ifindex_});
  if (entry != InUse().end() && entry->second == this) InUse().erase(entry);
}

void Port::Open(const Device& device) {
  const uint32_t slot_bytes = SlotBytes(longest_);
  const NewDescriptors opened;
  try {
    device_.emplace(name_, ArgumentsFor(device, slot_bytes));
    const int socket = device.ifindex != 0 ? opened.PacketSocketOf(device.ifindex) : -1;
    if (socket >= 0) device.prepare(socket);
    Configure(device, socket);
    opened.CloseOnExec();
    if (socket >= 0) {
      TakeSocket(device, socket, std::max(device.slots, 65536 / slot_bytes));
    } else {
      fd_ = AlwaysReadable();
    }
  } catch (...) {
    // Unlocks the mutex: the destructor of the device locks it.
    Eal::Get().mutex().unlock();
    device_.reset();
    Eal::Get().mutex().lock();
    throw;
  }
  if (ifindex_ != 0) watch_.emplace(control_.get(), ifindex_);
}

void Port::Configure(const Device& device, int socket) {
  Eal& eal = Eal::Get();
  const uint16_t port = device_->port();
  rte_eth_dev_info info{};
  if (const int result = rte_eth_dev_info_get(port, &info); result != 0) {
    eal.Refuse("query the device " + name_ + " for its capabilities", result);
  }
  driver_ = info.driver_name != nullptr ? info.driver_name : name_;
  rte_eth_conf configuration{};
  if (ifindex_ == 0) configuration.rxmode.mtu = device.mtu;
  const uint64_t stamps = socket >= 0 ? info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP : 0;
  const uint64_t scatter = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
  configuration.rxmode.offloads = stamps | scatter;
  if (const int result = rte_eth_dev_configure(port, 1, 1, &configuration); result != 0) {
    eal.Refuse("configure the device " + name_, result);
  }
  auto receive = static_cast<uint16_t>(std::min<uint32_t>(device.slots, 32768)), send = receive;
  rte_eth_dev_adjust_nb_rx_tx_desc(port, &receive, &send);
  const uint32_t room = std::max(SlotBytes(longest_), info.min_rx_bufsize);
  // The driver net_af_packet copies frames from its ring on request, so no buffers wait in a
  // receive queue.
  const uint32_t waiting = socket >= 0 ? 0 : receive;
  received_ = MakePool(fmt::format("viaduct-rx-{}", port), waiting + kLentAtMost + kBurst, room);
  sent_ = MakePool(fmt::format("viaduct-tx-{}", port), (socket >= 0 ? 0 : send) + 2 * kBurst,
                   static_cast<uint32_t>(longest_));
  const auto node = static_cast<unsigned>(rte_eth_dev_socket_id(port));
  if (const int result = rte_eth_rx_queue_setup(port, 0, receive, node, nullptr, received_.get());
      result != 0) {
    eal.Refuse("set up the receive queue of the device " + name_, result);
  }
  if (const int result = rte_eth_tx_queue_setup(port, 0, send, node, nullptr); result != 0) {
    eal.Refuse("set up the send queue of the device " + name_, result);
  }
  const bool is_kernels = ifindex_ != 0;
  if (!is_kernels || IsPromiscuous(control_.get(), ifindex_)) rte_eth_promiscuous_enable(port);
  {
    std::optional<SetAside> aside;
    if (socket >= 0) aside.emplace(socket);
    device_->Start();
  }
  if (stamps != 0) rte_mbuf_dyn_rx_timestamp_register(&stamp_offset_, &stamp_flag_);
  if (socket < 0 && rte_eth_tx_done_cleanup(port, 0, 0) != -ENOTSUP) buffer_flight_.emplace();
}

void Port::TakeSocket(const Device& device, int socket, uint32_t slots) {
  is_packet_socket_ = true;
  fd_ = Duplicate(socket);
  transmit_fd_ = Duplicate(socket);
  ring_flight_.emplace(fd_.get(), slots, SendBufferOf(socket));
  // Resets DPDK's statistics first, because this reset may read, and thereby reset, the statistics
  // of the socket.
  rte_eth_stats_reset(device_->port());
  tpacket_stats stats{};
  socklen_t size = sizeof stats;
  (void)getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &stats, &size);
  uint64_t put = stats.tp_packets - stats.tp_drops;
  // Discards the frames that arrived before the socket was prepared.
  std::array<rte_mbuf*, kBurst> early;
  for (uint32_t seen = 0; seen < std::max<uint32_t>(device.slots, kBurst); seen += kBurst) {
    const uint16_t count = rte_eth_rx_burst(device_->port(), 0, early.data(), kBurst);
    rte_pktmbuf_free_bulk(early.data(), count);
    put -= count;  // wraps around below 0, until Counters() adds later frames
    if (count < kBurst) break;
  }
  put_into_ring_ = put;
}

// ---- Receiving

void Port::ReturnLent() {
  if (lent_count_ > 0) rte_pktmbuf_free_bulk(lent_.data(), lent_count_);
  lent_count_ = 0;
  gathered_count_ = 0;
}

size_t Port::Receive(std::span<io::ReceivedFrame> frames) {
  ReturnLent();
  const auto wanted = static_cast<uint16_t>(std::min(frames.size(), kLentAtMost));
  if (wanted == 0) return 0;
  lent_count_ = rte_eth_rx_burst(device_->port(), 0, lent_.data(), wanted);
  size_t count = 0;
  uint64_t bytes = 0;
  for (uint16_t i = 0; i < lent_count_; ++i) {
    if (!Describe(lent_[i], &frames[count])) {
      Count(rx_.dropped_truncated, 1);
      continue;
    }
    bytes += frames[count++].bytes.size();
  }
  if (lent_count_ == 0 && is_packet_socket_ && empty_polls_++ % kPollsPerErrorCheck == 0)
    ClearError();
  Count(rx_.frames, count);
  Count(rx_.bytes, bytes);
  return count;
}

bool Port::Describe(rte_mbuf* buffer, io::ReceivedFrame* frame) {
  if (buffer->pkt_len > longest_) return false;
  *frame = {};
  frame->bytes = Bytes(buffer);
  if (stamp_flag_ != 0 && (buffer->ol_flags & stamp_flag_) != 0) {
    frame->received = Instant::FromNanoseconds(
        static_cast<int64_t>(*RTE_MBUF_DYNFIELD(buffer, stamp_offset_, rte_mbuf_timestamp_t*)));
  }
  return true;
}

std::span<std::byte> Port::Bytes(rte_mbuf* buffer) {
  if (buffer->nb_segs == 1) return {rte_pktmbuf_mtod(buffer, std::byte*), buffer->pkt_len};
  if (gathered_.size() == gathered_count_) gathered_.emplace_back(longest_);
  std::byte* const memory = gathered_[gathered_count_++].data();
  size_t at = 0;
  for (const rte_mbuf* part = buffer; part != nullptr; part = part->next) {
    std::memcpy(memory + at, rte_pktmbuf_mtod(part, const std::byte*), part->data_len);
    at += part->data_len;
  }
  return {memory, at};
}

// Clears the socket's error. A link that went down leaves ENETDOWN on the socket, and poll()
// returns at once until the error is read.
void Port::ClearError() {
  int error = 0;
  socklen_t size = sizeof(error);
  (void)getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
}

// ---- Sending

bool Port::Takes(io::FrameToSend frame) const {
  return watch_ ? watch_->Takes(frame) : !is_down_ && io::FitsMtu(frame, mtu_);
}

void Port::Poll() {
  if (watch_) return watch_->Poll(/*with_state=*/true);
  if (const int64_t tick = io::CoarseTick(); tick != looked_) {
    looked_ = tick;
    is_down_ = !Up();
  }
}

size_t Port::Transmit(std::span<const io::FrameToSend> frames) {
  refused_.clear();
  Poll();
  if (buffer_flight_) BytesInFlight();
  size_t taken = 0;
  size_t room = ring_flight_ ? ring_flight_->Room(frames.size()) : frames.size();
  while (taken < frames.size()) {
    if (!Takes(frames[taken])) {
      Refuse(taken++);
      continue;
    }
    size_t count = 1;
    const size_t most = std::min({frames.size() - taken, kBurst, room});
    while (count < most && Takes(frames[taken + count])) ++count;
    if (most == 0) break;
    const size_t sent = Flush(frames.subspan(taken, count));
    taken += sent;
    if (sent < count) break;
    room -= sent;
  }
  if (ring_flight_) ring_flight_->Push();
  return taken;
}

// Sends frames without checks. Returns the number of frames that the driver took.
size_t Port::Flush(std::span<const io::FrameToSend> frames) {
  std::array<rte_mbuf*, kBurst> buffers;
  const auto count = static_cast<unsigned>(frames.size());
  if (rte_pktmbuf_alloc_bulk(sent_.get(), buffers.data(), count) != 0) return 0;
  for (unsigned i = 0; i < count; ++i) {
    std::memcpy(rte_pktmbuf_append(buffers[i], static_cast<uint16_t>(frames[i].size())),
                frames[i].data(), frames[i].size());
    if (buffer_flight_) BufferFlight::Hold(buffers[i]);
  }
  const uint16_t sent =
      rte_eth_tx_burst(device_->port(), 0, buffers.data(), static_cast<uint16_t>(count));
  uint64_t bytes = 0;
  for (unsigned i = 0; i < sent; ++i) {
    if (ring_flight_) ring_flight_->Add(frames[i].size());
    if (buffer_flight_) buffer_flight_->Add(buffers[i]);
    bytes += frames[i].size();
  }
  for (unsigned i = sent; i < count; ++i) {
    if (buffer_flight_) BufferFlight::LetGo(buffers[i]);
    rte_pktmbuf_free(buffers[i]);
  }
  Count(tx_.frames, sent);
  Count(tx_.bytes, bytes);
  return sent;
}

void Port::Refuse(size_t index) {
  Count(tx_.dropped_error, 1);
  refused_.push_back(static_cast<uint32_t>(index));
}

size_t Port::BytesInFlight() {
  if (ring_flight_) return ring_flight_->Update();
  if (!buffer_flight_) return 0;
  rte_eth_tx_done_cleanup(device_->port(), 0, 0);
  return buffer_flight_->Update();
}

// ---- Counters, state and description

io::PortCounters Port::Counters() {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  // Adds up the socket's statistics, because each read resets them. net_af_packet of DPDK 24 also
  // reads these statistics, and counts the drops in `imissed`.
  tpacket_stats kernel{};
  socklen_t size = sizeof kernel;
  if (is_packet_socket_ &&
      getsockopt(fd_.get(), SOL_PACKET, PACKET_STATISTICS, &kernel, &size) == 0) {
    ring_full_.fetch_add(kernel.tp_drops, kRelaxed);
    put_into_ring_.fetch_add(kernel.tp_packets - kernel.tp_drops, kRelaxed);
  }
  rte_eth_stats stats{};
  (void)rte_eth_stats_get(device_->port(), &stats);
  // Only hardware drivers count lost frames in `oerrors`: virtual drivers count there the frames
  // that they have not taken, and the port offers these frames again. With net_af_packet no frame
  // is lost because a buffer is missing: a received frame stays in the receive ring, and a frame
  // that the kernel has not taken stays in the transmit ring.
  const bool is_hardware = device_->is_hardware();
  const uint64_t failed = is_hardware ? std::min(stats.oerrors, tx_.frames.load(kRelaxed)) : 0;
  const RingFlight::Unsent unsent = ring_flight_ ? ring_flight_->unsent() : RingFlight::Unsent{};
  const uint64_t no_buffer = is_packet_socket_ ? 0 : stats.rx_nombuf;
  const uint64_t put = put_into_ring_.load(kRelaxed);
  const uint64_t taken = rx_.frames.load(kRelaxed) + rx_.dropped_truncated.load(kRelaxed);
  return {.rx_frames = rx_.frames.load(kRelaxed),
          .rx_bytes = rx_.bytes.load(kRelaxed),
          .tx_frames = tx_.frames.load(kRelaxed) - failed - unsent.frames,
          .tx_bytes = tx_.bytes.load(kRelaxed) - unsent.bytes,
          .rx_dropped_ring_full = ring_full_.load(kRelaxed) + stats.imissed + no_buffer,
          .rx_dropped_truncated = rx_.dropped_truncated.load(kRelaxed) + stats.ierrors,
          .tx_dropped_error = tx_.dropped_error.load(kRelaxed) + failed,
          .rx_waiting = put - std::min(put, taken)};
}

bool Port::Up() {
  if (ifindex_ != 0) return io::InterfaceIsUp(control_.get(), ifindex_);
  rte_eth_link link{};
  return rte_eth_link_get_nowait(device_->port(), &link) == 0 &&
         link.link_status == RTE_ETH_LINK_UP;
}

std::string Port::Description() const {
  const char* const flight =
      ring_flight_ || buffer_flight_ ? "exact" : "not reported by the driver";
  return fmt::format("DPDK {}.{}.{}: {} with driver {}, {}, bytes in flight {}{}", RTE_VER_YEAR,
                     RTE_VER_MONTH, RTE_VER_MINOR, name_, driver_,
                     is_packet_socket_ ? "waits for its socket" : "polled continuously", flight,
                     stamp_flag_ != 0 ? ", frames timestamped by the kernel" : "");
}

}  // namespace viaduct::dpdk
