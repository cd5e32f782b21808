#include "scenario/subnets.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace viaduct::scenario {
namespace {

// Returns the number of bits that number subnets and addresses: all 32 of IPv4, the first 64 of
// IPv6 (RFC 4291, 2.5.1).
int Width(wire::Family family) { return family == wire::Family::kIpv4 ? 32 : 64; }

uint64_t Bits(const wire::IpAddress& address) {
  uint64_t bits = 0;
  for (int i = 0; i < Width(address.family) / 8; ++i) bits = bits << 8 | address.bytes[i];
  return bits;
}

wire::IpAddress WithBits(wire::Family family, uint64_t bits) {
  wire::IpAddress address;
  address.family = family;
  for (int i = Width(family) / 8 - 1; i >= 0; --i, bits >>= 8) {
    address.bytes[i] = static_cast<uint8_t>(bits);
  }
  return address;
}

}  // namespace

bool Overlap(const wire::IpPrefix& a, const wire::IpPrefix& b) {
  if (a.address.family != b.address.family) return false;
  return a.length <= b.length ? a.Contains(b.address) : b.Contains(a.address);
}

wire::IpPrefix HostAddress(const wire::IpPrefix& subnet, uint32_t number) {
  wire::IpPrefix host = subnet.Network();
  const int last = host.address.Length() - 1;
  for (int i = 0; i < 4; ++i) {
    host.address.bytes[last - i] |= static_cast<uint8_t>(number >> (8 * i));
  }
  return host;
}

wire::IpPrefix SubnetPool::Take(int length) {
  const wire::Family family = pool_.address.family;
  const int width = Width(family);
  const auto used_up = [&] {
    return UsageError(
        fmt::format("addressing: {} has no space for another /{}; set a larger prefix",
                    pool_.ToString(), length));
  };
  if (length < pool_.length || length > width) throw used_up();
  const uint64_t step = uint64_t{1} << (width - length);
  // The last offset in the pool, computed without an overflow for a pool of length 0.
  const uint64_t last = pool_.length == 0 ? ~uint64_t{0} >> (64 - width)
                                          : (uint64_t{1} << (width - pool_.length)) - 1;
  uint64_t offset = (next_ + step - 1) / step * step;
  for (; offset >= next_ && offset <= last; offset += step) {
    const wire::IpPrefix subnet{WithBits(family, Bits(pool_.address) + offset), length};
    const auto overlaps = [&](const wire::IpPrefix& other) { return Overlap(subnet, other); };
    if (std::none_of(reserved_.begin(), reserved_.end(), overlaps)) {
      next_ = offset + step;
      return subnet;
    }
  }
  throw used_up();
}

}  // namespace viaduct::scenario
