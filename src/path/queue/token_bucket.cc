#include "path/queue/token_bucket.h"

#include <algorithm>

namespace viaduct::path {
namespace {

constexpr __int128 kBitNanoseconds = __int128{8} * 1000000000;  // time of one byte at 1 bit/s

}  // namespace

TokenBucket::TokenBucket(int64_t rate, int64_t burst, FrameOverhead overhead)
    : rate_(rate), burst_(burst), overhead_(overhead) {}

Instant TokenBucket::Send(Instant start, uint32_t bytes) {
  const int64_t size = overhead_.Of(bytes);
  if (start > full_) {
    full_ = start;
    remainder_ = 0;
  }
  // The bucket holds `size` bytes at full_ + wait / rate_, rounded up. This instant is before the
  // bucket is full or, if `size` exceeds the burst, afterwards.
  const __int128 wait = remainder_ - (burst_ - size) * kBitNanoseconds;
  const __int128 rounded = wait <= 0 ? wait / rate_ : (wait + rate_ - 1) / rate_;
  const Instant enough = full_ + Duration::Nanoseconds(static_cast<int64_t>(rounded));
  const __int128 scaled = size * kBitNanoseconds + remainder_;
  full_ += Duration::Nanoseconds(static_cast<int64_t>(scaled / rate_));
  remainder_ = static_cast<int64_t>(scaled % rate_);
  return std::max(start, enough);
}

}  // namespace viaduct::path
