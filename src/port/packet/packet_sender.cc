#include "port/packet/packet_sender.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "port/interface.h"

namespace viaduct::io {
namespace {

size_t SendBufferOf(int fd) {
  int bytes = 0;
  socklen_t size = sizeof(bytes);
  SystemCall("getsockopt SO_SNDBUF", getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size));
  return static_cast<size_t>(bytes);
}

}  // namespace

PacketSender::PacketSender(int fd, int ifindex, bool has_header, SharedCounters& counters)
    : fd_(fd), ifindex_(ifindex), counters_(counters), flight_(SendBufferOf(fd)) {
  refused_.reserve(kBurst);
  const size_t first = has_header ? 0 : 1;
  for (size_t i = 0; i < kBurst; ++i) {
    iovecs_[2 * i] = {&no_offload_, sizeof(no_offload_)};
    messages_[i].msg_hdr.msg_iov = &iovecs_[2 * i + first];
    messages_[i].msg_hdr.msg_iovlen = 2 - first;
  }
}

size_t PacketSender::Transmit(std::span<const FrameToSend> frames) {
  size_t taken = 0;
  refused_.clear();
  while (taken < frames.size()) {
    const size_t burst = std::min(frames.size() - taken, kBurst);
    for (size_t i = 0; i < burst; ++i) {
      iovecs_[2 * i + 1] = {const_cast<std::byte*>(frames[taken + i].data()),
                            frames[taken + i].size()};
    }
    const int sent = sendmmsg(fd_, messages_.data(), static_cast<unsigned>(burst), MSG_DONTWAIT);
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
    // The error is about the first frame that was not sent: sendmmsg() reports only an error of the
    // first frame of a call.
    if (errno == EINTR) continue;
    if (IsBackpressure(errno)) break;
    counters_.tx.dropped_error.Add(1);
    refused_.push_back(static_cast<uint32_t>(taken));
    ++taken;
  }
  return taken;
}

size_t PacketSender::BytesInFlight() {
  int memory = 0;
  if (ioctl(fd_, SIOCOUTQ, &memory) != 0) memory = 0;
  return flight_.Update(static_cast<size_t>(std::max(memory, 0)));
}

// Whether an error is temporary. Without a queueing discipline, sending fails with ENOBUFS both if
// the interface is full and if it has no carrier; only a full interface accepts the frame later.
bool PacketSender::IsBackpressure(int error) const {
  return error == EAGAIN || (error == ENOBUFS && InterfaceHasCarrier(fd_, ifindex_));
}

}  // namespace viaduct::io
