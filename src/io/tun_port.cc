#include "io/tun_port.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "io/vnet_header.h"

namespace viaduct::io {

TunPort::TunPort(UniqueFd device, const TunOptions& options)
    : device_(std::move(device)),
      options_(options),
      header_bytes_(options.vnet_header ? sizeof(VnetHeader) : 0),
      memory_(std::make_unique_for_overwrite<std::byte[]>(kBurst * Room())) {
  const int flags = SystemCall("fcntl F_GETFL on a TUN device", fcntl(Fd(), F_GETFL));
  SystemCall("fcntl F_SETFL O_NONBLOCK on a TUN device", fcntl(Fd(), F_SETFL, flags | O_NONBLOCK));
}

TunPort::~TunPort() {
  if (device_ && options_.vnet_header) ioctl(Fd(), TUNSETOFFLOAD, 0);
}

size_t TunPort::Receive(std::span<ReceivedFrame> frames) {
  const size_t burst = std::min(frames.size(), kBurst);
  size_t count = 0;
  uint64_t bytes = 0;
  while (count < burst) {
    std::byte* const memory = memory_.get() + count * Room();
    // The device truncates packets that do not fit: one extra byte of room distinguishes a full
    // from a truncated one.
    const ssize_t length = read(Fd(), memory, Room());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;  // EAGAIN: no packet; anything else: the device has been removed
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

// Whether it was written whole. `again`: there was no room.
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
  while (taken < frames.size()) {
    bool again = false;
    const bool written = WriteFrame(frames[taken], &again);
    if (again) break;
    if (written) {
      ++sent;
      bytes += frames[taken].size();
    } else {
      counters_.tx.dropped_error.Add(1);  // EIO: the device is down; EINVAL: not an IP packet
    }
    ++taken;
  }
  counters_.tx.frames.Add(sent);
  counters_.tx.bytes.Add(bytes);
  return taken;
}

PortCounters TunPort::Counters() { return counters_.Read(); }

std::string TunPort::Description() const {
  return options_.vnet_header ? "TUN/TAP device, checksums and segments left to us"
                              : "TUN/TAP device";
}

}  // namespace viaduct::io
