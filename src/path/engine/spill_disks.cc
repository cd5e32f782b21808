#include "path/engine/spill_disks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/units.h"

namespace viaduct::engine {
namespace {

using State = SpillBlock::State;

constexpr size_t kSmallestBlock = 16 << 10;
constexpr size_t kLargestBlock = 1 << 20;
// The number of blocks for a queue that spills: it fills one block, writes one and reads two ahead.
constexpr size_t kBlocksPerQueue = 4;
constexpr unsigned kRingEntries = 256;

// Opens a file without a name. O_DIRECT keeps the file's bytes out of the page cache, which would
// use memory again; on a file system without O_DIRECT, the file is opened without it.
UniqueFd OpenUnnamed(const std::string& directory) {
  for (const int flags : {O_DIRECT, 0}) {
    UniqueFd file(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600));
    if (file) return file;
  }
  if (errno != EOPNOTSUPP && errno != EISDIR) {
    throw SystemError("create a file in spill directory " + directory, errno);
  }
  std::string name = directory + "/viaduct-spill-XXXXXX";
  UniqueFd file(mkostemp(name.data(), O_CLOEXEC));
  if (!file) throw SystemError("create a file in spill directory " + directory, errno);
  unlink(name.c_str());
  const int flags = fcntl(file.get(), F_GETFL);
  fcntl(file.get(), F_SETFL, flags | O_DIRECT);
  return file;
}

}  // namespace

SpillDisks::Sizes SpillDisks::SizesFor(int64_t memory, size_t queues) {
  const auto bytes = static_cast<size_t>(std::max<int64_t>(memory, 0));
  const size_t share = bytes / (kBlocksPerQueue * std::max<size_t>(queues, 1));
  Sizes sizes;
  sizes.block_bytes = std::clamp(std::bit_floor(share), kSmallestBlock, kLargestBlock);
  sizes.blocks = bytes / sizes.block_bytes;
  if (sizes.blocks < kBlocksPerQueue) {
    throw UsageError(
        fmt::format("memory limit: the share of each thread for the buffers for spilling to disk "
                    "is {}, but at least {} is needed; set a higher limit",
                    FormatBytes(memory), FormatBytes(kBlocksPerQueue * kSmallestBlock)));
  }
  return sizes;
}

SpillDisks::SpillDisks(const std::vector<std::string>& directories, size_t block_bytes,
                       size_t blocks, MemoryBudget& budget)
    : budget_(budget),
      block_bytes_(block_bytes),
      blocks_(blocks),
      kept_for_reading_(std::max<size_t>(1, blocks / 4)) {
  for (const std::string& directory : directories) {
    disks_.push_back({directory, OpenUnnamed(directory), 0, false, {}});
  }
  const int error = io_uring_queue_init(kRingEntries, &ring_, 0);
  if (error < 0) {
    throw EnvironmentError(
        fmt::format("spilling to disk needs io_uring, which this machine does not allow ({}); "
                    "allow io_uring (sysctl kernel.io_uring_disabled=0, a container's seccomp "
                    "profile), or set a higher memory limit and no spill directory",
                    std::strerror(-error)));
  }
  if (!budget_.Take(static_cast<int64_t>(block_bytes_ * blocks_))) {
    io_uring_queue_exit(&ring_);
    throw UsageError(
        "the memory limit is too small for the buffers for spilling to disk; set a higher limit");
  }
  void* const memory = mmap(nullptr, block_bytes_ * blocks_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    io_uring_queue_exit(&ring_);
    throw SystemError("map spill buffers", errno);
  }
  memory_ = static_cast<std::byte*>(memory);
  for (size_t i = blocks_; i > 0; --i) buffers_.push_back(memory_ + (i - 1) * block_bytes_);
}

SpillDisks::~SpillDisks() {
  while (under_way_ > 0) {
    io_uring_cqe* entry = nullptr;
    if (io_uring_wait_cqe(&ring_, &entry) == 0) Poll();
  }
  io_uring_queue_exit(&ring_);
  munmap(memory_, block_bytes_ * blocks_);
  budget_.Give(static_cast<int64_t>(block_bytes_ * blocks_));
}

SpillBlock* SpillDisks::NewBlock() {
  // The last buffers are kept for reading: if the disk is full, no block can be written, but the
  // blocks on disk must still be readable.
  if (buffers_.size() <= kept_for_reading_) return nullptr;
  auto* const block = new SpillBlock;
  block->memory = buffers_.back();
  buffers_.pop_back();
  return block;
}

void SpillDisks::Destroy(SpillBlock* block) {
  GivePlace(*block);
  GiveMemory(*block);
  delete block;
}

void SpillDisks::GiveMemory(SpillBlock& block) {
  if (block.memory != nullptr) buffers_.push_back(block.memory);
  block.memory = nullptr;
}

