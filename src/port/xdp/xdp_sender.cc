#include "port/xdp/xdp_sender.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace viaduct::io {
namespace {

constexpr uint32_t kContinued = 1 << 0;  // XDP_PKT_CONTD of linux/if_xdp.h since Linux 6.6
constexpr uint32_t kSendBatch = 32;      // frames that the kernel sends in one call (net/xdp/xsk.c)

// Increases a counter that only one thread increases and any thread reads.
void Count(std::atomic<uint64_t>& counter, uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

}  // namespace

XdpSender::XdpSender(int fd, int control, int ifindex, uint32_t slots,
                     std::shared_ptr<XdpMemory> memory)
    : fd_(fd),
      watch_(control, ifindex),
      memory_(std::move(memory)),
      ring_(fd, XDP_TX_RING, XDP_PGOFF_TX_RING, &xdp_mmap_offsets::tx, slots, true),
      completed_(fd, XDP_UMEM_COMPLETION_RING, static_cast<off_t>(XDP_UMEM_PGOFF_COMPLETION_RING),
                 &xdp_mmap_offsets::cr, slots, false),
      held_(memory_->bytes() / memory_->chunk_bytes()),
      is_for_sending_(held_.size()),
      sent_(slots) {
  refused_.reserve(slots);
  for_sending_.reserve(slots);
  while (for_sending_.size() < slots) {
    const auto address = memory_->Take();
    if (!address) throw UsageError("the memory is too small for this number of AF_XDP ports");
    is_for_sending_[ChunkOf(*address)] = 1;
    for_sending_.push_back(*address);
  }
}

XdpSender::~XdpSender() {
  for (const uint64_t address : for_sending_) memory_->Give(address);
  for (size_t chunk = 0; chunk < held_.size(); ++chunk) {
    if (held_[chunk] != 0) memory_->Give(chunk * memory_->chunk_bytes());
  }
}

size_t XdpSender::Transmit(std::span<const FrameToSend> frames) {
  return SendAll(
      frames.size(), [&](size_t index) { return Put(frames[index]); },
      [&](size_t index) { return watch_.Takes(frames[index]); });
}

size_t XdpSender::Send(std::span<const XdpFrame> frames) {
  const auto bytes = [&](size_t index) {
    return std::span<const std::byte>(memory_->data() + frames[index].address,
                                      frames[index].length);
  };
  return SendAll(
      frames.size(), [&](size_t index) { return PutInPlace(frames[index]); },
      [&](size_t index) {
        const bool may_go = watch_.Takes(bytes(index));
        if (!may_go) memory_->Give(frames[index].address);
        return may_go;
      });
}

size_t XdpSender::BytesInFlight() {
  Collect();
  return in_flight_;
}

void XdpSender::AddTo(PortCounters* counters) const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  counters->tx_frames += counts_.frames.load(kRelaxed);
  counters->tx_bytes += counts_.bytes.load(kRelaxed);
  counters->tx_dropped_error += counts_.dropped_error.load(kRelaxed);
}

template <class PutFrame, class MayGo>
size_t XdpSender::SendAll(size_t frames, const PutFrame& put, const MayGo& may_go) {
  refused_.clear();
  // With zero-copy also checks the interface's state: a driver may read the ring at any time, so
  // that frames in the ring cannot be taken back.
  watch_.Poll(/*with_state=*/is_zero_copy_);
  Collect();
  const bool was_empty = processed_ == ring_.produced();
  const uint32_t start = ring_.produced();
  entries_ = 0;
  size_t taken = 0;
  for (; taken < frames; ++taken) {
    if (!may_go(taken)) {
      Refuse(static_cast<uint32_t>(taken));
    } else if (const uint32_t bytes = put(taken); bytes != 0) {
      const uint32_t last = (start + entries_ - 1) & (ring_.size() - 1);
      sent_[last] = {static_cast<uint32_t>(taken), bytes};
    } else {
      break;
    }
  }
  if (entries_ > 0) ring_.Advance(entries_);
  if (processed_ != ring_.produced()) Kick(was_empty);
  std::ranges::sort(refused_);
  // The indices of the remaining frames have no meaning in the next call.
  for (uint32_t at = processed_; at != ring_.produced(); ++at) {
    sent_[at & (ring_.size() - 1)].index = kEarlier;
  }
  return taken;
}

// Copies a frame into chunks, and writes their entries into ring_. Returns the frame's bytes; 0 if
// there is no space.
uint32_t XdpSender::Put(FrameToSend frame) {
  const size_t room = memory_->room();
  const size_t parts = (frame.size() + room - 1) / room;
  if (for_sending_.size() < parts || ring_.Available() < entries_ + parts) return 0;
  for (size_t part = 0; part < parts; ++part) {
    const FrameToSend bytes =
        frame.subspan(part * room, std::min(room, frame.size() - part * room));
    const uint64_t address = for_sending_.back() + XdpMemory::kHeadroom;
    for_sending_.pop_back();
    std::memcpy(memory_->data() + address, bytes.data(), bytes.size());
    Enter({address, static_cast<uint32_t>(bytes.size())}, part + 1 < parts);
  }
  return static_cast<uint32_t>(frame.size());
}

