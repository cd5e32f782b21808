#include "path/queue/rate_server.h"

namespace viaduct::path {
namespace {

constexpr uint64_t kNanosecondsPerSecond = 1000000000;

}  // namespace

ConstantRate::ConstantRate(int64_t bits_per_second, FrameOverhead overhead)
    : rate_(bits_per_second), overhead_(overhead) {}

Instant ConstantRate::Send(Instant start, uint32_t bytes) {
  if (start != finish_) remainder_ = 0;  // the link was idle: no remainder to carry over
  const auto bits = static_cast<uint64_t>(overhead_.Of(bytes)) * 8;
  const auto rate = static_cast<uint64_t>(rate_);
  // The product fits in 64 bits: 2^21 bits of a 256 KiB super-frame times 10^9 are 2^51.
  const uint64_t scaled = bits * kNanosecondsPerSecond + remainder_;
  remainder_ = scaled % rate;
  finish_ = start + Duration::Nanoseconds(static_cast<int64_t>(scaled / rate));
  return finish_;
}

}  // namespace viaduct::path
