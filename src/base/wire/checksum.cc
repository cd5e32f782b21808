#include "base/wire/checksum.h"

#include <bit>
#include <cstring>

namespace viaduct::wire {
namespace {

constexpr uint8_t kProtocolUdp = 17;

uint32_t Fold16(uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint32_t>(sum);
}

uint32_t SumAddress(const IpAddress& address) {
  return Sum(std::as_bytes(std::span(address.bytes).first(static_cast<size_t>(address.Length()))));
}

}  // namespace

uint32_t Sum(ConstBytes bytes, uint32_t start) {
  // Adds words in the machine's byte order, four bytes at a time: the sum does not depend on the
  // byte order except for one swap at the end (RFC 1071 section 2 (B)).
  uint64_t sum = 0;
  const std::byte* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 4; at += 4, left -= 4) {
    uint32_t word;
    std::memcpy(&word, at, sizeof(word));
    sum += word;
  }
  if (left > 0) {
    uint32_t word = 0;
    std::memcpy(&word, at, left);
    sum += word;
  }
  uint32_t folded = Fold16(sum);
  if constexpr (std::endian::native == std::endian::little) {
    folded = (folded >> 8 | folded << 8) & 0xffff;
  }
  return Fold16(uint64_t{folded} + start);
}

uint16_t FinishChecksum(uint32_t sum) { return static_cast<uint16_t>(~Fold16(sum)); }

uint16_t UpdateChecksum(uint16_t checksum, uint16_t old_word, uint16_t new_word) {
  const auto inverted = [](uint16_t word) { return static_cast<uint16_t>(~word); };
  return FinishChecksum(uint32_t{inverted(checksum)} + inverted(old_word) + new_word);
}

uint32_t PseudoHeaderSum(const IpAddress& source, const IpAddress& destination, uint8_t protocol,
                         uint32_t length) {
  return Fold16(uint64_t{SumAddress(source)} + SumAddress(destination) + protocol + (length >> 16) +
                (length & 0xffff));
}

uint16_t TransportChecksum(const IpAddress& source, const IpAddress& destination, uint8_t protocol,
                           ConstBytes segment) {
  const auto length = static_cast<uint32_t>(segment.size());
  const uint16_t checksum =
      FinishChecksum(Sum(segment, PseudoHeaderSum(source, destination, protocol, length)));
  return checksum == 0 && protocol == kProtocolUdp ? 0xffff : checksum;
}

bool TransportChecksumIsRight(const IpAddress& source, const IpAddress& destination,
                              uint8_t protocol, ConstBytes segment) {
  const auto length = static_cast<uint32_t>(segment.size());
  return FinishChecksum(Sum(segment, PseudoHeaderSum(source, destination, protocol, length))) == 0;
}

bool CompletePartialChecksum(Bytes frame, size_t start, size_t offset) {
  if (start >= frame.size() || offset + 2 > frame.size() - start) return false;
  const uint16_t checksum = InternetChecksum(frame.subspan(start));
  // Stores 0xffff for 0, as the kernel does (CSUM_MANGLED_0): in UDP, 0 would mean "no checksum";
  // in other protocols both values are equivalent.
  Store16(frame.data() + start + offset, checksum == 0 ? 0xffff : checksum);
  return true;
}

}  // namespace viaduct::wire
