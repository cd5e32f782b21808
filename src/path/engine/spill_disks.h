// Disk storage for waiting frames that do not fit in memory: files in one or more directories,
// written and read in large blocks, asynchronously (io_uring), bypassing the page cache if the file
// system allows it.
#pragma once

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/fd.h"
#include "path/engine/frame_pool.h"

namespace viaduct::engine {

// A part of a queue: a number of bytes of records, in memory, on disk or in transfer between the
// two.
struct SpillBlock {
  enum class State : uint8_t {
    kFilling,    // in memory, not full
    kUnwritten,  // in memory, full, waits for its turn to be written
    kWriting,
    kOnDisk,
    kReading,
    kLoaded,  // in memory; nothing is being read or written
  };
  State state = State::kFilling;
  bool abandoned = false;  // not needed; released when its transfer has ended
  std::byte* memory = nullptr;
  uint32_t used = 0, read = 0;  // bytes filled; bytes consumed
  uint32_t disk = 0;
  int64_t offset = -1;  // position in the disk's file; -1: none
};

// The disks to which queues spill, for use by one thread. Several directories are used alternately,
// as in NetPath (Agarwal, Sommers, Barford 2005, section 2.2.4): blocks are written to a disk that
// is not being read, so that both accesses stay sequential.
//
// The files have no name (O_TMPFILE, or unlinked at once), so that no file remains after the
// process ends, even after SIGKILL. If a disk is full, blocks stay in memory; when the memory is
// used up, the queues refuse packets and count them.
class SpillDisks {
 public:
  // Takes `blocks * block_bytes` from the budget for its buffers. Throws EnvironmentError if
  // io_uring is not permitted, SystemError if no file can be created in a directory, UsageError if
  // the budget is too small.
  SpillDisks(const std::vector<std::string>& directories, size_t block_bytes, size_t blocks,
             MemoryBudget& budget);
  ~SpillDisks();
  SpillDisks(const SpillDisks&) = delete;
  SpillDisks& operator=(const SpillDisks&) = delete;

  // Computes the size and number of blocks for a number of queues and an amount of memory. Throws
  // UsageError if the memory is too small.
  struct Sizes {
    size_t block_bytes = 0, blocks = 0;
  };
  static Sizes SizesFor(int64_t memory, size_t queues);

  size_t block_bytes() const { return block_bytes_; }
  // Returns an empty block in memory, or nullptr when all buffers for writing are in use.
  SpillBlock* NewBlock();
  // Schedules the writing of a full block.
  void Write(SpillBlock* block);
  // Starts reading a block that is on disk; does nothing when all buffers are in use.
  void Read(SpillBlock* block);
  void Release(SpillBlock* block);  // the block is not needed any more

  // Collects completed writes and reads; returns their number.
  size_t Poll();
  // Returns the descriptor that is readable when Poll() has something to do.
  int fd() const { return ring_.ring_fd; }

  int64_t spilled_bytes() const { return spilled_; }
  int64_t spilled_peak() const { return spilled_peak_; }
  // Returns the last error of a disk; empty if no error occurred.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Disk {
    std::string directory;
    UniqueFd file;
    int64_t end = 0;           // end of the used part of the file
    bool full = false;         // the file cannot grow
    std::deque<int64_t> free;  // free offsets; reused in the order in which they were freed
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
  size_t kept_for_reading_;  // number of buffers reserved for reading
  std::byte* memory_ = nullptr;
  std::vector<std::byte*> buffers_;  // free buffers
  std::vector<Disk> disks_;
  size_t writing_to_ = 0;
  io_uring ring_{};
  size_t under_way_ = 0;
  std::deque<SpillBlock*> waiting_;  // blocks in state kUnwritten
  int64_t spilled_ = 0, spilled_peak_ = 0;
  std::string trouble_;
};

}  // namespace viaduct::engine
