#include "io/tun_port.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace viaduct::io {

TunPort::TunPort(UniqueFd device, size_t max_frame)
    : device_(std::move(device)),
      max_frame_(max_frame),
      memory_(std::make_unique_for_overwrite<std::byte[]>(kBurst * (max_frame + 1))) {
  const int flags = SystemCall("fcntl F_GETFL on a TUN device", fcntl(Fd(), F_GETFL));
  SystemCall("fcntl F_SETFL O_NONBLOCK on a TUN device", fcntl(Fd(), F_SETFL, flags | O_NONBLOCK));
}

size_t TunPort::Receive(std::span<ReceivedFrame> frames) {
  const size_t burst = std::min(frames.size(), kBurst);
  size_t count = 0;
  while (count < burst) {
    std::byte* const memory = memory_.get() + count * (max_frame_ + 1);
    // The device truncates packets that do not fit: one extra byte of room distinguishes a full
    // from a truncated one.
    const ssize_t length = read(Fd(), memory, max_frame_ + 1);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;  // EAGAIN: no packet; anything else: the device has been removed
    if (static_cast<size_t>(length) > max_frame_) {
      ++counters_.rx_dropped_truncated;
      continue;
    }
    frames[count] = {};
    frames[count].bytes = {memory, static_cast<size_t>(length)};
    ++count;
    ++counters_.rx_frames;
    counters_.rx_bytes += static_cast<uint64_t>(length);
  }
  return count;
}

size_t TunPort::Transmit(std::span<const FrameToSend> frames) {
  size_t taken = 0;
  while (taken < frames.size()) {
    const FrameToSend frame = frames[taken];
    const ssize_t written = write(Fd(), frame.data(), frame.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && (errno == EAGAIN || errno == ENOBUFS)) break;
    ++taken;
    if (written != static_cast<ssize_t>(frame.size())) {
      ++counters_.tx_dropped_error;  // EIO: the device is down; EINVAL: not an IP packet
      continue;
    }
    ++counters_.tx_frames;
    counters_.tx_bytes += frame.size();
  }
  return taken;
}

}  // namespace viaduct::io
