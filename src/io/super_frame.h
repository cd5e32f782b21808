// From what the kernel lends us to what would be on a wire.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>

#include "io/port.h"

namespace viaduct::io {

// Turns a ReceivedFrame into proper frames: completes a partial checksum in place, cuts a TSO, GRO
// or UDP GSO super-frame into frames of its gso_size. Holds one frame's memory; no allocation.
class SuperFrameSplitter {
 public:
  // `max_frame`: the longest frame to produce (MTU plus link-layer headers).
  explicit SuperFrameSplitter(size_t max_frame = 65536);

  // Calls use(std::span<std::byte>) for every proper frame of `frame`, in order; the bytes are
  // valid during the call. Returns false when the frame contradicts itself (no such header, a
  // segment over max_frame): what was not handed over by then is lost, for the caller to count.
  template <std::invocable<std::span<std::byte>> Use>
  bool Split(const ReceivedFrame& frame, Use&& use) {
    if (frame.gso_size == 0) {
      if (frame.checksum == Checksum::kPartial && !Complete(frame)) return false;
      use(frame.bytes);
      return true;
    }
    Begin(frame);
    for (std::span<std::byte> segment = Next(); !segment.empty(); segment = Next()) use(segment);
    return Done();
  }

 private:
  static bool Complete(const ReceivedFrame& frame);
  void Begin(const ReceivedFrame& frame);
  std::span<std::byte> Next();
  bool Done() const;

  struct State;
  struct Delete {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Delete> state_;
};

}  // namespace viaduct::io
