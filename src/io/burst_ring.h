// Bursts of frames from one thread to another, copied into memory that is allocated once.
#pragma once

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "io/port.h"

namespace viaduct::io {

// Wakes one thread that has found nothing to do. The sleeper calls Arm(), looks once more, and then
// waits for Fd() to be readable; others call Ring() after they have given it
// something. All accesses are in one order (seq_cst), with those of a BurstRing: either who rings
// sees that it is armed, or the sleeper's second look sees what was given.
class Doorbell {
 public:
  Doorbell() : fd_(SystemCall("eventfd", eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))) {}

  int Fd() const { return fd_.get(); }
  void Arm() {
    // Also if it is armed: who was about to ring it when it was, has done so since.
    eventfd_t value = 0;
    (void)eventfd_read(Fd(), &value);
    is_armed_.store(true);
  }
  void Ring() {
    if (is_armed_.load() && is_armed_.exchange(false)) eventfd_write(Fd(), 1);
  }

 private:
  UniqueFd fd_;
  std::atomic<bool> is_armed_ = false;
};

// A burst: frames, and their bytes.
class Burst {
 public:
  static constexpr size_t kFrames = 64;

  explicit Burst(size_t bytes)
      : bytes_(bytes), memory_(std::make_unique_for_overwrite<std::byte[]>(bytes)) {}

  void Clear() { count_ = used_ = 0; }
  // False: there is no room.
  bool Add(const ReceivedFrame& frame) {
    constexpr size_t kLine = 64;
    const size_t length = frame.bytes.size();
    if (count_ == kFrames || bytes_ - used_ < length) return false;
    std::byte* const at = memory_.get() + used_;
    std::memcpy(at, frame.bytes.data(), length);
    frames_[count_] = frame;
    frames_[count_++].bytes = {at, length};
    used_ = std::min(bytes_, (used_ + length + kLine - 1) / kLine * kLine);
    return true;
  }
  std::span<const ReceivedFrame> frames() const { return std::span(frames_).first(count_); }

  Instant published;  // by the sender's choice

 private:
  size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
  std::array<ReceivedFrame, kFrames> frames_{};
  size_t count_ = 0, used_ = 0;
};

// A bounded queue of bursts with one writer and one reader, each a thread.
class BurstRing {
 public:
  // Few, so that their memory stays in the cache.
  static constexpr size_t kBursts = 32;

  // `bytes`: of each burst; a frame is no longer.
  explicit BurstRing(size_t bytes) {
    for (auto& burst : bursts_) burst = std::make_unique<Burst>(bytes);
  }

  // The writer's: an empty burst to be filled, or none.
  Burst* Next() {
    const size_t written = written_.load(std::memory_order_relaxed);
    if (written - read_.load() == kBursts) return nullptr;
    Burst* const burst = bursts_[written % kBursts].get();
    burst->Clear();
    return burst;
  }
  void Publish() { written_.store(written_.load(std::memory_order_relaxed) + 1); }
  // The reader's: the oldest burst, or none. It may be read until Release().
  Burst* Front() {
    const size_t read = read_.load(std::memory_order_relaxed);
    if (written_.load() == read) return nullptr;
    return bursts_[read % kBursts].get();
  }
  void Release() { read_.store(read_.load(std::memory_order_relaxed) + 1); }

 private:
  std::array<std::unique_ptr<Burst>, kBursts> bursts_;
  alignas(64) std::atomic<size_t> written_ = 0;
  alignas(64) std::atomic<size_t> read_ = 0;
};

}  // namespace viaduct::io