uint32_t XdpSender::PutInPlace(const XdpFrame& frame) {
  if (ring_.Available() < entries_ + 1) return 0;
  Enter(frame, false);
  return frame.length;
}

void XdpSender::Enter(const XdpFrame& part, bool is_continued) {
  sent_[(ring_.produced() + entries_) & (ring_.size() - 1)] = {};
  ring_[entries_++] = {part.address, part.length, is_continued ? kContinued : 0};
  held_[ChunkOf(part.address)] = part.length;
  in_flight_ += part.length;
}

// Makes the kernel send the frames in ring_. When the system call returns, a kernel that copies has
// processed the frames; a kernel that does not copy has only been notified.
void XdpSender::Kick(bool was_empty) {
  uint32_t calls = (ring_.produced() - processed_) / kSendBatch + 4;
  for (bool is_first = true; calls > 0; --calls, is_first = false) {
    if (is_zero_copy_ && !ring_.NeedsWakeup()) break;
    if (sendto(fd_, nullptr, 0, MSG_DONTWAIT, nullptr, 0) >= 0) {
      if (!is_zero_copy_) Process(ring_.produced());
      break;
    }
    const int error = errno;
    if (error == EBUSY && !is_zero_copy_) {
      DropOne();
      ++calls;  // a frame was dropped, so this call does not count
    } else if (error == EAGAIN || error == EINTR) {
      const uint32_t before = processed_;
      Process(ring_.consumed());
      if (Collect() == 0 && processed_ == before && !is_first) break;
    } else {
      if (is_first && was_empty) TakeBack();
      break;
    }
    if (processed_ == ring_.produced()) break;
  }
  if (is_zero_copy_) Process(ring_.consumed());
}

// Counts the frames before `position`, which the kernel has taken.
void XdpSender::Process(uint32_t position) {
  const auto ahead = static_cast<int32_t>(position - processed_);
  if (ahead <= 0) return;
  uint64_t frames = 0, bytes = 0;
  const uint32_t mask = ring_.size() - 1;
  for (; processed_ != position; ++processed_) {
    const Sent& sent = sent_[processed_ & mask];
    frames += sent.bytes != 0 ? 1 : 0;
    bytes += sent.bytes;
  }
  Count(counts_.frames, frames);
  Count(counts_.bytes, bytes);
}

// Drops the last frame that the kernel read, which the interface has refused (EBUSY). If the ring's
// consumer position has moved, which happens only if another frame was sent in the same call, the
// refused frame is the frame before this position. Otherwise the refused frame is the next frame.
void XdpSender::DropOne() {
  const uint32_t mask = ring_.size() - 1;
  const uint32_t consumed = ring_.consumed();
  uint32_t last = consumed - 1;
  if (static_cast<int32_t>(consumed - processed_) <= 0) {
    last = processed_;
    while (sent_[last & mask].bytes == 0 && last + 1 != ring_.produced()) ++last;
  }
  Sent& dropped = sent_[last & mask];
  Refuse(dropped.index);
  dropped.bytes = 0;
  Process(last + 1);
}

void XdpSender::Refuse(uint32_t index) {
  Count(counts_.dropped_error, 1);
  if (index != kEarlier) refused_.push_back(index);
}

// Takes back the frames that the kernel has not read, because the interface is down or gone.
void XdpSender::TakeBack() {
  const uint32_t count = ring_.produced() - processed_;
  ring_.TakeBack(count);
  for (uint32_t i = 0; i < count; ++i) {
    const Sent& sent = sent_[(processed_ + i) & (ring_.size() - 1)];
    if (sent.bytes != 0) Refuse(sent.index);
    Release(ring_[i].addr);
  }
}

// Takes back the chunks of frames that have left. Returns the number of chunks.
uint32_t XdpSender::Collect() {
  const uint32_t count = completed_.Available();
  for (uint32_t i = 0; i < count; ++i) Release(completed_[i]);
  if (count > 0) completed_.Advance(count);
  return count;
}

void XdpSender::Release(uint64_t address) {
  const size_t chunk = ChunkOf(address);
  in_flight_ -= std::exchange(held_[chunk], 0);
  if (is_for_sending_[chunk] != 0) {
    for_sending_.push_back(chunk * memory_->chunk_bytes());
  } else {
    memory_->Give(address);
  }
}

}  // namespace viaduct::io
