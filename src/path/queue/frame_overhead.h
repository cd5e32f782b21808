// The size of a frame on the link in addition to its own bytes: headers and trailers of the medium,
// and the framing. The sizes are those of CAKE's shaper (net/sched/sch_cake.c, cake_calc_overhead),
// except that the bytes are counted from the Ethernet header and not from the IP header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace viaduct::path {

enum class Framing : uint8_t {
  kNone,
  kAtm,  // cells of 53 bytes that carry 48 bytes each (ADSL)
  kPtm   // 65 bytes carry 64 bytes (VDSL2)
};

struct FrameOverhead {
  int64_t bytes = 0;    // bytes added to each frame; may be negative
  int64_t minimum = 1;  // minimum of the sum of the frame's bytes and the added bytes
  Framing framing = Framing::kNone;
  friend bool operator==(const FrameOverhead&, const FrameOverhead&) = default;

  // Returns the number of bytes that a frame of `frame_bytes` bytes has on the link; greater than
  // zero.
  int64_t Of(uint32_t frame_bytes) const {
    const int64_t sum = std::max(frame_bytes + bytes, minimum);
    if (framing == Framing::kAtm) return (sum + 47) / 48 * 53;
    if (framing == Framing::kPtm) return sum + (sum + 63) / 64;
    return sum;
  }
};

// Parses "24B", "-14B", "30B:mpu=96B,atm", or one of CAKE's keywords, such as "pppoe-ptm". Throws
// UsageError if the value is not valid.
FrameOverhead ParseOverhead(std::string_view value);
std::string FormatOverhead(const FrameOverhead& overhead);

}  // namespace viaduct::path
