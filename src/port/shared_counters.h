// The counters of a port: one thread receives, one thread sends, and any thread reads the counters.
#pragma once

#include <atomic>
#include <cstdint>

#include "port/port.h"

namespace viaduct::io {

// A counter that only one thread increases, so that no locked instruction is needed.
class SharedCounter {
 public:
  SharedCounter() = default;
  SharedCounter(const SharedCounter& other) : value_(other.Get()) {}
  SharedCounter& operator=(const SharedCounter& other) {
    value_.store(other.Get(), std::memory_order_relaxed);
    return *this;
  }
  void Add(uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_ = 0;
};

// The counters of the receiving thread and of the sending thread, on separate cache lines.
struct SharedCounters {
  struct alignas(64) {
    SharedCounter frames, bytes, dropped_truncated, left_out;
  } rx;
  struct alignas(64) {
    SharedCounter frames, bytes, dropped_error;
  } tx;

  PortCounters Read() const {
    return {.rx_frames = rx.frames.Get(),
            .rx_bytes = rx.bytes.Get(),
            .tx_frames = tx.frames.Get(),
            .tx_bytes = tx.bytes.Get(),
            .rx_dropped_truncated = rx.dropped_truncated.Get(),
            .tx_dropped_error = tx.dropped_error.Get()};
  }
};

}  // namespace viaduct::io
