// A queue whose head is in frame memory and whose middle, records and bytes, lies on disk.
#pragma once

#include <deque>

#include "engine/frame_pool.h"
#include "engine/spill_disks.h"
#include "path/packet/memory_fifo.h"

namespace viaduct::engine {

// Packets stay in frame memory while there is plenty of it. Once it runs short, what is pushed goes
// to blocks that SpillDisks writes, and comes back block by block, two read ahead, as the head
// empties; from then until the middle is used up everything takes that way, so order is kept.
// Memory used does not depend on how much waits (16 bytes a block excepted).
class SpillFifo final : public path::Fifo {
 public:
  // `limit`: of all memory, the measure of "plenty".
  SpillFifo(FramePool& pool, SpillDisks& disks, int64_t limit);
  ~SpillFifo() override;

  bool Push(const path::Packet& packet) override;
  bool DiskBehind() const override { return true; }
  const path::Packet* Front() override;
  void PopFront() override;
  bool Empty() const override { return packets_ == 0; }
  uint64_t packets() const override { return packets_; }
  uint64_t bytes() const override { return bytes_; }

 private:
  bool Append(const path::Packet& packet);
  SpillBlock* Tail(size_t record_bytes);
  void Refill();
  bool TakeRecord(SpillBlock& block);
  void ReadAhead();

  FramePool& pool_;
  SpillDisks& disks_;
  int64_t plenty_;
  path::MemoryFifo head_;
  std::deque<SpillBlock*> middle_;  // oldest first; the last may be filling
  uint64_t packets_ = 0, bytes_ = 0;
};

}  // namespace viaduct::engine
