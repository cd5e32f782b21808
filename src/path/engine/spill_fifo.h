// A queue whose head is in frame memory and whose middle (records and bytes) is on disk.
#pragma once

#include <deque>

#include "path/engine/frame_pool.h"
#include "path/engine/spill_disks.h"
#include "path/packet/memory_fifo.h"

namespace viaduct::engine {

// Packets stay in frame memory while plenty of it is free. When memory runs short, pushed packets
// go to blocks that SpillDisks writes. The blocks are read back one by one, two blocks ahead, as
// the head empties. Until the middle is empty, all packets pass through the middle, so that their
// order is kept. Memory use does not depend on the number of waiting packets (except for 16 bytes
// per block).
class SpillFifo final : public path::Fifo {
 public:
  // `limit`: the limit of all frame memory in bytes. The amount of free memory that counts as
  // "plenty" is computed from this limit.
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
  std::deque<SpillBlock*> middle_;  // blocks on disk, oldest first; the last may still be filling
  uint64_t packets_ = 0, bytes_ = 0;
};

}  // namespace viaduct::engine
