#include "port/test/memory_port.h"

#include <sys/eventfd.h>

#include <algorithm>

#include "base/error.h"

namespace viaduct::io {

MemoryPort::Queue::Queue(size_t capacity, size_t longest)
    : max_frame(longest),
      frames(capacity),
      memory(capacity * longest),
      readable(SystemCall("eventfd", eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))) {}

void MemoryPort::Queue::SetReadable(bool now) {
  if (now == is_readable) return;
  is_readable = now;
  // Writing and reading the eventfd cannot fail: its counter alternates between 0 and 1.
  eventfd_t value = 1;
  now ? eventfd_write(readable.get(), value) : eventfd_read(readable.get(), &value);
}

std::pair<MemoryPort, MemoryPort> MemoryPort::MakePair(size_t capacity, size_t max_frame) {
  const auto there = std::make_shared<Queue>(capacity, max_frame);
  const auto back = std::make_shared<Queue>(capacity, max_frame);
  return {MemoryPort(back, there), MemoryPort(there, back)};
}

size_t MemoryPort::Receive(std::span<ReceivedFrame> frames) {
  Queue& queue = *in_;
  queue.head = queue.Slot(queue.lent);
  queue.used -= queue.lent;
  queue.lent = std::min(frames.size(), queue.used);
  for (size_t i = 0; i < queue.lent; ++i) {
    frames[i] = queue.frames[queue.Slot(i)];
    counters_.rx_bytes += frames[i].bytes.size();
  }
  counters_.rx_frames += queue.lent;
  queue.SetReadable(queue.used > queue.lent);
  return queue.lent;
}

size_t MemoryPort::Transmit(std::span<const FrameToSend> frames) {
  Queue& queue = *out_;
  size_t taken = 0;
  refused_.clear();
  for (const FrameToSend frame : frames) {
    if (frame.size() > queue.max_frame) {
      ++counters_.tx_dropped_error;
      refused_.push_back(static_cast<uint32_t>(taken));
      ++taken;
      continue;
    }
    if (queue.used == queue.frames.size()) break;
    const size_t slot = queue.Slot(queue.used++);
    std::byte* const memory = queue.memory.data() + slot * queue.max_frame;
    std::copy(frame.begin(), frame.end(), memory);
    queue.frames[slot] = std::exchange(next_, {});
    queue.frames[slot].bytes = {memory, frame.size()};
    ++taken;
    ++counters_.tx_frames;
    counters_.tx_bytes += frame.size();
  }
  queue.SetReadable(queue.used > queue.lent);
  return taken;
}

}  // namespace viaduct::io
