// The size of a frame on the link in addition to its own bytes: headers and trailers of the medium,
// and the framing. The sizes are those of CAKE's shaper (net/sched/sch_cake.c, cake_calc_overhead),
// except that they count from the Ethernet header on and not from the IP header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace viaduct::path {

enum class Framing : uint8_t {
  kNone,
  kAtm,  // cells of 53 bytes that carry 48 each (ADSL)
  kPtm   // 65 bytes for 64 (VDSL2)
};

struct FrameOverhead {
  int64_t bytes = 0;    // added to each frame; may be negative
  int64_t minimum = 1;  // bytes, of the sum
  Framing framing = Framing::kNone;
  friend bool operator==(const FrameOverhead&, const FrameOverhead&) = default;

  // The bytes on the link of a frame of `frame_bytes`; greater than zero.
  int64_t Of(uint32_t frame_bytes) const {
    const int64_t sum = std::max(frame_bytes + bytes, minimum);
    if (framing == Framing::kAtm) return (sum + 47) / 48 * 53;
    if (framing == Framing::kPtm) return sum + (sum + 63) / 64;
    return sum;
  }
};

// "24B", "-14B", "30B:mpu=96B,atm", or one of CAKE's keywords, "pppoe-ptm". Throws UsageError.
FrameOverhead ParseOverhead(std::string_view value);
std::string FormatOverhead(const FrameOverhead& overhead);

}  // namespace viaduct::path