void SpillDisks::GivePlace(SpillBlock& block) {
  if (block.offset < 0) return;
  disks_[block.disk].free.push_back(block.offset);
  spilled_ -= static_cast<int64_t>(block_bytes_);
  block.offset = -1;
}

bool SpillDisks::FindPlace(SpillBlock& block) {
  for (size_t i = 0; i < disks_.size(); ++i) {
    const size_t index = (writing_to_ + i) % disks_.size();
    Disk& disk = disks_[index];
    if (disk.free.empty() && disk.full) continue;
    block.disk = static_cast<uint32_t>(index);
    if (disk.free.empty()) {
      block.offset = disk.end;
      disk.end += static_cast<int64_t>(block_bytes_);
    } else {
      block.offset = disk.free.front();
      disk.free.pop_front();
    }
    spilled_ += static_cast<int64_t>(block_bytes_);
    spilled_peak_ = std::max(spilled_peak_, spilled_);
    return true;
  }
  return false;
}

bool SpillDisks::Submit(SpillBlock& block, State direction) {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  if (entry == nullptr) return false;
  const int file = disks_[block.disk].file.get();
  const auto bytes = static_cast<unsigned>(block_bytes_);
  const auto offset = static_cast<uint64_t>(block.offset);
  if (direction == State::kWriting) {
    io_uring_prep_write(entry, file, block.memory, bytes, offset);
  } else {
    io_uring_prep_read(entry, file, block.memory, bytes, offset);
  }
  // A kernel thread does all of the work (IOSQE_ASYNC). Otherwise this thread would extend the
  // file, and would write synchronously without O_DIRECT.
  io_uring_sqe_set_flags(entry, IOSQE_ASYNC);
  io_uring_sqe_set_data(entry, &block);
  // Requests that the kernel does not accept now (EBUSY, EAGAIN) stay in the ring for the next
  // submission.
  io_uring_submit(&ring_);
  block.state = direction;
  ++under_way_;
  return true;
}

void SpillDisks::Write(SpillBlock* block) {
  block->state = State::kUnwritten;
  waiting_.push_back(block);
  WriteWaiting();
}

void SpillDisks::WriteWaiting() {
  while (!waiting_.empty()) {
    SpillBlock& block = *waiting_.front();
    if (!FindPlace(block)) return;
    if (!Submit(block, State::kWriting)) {
      GivePlace(block);
      return;
    }
    waiting_.pop_front();
  }
}

void SpillDisks::Read(SpillBlock* block) {
  if (block->state != State::kOnDisk || buffers_.empty()) return;
  // Writes avoid the disk that is being read, if there is another disk.
  if (writing_to_ == block->disk) writing_to_ = (writing_to_ + 1) % disks_.size();
  block->memory = buffers_.back();
  buffers_.pop_back();
  if (!Submit(*block, State::kReading)) GiveMemory(*block);
}

void SpillDisks::Release(SpillBlock* block) {
  if (block->state == State::kWriting || block->state == State::kReading) {
    block->abandoned = true;
    return;
  }
  if (block->state == State::kUnwritten) std::erase(waiting_, block);
  Destroy(block);
  WriteWaiting();
}

size_t SpillDisks::Poll() {
  size_t count = 0;
  io_uring_cqe* entry = nullptr;
  while (under_way_ > 0 && io_uring_peek_cqe(&ring_, &entry) == 0) {
    auto& block = *static_cast<SpillBlock*>(io_uring_cqe_get_data(entry));
    const int result = entry->res;
    io_uring_cqe_seen(&ring_, entry);
    --under_way_;
    ++count;
    if (block.state == State::kWriting) {
      Written(block, result);
    } else {
      Loaded(block, result);
    }
    if (block.abandoned) Destroy(&block);
  }
  if (count > 0) WriteWaiting();
  return count;
}

void SpillDisks::Complain(const SpillBlock& block, int result) {
  trouble_ =
      fmt::format("{}: {}", disks_[block.disk].directory,
                  result < 0 ? std::strerror(-result)
                             : "only a part of a block was written or read; the disk may be full");
}

void SpillDisks::Written(SpillBlock& block, int result) {
  if (result == static_cast<int>(block_bytes_)) {
    block.state = State::kOnDisk;
    GiveMemory(block);
    return;
  }
  // The write has failed, most likely because the disk is full. The bytes are still in memory and
  // wait until space is free.
  Complain(block, result);
  Disk& disk = disks_[block.disk];
  disk.full = true;
  spilled_ -= static_cast<int64_t>(block_bytes_);
  block.offset = -1;
  block.state = State::kUnwritten;
  if (!block.abandoned) waiting_.push_front(&block);
}

void SpillDisks::Loaded(SpillBlock& block, int result) {
  if (result == static_cast<int>(block_bytes_)) {
    block.state = State::kLoaded;
    GivePlace(block);
    return;
  }
  Complain(block, result);
  GiveMemory(block);
  block.state = State::kOnDisk;  // the read will be tried again
}

}  // namespace viaduct::engine
