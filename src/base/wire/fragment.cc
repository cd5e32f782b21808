#include "base/wire/fragment.h"

#include <algorithm>

namespace viaduct::forward {
namespace {

constexpr uint16_t kMoreFragments = 0x2000;
// The types of IPv4 options without a length, and the flag "copied" in an option's type.
constexpr uint8_t kEnd = 0, kNoOperation = 1, kCopied = 0x80;

// Replaces the options that only the first fragment may have (those without the "copied" flag) by
// "no operation".
void KeepCopiedOptions(wire::Bytes options) {
  for (size_t at = 0; at < options.size() && wire::Load8(&options[at]) != kEnd;) {
    const uint8_t kind = wire::Load8(&options[at]);
    if (kind == kNoOperation) {
      ++at;
      continue;
    }
    if (at + 1 == options.size()) return;
    const size_t length = std::min<size_t>(wire::Load8(&options[at + 1]), options.size() - at);
    if (length < 2) return;
    if ((kind & kCopied) == 0) {
      std::ranges::fill(options.subspan(at, length), std::byte{kNoOperation});
    }
    at += length;
  }
}

}  // namespace

void Fragment(const wire::Ipv4Header& header, wire::ConstBytes packet, size_t mtu,
              const std::function<wire::Bytes(size_t size)>& make,
              const std::function<void(wire::Bytes fragment)>& use) {
  const size_t header_size = header.header_length;
  const wire::ConstBytes payload = packet.subspan(header_size);
  const size_t step = std::max<size_t>((mtu - header_size) / 8, 1) * 8;
  for (size_t start = 0; start < payload.size(); start += step) {
    const size_t size = std::min(step, payload.size() - start);
    const bool is_last = start + size == payload.size();
    const wire::Bytes fragment = make(header_size + size);
    std::ranges::copy(packet.first(header_size), fragment.begin());
    std::ranges::copy(payload.subspan(start, size), fragment.subspan(header_size).begin());
    const auto offset = static_cast<uint16_t>(header.fragment_offset + start / 8);
    const bool has_more = !is_last || header.more_fragments;
    wire::Store16(&fragment[2], static_cast<uint16_t>(fragment.size()));
    wire::Store16(&fragment[6], static_cast<uint16_t>(offset | (has_more ? kMoreFragments : 0)));
    if (start > 0) {
      KeepCopiedOptions(
          fragment.subspan(wire::Ipv4Header::kSize, header_size - wire::Ipv4Header::kSize));
    }
    wire::SetIpv4Checksum(fragment);
    use(fragment);
  }
}

}  // namespace viaduct::forward
