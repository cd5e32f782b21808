#include "path/model/bit_errors.h"

#include <cmath>

namespace viaduct::path {
namespace {

constexpr uint64_t kFar = uint64_t{1} << 62;  // a number of bits that no link ever sends

}  // namespace

BitErrors::BitErrors(const BitErrorSpec& spec, RandomStream& random)
    : rate_(spec.rate),
      log_good_(std::log1p(-spec.rate)),
      skip_(spec.header ? 0 : kSparedHeader),
      next_(Gap(random)) {}

// Draws the number of good bits before the next bad bit: geometrically distributed, by inversion.
uint64_t BitErrors::Gap(RandomStream& random) const {
  if (rate_ <= 0) return kFar;
  const double uniform = random.Uniform();
  if (rate_ >= 1) return 0;
  const double gap = std::floor(std::log1p(-uniform) / log_good_);
  return gap < static_cast<double>(kFar) ? static_cast<uint64_t>(gap) : kFar;
}

uint64_t BitErrors::Flip(std::span<std::byte> frame, RandomStream& random) {
  const uint64_t bits = (frame.size() - skip_) * 8;
  uint64_t flipped = 0;
  for (; next_ < bits; next_ += 1 + Gap(random)) {
    frame[skip_ + next_ / 8] ^= std::byte{1} << (next_ % 8);
    ++flipped;
  }
  next_ -= bits;
  return flipped;
}

}  // namespace viaduct::path
