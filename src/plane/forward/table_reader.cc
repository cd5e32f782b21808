#include "plane/forward/table_reader.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "plane/forward/address_bits.h"

namespace viaduct::forward {
namespace {

using namespace table;  // NOLINT(google-build-using-namespace): the format's constants

// The maximum number of attempts of a lookup. A lookup takes far less time than the writer needs
// for two versions, so even one repetition is rare.
constexpr int kAttempts = 16;

uint64_t Below(size_t bit) { return (uint64_t{1} << bit) - 1; }

wire::IpAddress GatewayOf(wire::Family family, uint64_t high, uint64_t low) {
  wire::IpAddress address{family, {}};
  for (size_t i = 0; i < 8; ++i) {
    address.bytes[i] = static_cast<uint8_t>(high >> (56 - 8 * i));
    if (family == wire::Family::kIpv6) {
      address.bytes[i + 8] = static_cast<uint8_t>(low >> (56 - 8 * i));
    }
  }
  return address;
}

IcmpLimits LimitsOf(uint64_t ipv4, uint64_t ipv6) {
  return {static_cast<uint32_t>(ipv4), static_cast<uint32_t>(ipv4 >> 32),
          static_cast<uint32_t>(ipv6), static_cast<uint32_t>(ipv6 >> 32)};
}

}  // namespace

TableReader::TableReader(std::span<const Word> words) : words_(words) {
  if (At(kMagicWord) != kMagic) throw UsageError("this memory is not a forwarding table");
  if (At(kFormatWord) != kFormat) {
    throw UsageError(
        "this forwarding table has a different format, because it was written by another version");
  }
  if (At(kSizeWord) > words.size()) throw UsageError("this forwarding table is truncated");
}

Found TableReader::Lookup(const wire::IpAddress& address, uint32_t flow_hash) const {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const uint64_t current = At(kCurrent);
    const Found found = Walk(static_cast<uint32_t>(current), address, flow_hash);
    const auto ahead = static_cast<uint32_t>(At(kBegun) - (current >> 32));
    if (ahead <= 1) return found;
  }
  return {};
}

uint32_t TableReader::Version() const { return static_cast<uint32_t>(At(kCurrent) >> 32); }

IcmpLimits TableReader::Limits() const { return LimitsOf(At(kIcmpIpv4), At(kIcmpIpv6)); }

Found TableReader::Walk(uint64_t root, const wire::IpAddress& address, uint32_t flow_hash) const {
  if (root == 0) return {};
  uint64_t node = root + (address.family == wire::Family::kIpv6 ? size_t{kNodeWords} : 0);
  uint64_t best = 0;  // place of the result for the longest prefix so far
  AddressBits bits(address);
  for (int level = 0; level < kMaxLevels; ++level) {
    const size_t slot = bits.Next();
    const uint64_t internal = At(node + kInternal);
    const uint64_t external = At(node + kExternal);
    const uint64_t places = At(node + kPlaces);
    if (const uint64_t matches = internal & kAncestors[slot]; matches != 0) {
      const auto longest = static_cast<size_t>(63 - std::countl_zero(matches));
      best = static_cast<uint32_t>(places) +
             static_cast<uint64_t>(std::popcount(internal & Below(longest)));
    }
    if ((external >> slot & 1) == 0) break;
    node =
        (places >> 32) + kNodeWords * static_cast<uint64_t>(std::popcount(external & Below(slot)));
  }
  return best == 0 ? Found{} : ReadEntry(At(best), address.family, flow_hash);
}

Found TableReader::ReadEntry(uint64_t place, wire::Family family, uint32_t flow_hash) const {
  const uint64_t head = At(place);
  const auto count = static_cast<uint32_t>(head);
  if (head >> 32 > static_cast<uint64_t>(Kind::kUp)) return {};
  Found found{static_cast<Kind>(head >> 32), {}};
  if (found.kind != Kind::kForward && found.kind != Kind::kUp) return found;
  if (count == 0 || count > kMaxHops) return {};
  // Each hop has a range of the hash values, so most flows keep their hop when a hop is added or
  // removed (RFC 2992).
  const uint64_t chosen = uint64_t{flow_hash} * count >> 32;
  const uint64_t hop = place + 1 + kHopWords * chosen;
  const uint64_t port = At(hop + kPort);
  found.hop.ifindex = static_cast<uint32_t>(port);
  if ((port & kHasGateway) != 0) {
    found.hop.gateway = GatewayOf(family, At(hop + kGatewayHigh), At(hop + kGatewayLow));
  }
  return found;
}

}  // namespace viaduct::forward
