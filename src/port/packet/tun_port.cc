#include "port/packet/tun_port.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/wire/ethernet.h"
#include "port/interface.h"
#include "port/packet/vnet_header.h"

namespace viaduct::io {
namespace {

// Returns the number of bytes by which a frame with a VLAN tag may exceed the MTU
// (net/packet/af_packet.c, packet_extra_vlan_len_allowed()).
size_t TagBytes(FrameToSend frame) {
  const auto header = wire::EthernetHeader::Parse(frame);
  return header && header->type == wire::ether_type::kVlan ? wire::VlanTag::kSize : 0;
}

}  // namespace

TunPort::TunPort(UniqueFd device, TunOptions options, TunInterface interface)
    : device_(std::move(device)),
      options_(std::move(options)),
      interface_(std::move(interface)),
      header_bytes_(options_.vnet_header ? sizeof(VnetHeader) : 0),
      memory_(std::make_unique_for_overwrite<std::byte[]>(kBurst * Room())) {
  if (interface_.control) mtu_ = InterfaceMtu(interface_.control.get(), interface_.ifindex);
  if (options_.kernel_drops) drops_before_ = options_.kernel_drops();
  const int flags = SystemCall("fcntl F_GETFL on a TUN device", fcntl(fd(), F_GETFL));
  SystemCall("fcntl F_SETFL O_NONBLOCK on a TUN device", fcntl(fd(), F_SETFL, flags | O_NONBLOCK));
}

TunPort::~TunPort() {
  if (device_ && options_.vnet_header) ioctl(fd(), TUNSETOFFLOAD, 0);
}

size_t TunPort::Receive(std::span<ReceivedFrame> frames) {
  const size_t burst = std::min(frames.size(), kBurst);
  size_t count = 0;
  uint64_t bytes = 0;
  while (count < burst) {
    std::byte* const memory = memory_.get() + count * Room();
    // Reads with one extra byte of space: the device truncates packets that do not fit, and the
    // extra byte distinguishes a packet that fills the space from a truncated packet.
    const ssize_t length = read(fd(), memory, Room());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EBADFD) BecomeSilent();
    if (length <= 0) break;  // EAGAIN: no packet; other errors: the device is down or gone
    if (static_cast<size_t>(length) == Room() || static_cast<size_t>(length) < header_bytes_) {
      counters_.rx.dropped_truncated.Add(1);
      continue;
    }
    ReceivedFrame& frame = frames[count];
    frame = {};
    if (options_.vnet_header) {
      VnetHeader header;
      std::memcpy(&header, memory, sizeof header);
      header.Describe(frame);
    }
    frame.bytes = {memory + header_bytes_, static_cast<size_t>(length) - header_bytes_};
    ++count;
    bytes += frame.bytes.size();
  }
  counters_.rx.frames.Add(count);
  counters_.rx.bytes.Add(bytes);
  return count;
}

// Replaces the device's descriptor by a descriptor that is never readable. A device that has been
// removed is always readable (tun_chr_poll() in drivers/net/tun.c), so that a thread that waits for
// it would never sleep. The descriptor's number remains valid, but then refers to a timer that is
// never started and that can be neither read nor written.
void TunPort::BecomeSilent() {
  const UniqueFd nothing(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  if (nothing) dup3(nothing.get(), fd(), O_CLOEXEC);
}

size_t TunPort::MostNow() const {
  if (!interface_.control) return std::numeric_limits<size_t>::max() - wire::VlanTag::kSize;
  return size_t{InterfaceMtuNow(interface_.control.get(), interface_.ifindex)} +
         wire::EthernetHeader::kSize;
}

bool TunPort::Up() {
  return !interface_.control || InterfaceIsUp(interface_.control.get(), interface_.ifindex);
}

// Writes a frame. Returns whether the complete frame was written. `again`: set to whether the
// kernel had no space.
bool TunPort::WriteFrame(FrameToSend frame, bool* again) const {
  VnetHeader nothing_to_do{};
  const std::array<iovec, 2> parts = {{{&nothing_to_do, sizeof nothing_to_do},
                                       {const_cast<std::byte*>(frame.data()), frame.size()}}};
  const size_t first = options_.vnet_header ? 0 : 1;
  ssize_t written = 0;
  do {
    written = writev(device_.get(), &parts[first], static_cast<int>(parts.size() - first));
  } while (written < 0 && errno == EINTR);
  *again = written < 0 && (errno == EAGAIN || errno == ENOBUFS);
  return written == static_cast<ssize_t>(frame.size() + header_bytes_);
}

size_t TunPort::Transmit(std::span<const FrameToSend> frames) {
  size_t taken = 0;
  uint64_t sent = 0, bytes = 0;
  refused_.clear();
  const size_t most = MostNow();
  while (taken < frames.size()) {
    const FrameToSend frame = frames[taken];
    bool again = false;
    const bool fits = frame.size() <= most || frame.size() <= most + TagBytes(frame);
    const bool written = fits && WriteFrame(frame, &again);
    if (again) break;
    if (written) {
      ++sent;
      bytes += frames[taken].size();
    } else {
      counters_.tx.dropped_error.Add(1);  // EIO: the device is down; EINVAL: not an IP packet
      refused_.push_back(static_cast<uint32_t>(taken));
    }
    ++taken;
  }
  counters_.tx.frames.Add(sent);
  counters_.tx.bytes.Add(bytes);
  return taken;
}

PortCounters TunPort::Counters() {
  PortCounters counters = counters_.Read();
  if (options_.kernel_drops) {
    const uint64_t drops = options_.kernel_drops();
    counters.rx_dropped_ring_full = drops - std::min(drops, drops_before_);
  }
  return counters;
}

std::string TunPort::Description() const {
  return options_.vnet_header ? "TUN/TAP device with checksum and segmentation offload to Viaduct"
                              : "TUN/TAP device";
}

}  // namespace viaduct::io
