#include "path/engine/spill_fifo.h"

#include <cstring>

namespace viaduct::engine {
namespace {

using State = SpillBlock::State;

// The header of a frame in a block; the frame's bytes follow it.
struct Record {
  path::Packet packet;
  wire::LinkTag tag;
};
static_assert(std::is_trivially_copyable_v<Record>);

constexpr size_t kAlignment = alignof(Record);
size_t RecordBytes(uint32_t frame_bytes) {
  return (sizeof(Record) + frame_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

constexpr size_t kReadAhead = 2;  // number of blocks read ahead of the block being consumed
constexpr size_t kRefill = 32;    // number of packets read into frame memory at a time

bool InMemory(const SpillBlock& block) {
  return block.state != State::kOnDisk && block.state != State::kReading;
}

}  // namespace

SpillFifo::SpillFifo(FramePool& pool, SpillDisks& disks, int64_t limit)
    : pool_(pool), disks_(disks), plenty_(limit / 4) {}

SpillFifo::~SpillFifo() {
  for (; head_.Front() != nullptr; head_.PopFront()) pool_.Free(head_.Front()->frame);
  for (SpillBlock* const block : middle_) disks_.Release(block);
}

bool SpillFifo::Push(const path::Packet& packet) {
  const bool to_head = middle_.empty() && pool_.FreeBytes() > plenty_;
  if (to_head ? !head_.Push(packet) : !Append(packet)) return false;
  ++packets_;
  bytes_ += packet.bytes;
  return true;
}

SpillBlock* SpillFifo::Tail(size_t record_bytes) {
  if (!middle_.empty() && middle_.back()->state == State::kFilling) {
    SpillBlock* const tail = middle_.back();
    if (tail->used + record_bytes <= disks_.block_bytes()) return tail;
    disks_.Write(tail);
  }
  SpillBlock* const block = disks_.NewBlock();
  if (block != nullptr) middle_.push_back(block);
  return block;
}

bool SpillFifo::Append(const path::Packet& packet) {
  const std::span<const std::byte> bytes = pool_.Bytes(packet.frame);
  const size_t size = RecordBytes(static_cast<uint32_t>(bytes.size()));
  if (size > disks_.block_bytes()) return false;
  SpillBlock* const block = Tail(size);
  if (block == nullptr) return false;
  const Record record{packet, pool_.Tag(packet.frame)};
  std::memcpy(block->memory + block->used, &record, sizeof(record));
  std::memcpy(block->memory + block->used + sizeof(record), bytes.data(), bytes.size());
  block->used += static_cast<uint32_t>(size);
  pool_.Free(packet.frame);
  return true;
}

const path::Packet* SpillFifo::Front() {
  if (head_.Empty() && !middle_.empty()) Refill();
  return head_.Front();
}

void SpillFifo::PopFront() {
  --packets_;
  bytes_ -= head_.Front()->bytes;
  head_.PopFront();
  if (!middle_.empty() && head_.bytes() < disks_.block_bytes()) ReadAhead();
}

void SpillFifo::Refill() {
  for (size_t i = 0; i < kRefill && !middle_.empty(); ++i) {
    SpillBlock& block = *middle_.front();
    if (!InMemory(block) || !TakeRecord(block)) break;
    if (block.read < block.used) continue;
    middle_.pop_front();
    disks_.Release(&block);
  }
  ReadAhead();
}

bool SpillFifo::TakeRecord(SpillBlock& block) {
  Record record;
  std::memcpy(&record, block.memory + block.read, sizeof(record));
  const std::byte* const bytes = block.memory + block.read + sizeof(record);
  const auto frame = pool_.Add({bytes, record.packet.bytes}, record.tag);
  if (!frame) return false;
  record.packet.frame = *frame;
  head_.Push(record.packet);
  block.read += static_cast<uint32_t>(RecordBytes(record.packet.bytes));
  return true;
}

void SpillFifo::ReadAhead() {
  const size_t count = std::min(middle_.size(), kReadAhead + 1);
  for (size_t i = 0; i < count; ++i) disks_.Read(middle_[i]);
}

}  // namespace viaduct::engine
