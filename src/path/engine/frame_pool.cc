#include "path/engine/frame_pool.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/units.h"

namespace viaduct::engine {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;

// Returns the distance between slots: an odd integral number of cache lines, so that the headers of
// frames use all sets of a cache. With slots of 2 KiB, the headers of waiting frames (7000 at
// 700,000 frames/s and a delay of 10 ms) would use only every 32nd set, and contend for 1/32 of the
// cache.
size_t StrideFor(size_t bytes) {
  const size_t lines = (bytes + kLine - 1) / kLine;
  return (lines | 1) * kLine;
}

}  // namespace

bool MemoryBudget::Take(int64_t bytes) {
  int64_t left = left_.load(std::memory_order_relaxed);
  do {
    if (left < bytes) return false;
  } while (!left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed));
  return true;
}

FramePool::FramePool(MemoryBudget& budget, int64_t limit, size_t frame_bytes)
    : budget_(budget), frame_bytes_(frame_bytes), stride_(StrideFor(kData + frame_bytes)) {
  capacity_ = static_cast<size_t>(std::max<int64_t>(limit, 0) / SlotCost());
  if (capacity_ == 0) {
    throw UsageError(
        fmt::format("memory limit {}: too small for one frame of {} bytes; specify at least {}",
                    FormatBytes(limit), frame_bytes, FormatBytes(SlotCost())));
  }
  // The pool has at least 16 chunks, so that several threads and disk buffers can share a small
  // limit.
  chunk_ = std::clamp<size_t>(kHugePage / stride_, 1, std::max<size_t>(capacity_ / 16, 1));
  mapped_ = (capacity_ * stride_ + kHugePage - 1) / kHugePage * kHugePage;
  void* const memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw SystemError("map memory for frames", errno);
  memory_ = static_cast<std::byte*>(memory);
  madvise(memory_, mapped_, MADV_HUGEPAGE);
  free_.reserve(capacity_);
}

FramePool::~FramePool() {
  budget_.Give(static_cast<int64_t>(slots_) * SlotCost());
  munmap(memory_, mapped_);
}

bool FramePool::Grow() {
  const size_t wanted = std::min(chunk_, capacity_ - slots_);
  size_t count = wanted;
  while (count > 0 && !budget_.Take(static_cast<int64_t>(count) * SlotCost())) count /= 2;
  if (count == 0) return false;
  for (size_t i = count; i > 0; --i) {
    new (Slot(static_cast<path::FrameHandle>(slots_ + i - 1))) Header;
    free_.push_back(static_cast<path::FrameHandle>(slots_ + i - 1));
  }
  slots_ += count;
  return true;
}

void FramePool::Prepare(int64_t bytes) {
  const auto slots = static_cast<size_t>(bytes / SlotCost());
  while (slots_ < std::min(slots, capacity_) && Grow()) {
  }
  // Grow() has touched only the pages of the headers. This call takes the remaining pages; kernels
  // before 5.14 cannot do this.
  madvise(memory_, slots_ * stride_, MADV_POPULATE_WRITE);
}

std::optional<path::FrameHandle> FramePool::Take() {
  if (free_.empty() && !Grow()) return std::nullopt;
  const path::FrameHandle frame = free_.back();
  free_.pop_back();
  return frame;
}

std::optional<path::FrameHandle> FramePool::Add(std::span<const std::byte> frame,
                                                const wire::LinkTag& tag) {
  const auto slot = Take();
  if (!slot) return std::nullopt;
  Header& header = HeaderOf(*slot);
  header.bytes = static_cast<uint32_t>(frame.size());
  header.tag = tag;
  header.tagged = false;
  std::memcpy(Slot(*slot) + kData, frame.data(), frame.size());
  return slot;
}

std::span<const std::byte> FramePool::Tagged(path::FrameHandle frame) {
  const std::span<std::byte> bytes = Bytes(frame);
  Header& header = HeaderOf(frame);
  if (header.tag.kind == wire::LinkTag::Kind::kNone) return bytes;
  if (!header.tagged) header.tagged = wire::PushTag(bytes, header.tag).has_value();
  if (!header.tagged) return {};
  return {bytes.data() - wire::LinkTag::kSize, bytes.size() + wire::LinkTag::kSize};
}

std::span<std::byte> FramePool::Bytes(path::FrameHandle frame) {
  return {Slot(frame) + kData, HeaderOf(frame).bytes};
}

std::optional<path::FrameHandle> FramePool::Clone(path::FrameHandle frame) {
  return Add(Bytes(frame), HeaderOf(frame).tag);
}

int64_t FramePool::UsedBytes() const {
  return static_cast<int64_t>(slots_ - free_.size()) * SlotCost();
}

int64_t FramePool::FreeBytes() const {
  return static_cast<int64_t>(free_.size()) * SlotCost() + budget_.left();
}

}  // namespace viaduct::engine
