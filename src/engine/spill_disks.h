// Where frames wait that memory has no room for: files in one or more directories, written and read
// in large blocks, asynchronously (io_uring), past the page cache where the file system allows it.
#pragma once

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "engine/frame_pool.h"

namespace viaduct::engine {

// A piece of a queue: so many bytes of records, in memory, on disk or under way between the two.
struct SpillBlock {
  enum class State : uint8_t {
    kFilling,    // in memory, more will come
    kUnwritten,  // in memory, full, waits for its turn to be written
    kWriting,
    kOnDisk,
    kReading,
    kLoaded,  // in memory; nothing is being read or written
  };
  State state = State::kFilling;
  bool abandoned = false;  // nobody needs it; it goes when its reading or writing has ended
  std::byte* memory = nullptr;
  uint32_t used = 0, read = 0;  // bytes filled; bytes taken out again
  uint32_t disk = 0;
  int64_t offset = -1;  // in the disk's file; -1: has no place there
};

// One thread's. Several directories are used in turn as NetPath does (Agarwal, Sommers, Barford
// 2005, section 2.2.4): what is written goes to another disk than what is being read, so that
// neither disturbs the other's sequence.
//
// The files have no name (O_TMPFILE, else unlinked at once): nothing stays behind, whatever ends
// the process. A full disk holds blocks back in memory; when that is used up the queues refuse
// packets and say so.
class SpillDisks {
 public:
  // Takes `blocks * block_bytes` from the budget for its buffers. Throws EnvironmentError where
  // io_uring is barred, SystemError where a directory cannot hold a file, UsageError where the
  // budget has no room.
  SpillDisks(const std::vector<std::string>& directories, size_t block_bytes, size_t blocks,
             MemoryBudget& budget);
  ~SpillDisks();
  SpillDisks(const SpillDisks&) = delete;
  SpillDisks& operator=(const SpillDisks&) = delete;

  // How large blocks should be, and how many, for so many queues in this much memory. Throws
  // UsageError where that is too little.
  struct Sizes {
    size_t block_bytes = 0, blocks = 0;
  };
  static Sizes SizesFor(int64_t memory, size_t queues);

  size_t block_bytes() const { return block_bytes_; }
  // An empty block in memory; nullptr when all buffers for writing are in use.
  SpillBlock* NewBlock();
  // The block is full: writes it when it can.
  void Write(SpillBlock* block);
  // Brings a block that is on disk back; does nothing when all buffers are in use.
  void Read(SpillBlock* block);
  void Release(SpillBlock* block);  // nobody needs it any more

  // Takes note of blocks that have been written or read; returns how many.
  size_t Poll();
  // Readable when Poll() has something to do.
  int Fd() const { return ring_.ring_fd; }

  int64_t spilled_bytes() const { return spilled_; }
  int64_t spilled_peak() const { return spilled_peak_; }
  // The last error of a disk; empty where there was none.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Disk {
    std::string directory;
    UniqueFd file;
    int64_t end = 0;           // of the file, as far as it is used
    bool full = false;         // cannot grow
    std::deque<int64_t> free;  // places within; reused in the order in which they came free
  };

  void OpenFile(const std::string& directory);
  bool FindPlace(SpillBlock& block);
  void GivePlace(SpillBlock& block);
  void GiveMemory(SpillBlock& block);
  bool Submit(SpillBlock& block, SpillBlock::State direction);
  void WriteWaiting();
  void Written(SpillBlock& block, int result);
  void Loaded(SpillBlock& block, int result);
  void Complain(const SpillBlock& block, int result);
  void Destroy(SpillBlock* block);

  MemoryBudget& budget_;
  size_t block_bytes_;
  size_t blocks_;
  size_t kept_for_reading_;  // buffers
  std::byte* memory_ = nullptr;
  std::vector<std::byte*> buffers_;  // not in use
  std::vector<Disk> disks_;
  size_t writing_to_ = 0;
  io_uring ring_{};
  size_t under_way_ = 0;
  std::deque<SpillBlock*> waiting_;  // kUnwritten
  int64_t spilled_ = 0, spilled_peak_ = 0;
  std::string trouble_;
};

}  // namespace viaduct::engine
