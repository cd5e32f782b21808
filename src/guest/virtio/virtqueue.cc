#include "guest/virtio/virtqueue.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

#include "base/error.h"

namespace viaduct::guest {
namespace {

// An entry of the descriptor table: struct virtq_desc.
struct Descriptor {
  uint64_t address;
  uint32_t length;
  uint16_t flags;
  uint16_t next;
};
static_assert(sizeof(Descriptor) == 16);

constexpr uint16_t kNext = 1;   // the flag VIRTQ_DESC_F_NEXT
constexpr uint16_t kWrite = 2;  // the flag VIRTQ_DESC_F_WRITE
constexpr uint16_t kNoInterrupt = 1;
constexpr uint16_t kNoNotify = 1;
// The size in bytes of the two 16-bit words at the start of a ring: flags and index.
constexpr size_t kRingHeader = 4;
constexpr size_t kUsedElement = 8;

uint16_t LoadWord(std::span<const std::byte> ring, size_t offset, int order) {
  const auto* word = reinterpret_cast<const uint16_t*>(ring.data() + offset);
  return order == __ATOMIC_ACQUIRE ? __atomic_load_n(word, __ATOMIC_ACQUIRE)
                                   : __atomic_load_n(word, __ATOMIC_RELAXED);
}

}  // namespace

void Virtqueue::SetSize(uint32_t size) {
  if (!std::has_single_bit(size) || size > kMaxSize) {
    throw Error(fmt::format("set up a queue of an invalid size, {} descriptors", size));
  }
  size_ = size;
  used_ = {};
  spare_.clear();
}

void Virtqueue::SetAddresses(uint64_t descriptors, uint64_t available, uint64_t used) {
  if (size_ == 0) throw Error("set the addresses of a queue before the size");
  if (descriptors % 16 != 0 || available % 2 != 0 || used % 4 != 0) {
    throw Error("set up a queue whose parts are not aligned");
  }
  descriptors_ = memory_->At(descriptors, sizeof(Descriptor) * size_);
  available_ = memory_->At(available, kRingHeader + sizeof(uint16_t) * size_);
  used_ = memory_->At(used, kRingHeader + kUsedElement * size_);
}

uint16_t Virtqueue::AvailableIndex() const { return LoadWord(available_, 2, __ATOMIC_ACQUIRE); }

size_t Virtqueue::Available() const {
  if (!ready()) return 0;
  const auto count = static_cast<uint16_t>(AvailableIndex() - next_available_);
  memory_->CheckThere();
  if (count > size_)
    throw Error(fmt::format("offers {} buffers in a queue of {} descriptors", count, size_));
  return count;
}

std::optional<uint16_t> Virtqueue::Take() {
  if (Available() == 0) return std::nullopt;
  // A driver could otherwise make this process use any amount of memory for chains that are taken
  // and not returned; valid drivers have at most one chain for each descriptor.
  if (Taken() >= size_)
    throw Error(fmt::format("offers more buffers than the {} descriptors of its queue", size_));
  const size_t slot = next_available_ % size_;
  const uint16_t head = LoadWord(available_, kRingHeader + 2 * slot, __ATOMIC_RELAXED);
  if (head >= size_)
    throw Error(fmt::format("uses descriptor {} in a queue of {} descriptors", head, size_));
  ++next_available_;
  return head;
}

std::optional<uint16_t> Virtqueue::TakeNewest() {
  if (!ready()) return std::nullopt;
  while (const auto head = Take()) spare_.push_back(*head);
  if (spare_.empty()) return std::nullopt;
  const uint16_t head = spare_.back();
  spare_.pop_back();
  return head;
}

void Virtqueue::Buffers(uint16_t head, bool writable,
                        std::vector<std::span<std::byte>>& buffers) const {
  uint16_t index = head;
  for (uint32_t seen = 0; seen < size_; ++seen) {
    Descriptor descriptor;
    if (index >= size_)
      throw Error(fmt::format("uses descriptor {} in a queue of {} descriptors", index, size_));
    std::memcpy(&descriptor, descriptors_.data() + sizeof descriptor * index, sizeof descriptor);
    if (((descriptor.flags & kWrite) != 0) != writable) {
      throw Error("offers a buffer of the wrong direction");
    }
    buffers.push_back(memory_->At(descriptor.address, descriptor.length));
    if ((descriptor.flags & kNext) == 0) return;
    index = descriptor.next;
  }
  throw Error("offers an endless chain of descriptors");
}

void Virtqueue::Stage(uint16_t head, uint32_t written) {
  const uint32_t element[] = {head, written};
  static_assert(sizeof element == kUsedElement);
  std::memcpy(used_.data() + kRingHeader + kUsedElement * (next_used_ % size_), element,
              sizeof element);
  ++next_used_;
}

void Virtqueue::Publish() {
  __atomic_store_n(reinterpret_cast<uint16_t*>(used_.data() + 2), next_used_, __ATOMIC_RELEASE);
  // Orders the accesses: the driver's flags must be read after the driver can see the published
  // buffers.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void Virtqueue::RefuseKicks() {
  __atomic_store_n(reinterpret_cast<uint16_t*>(used_.data()), kNoNotify, __ATOMIC_RELEASE);
}

bool Virtqueue::WantsInterrupt() const {
  return (LoadWord(available_, 0, __ATOMIC_RELAXED) & kNoInterrupt) == 0;
}

}  // namespace viaduct::guest
