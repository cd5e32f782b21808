// Converts frames in the kernel's form into frames as on a wire.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>

#include "base/wire/checksum.h"
#include "base/wire/segment.h"
#include "port/port.h"

namespace viaduct::io {

// Converts a ReceivedFrame into proper frames: completes a partial checksum in place, and cuts a
// TSO, GRO or UDP GSO super-frame into frames with payloads of its gso_size. Owns a buffer for one
// frame; allocates only in the constructor.
class SuperFrameSplitter {
 public:
  // `max_frame`: the length of the longest frame into which a super-frame may be cut, link-layer
  // headers included.
  explicit SuperFrameSplitter(size_t max_frame = 65536)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(max_frame)), max_frame_(max_frame) {}

  // Calls use(std::span<std::byte>) for every proper frame of `frame`, in order; the bytes are
  // valid during the call. Returns false if the metadata of the frame contradict its bytes (a layer
  // is missing, a segment is longer than max_frame, the tunnel is unknown). In this case all
  // segments or the last segments are lost, and the caller must count the loss.
  template <std::invocable<std::span<std::byte>> Use>
  bool Split(const ReceivedFrame& frame, Use&& use) {
    const bool partial = frame.checksum == Checksum::kPartial;
    if (frame.gso_size == 0) {
      if (partial && !wire::CompletePartialChecksum(frame.bytes, frame.checksum_start,
                                                    frame.checksum_offset)) {
        return false;
      }
      use(frame.bytes);
      return true;
    }
    auto segmenter = wire::Segmenter::Begin(frame.bytes, frame.gso_size, partial,
                                            partial ? frame.checksum_start : 0);
    if (!segmenter) return false;
    if (partial && frame.checksum_start != segmenter->layers().transport) return false;
    while (!segmenter->Finished()) {
      const std::span<std::byte> cut = segmenter->Next({memory_.get(), max_frame_});
      if (cut.empty()) return false;
      use(cut);
    }
    return true;
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  size_t max_frame_;
};

}  // namespace viaduct::io
