#include "base/wire/probe_header.h"

#include <endian.h>

#include <cstring>

namespace viaduct::load {
namespace {

constexpr uint32_t kMagic = 0x56644c64;  // "VdLd" in ASCII
constexpr uint8_t kVersion = 1;

struct WireHeader {
  uint32_t magic;
  uint8_t version;
  uint8_t type;
  uint16_t reserved;
  uint32_t flow;
  uint64_t sequence;
  uint64_t sent_ns;
} __attribute__((packed));
static_assert(sizeof(WireHeader) == kHeaderBytes);
static_assert(offsetof(WireHeader, type) == kTypeOffset);
static_assert(offsetof(WireHeader, sequence) == kSequenceOffset);

}  // namespace

void WriteHeader(const Header& header, std::span<std::byte> payload) {
  const WireHeader wire = {
      .magic = htobe32(kMagic),
      .version = kVersion,
      .type = static_cast<uint8_t>(header.type),
      .reserved = 0,
      .flow = htobe32(header.flow),
      .sequence = htobe64(header.sequence),
      .sent_ns = htobe64(static_cast<uint64_t>(header.sent.nanoseconds())),
  };
  std::memcpy(payload.data(), &wire, sizeof(wire));
}

std::optional<Header> ReadHeader(std::span<const std::byte> payload) {
  WireHeader wire;
  if (payload.size() < sizeof(wire)) return std::nullopt;
  std::memcpy(&wire, payload.data(), sizeof(wire));
  const auto type = static_cast<PacketType>(wire.type);
  if (be32toh(wire.magic) != kMagic || wire.version != kVersion ||
      (type != PacketType::kData && type != PacketType::kEnd)) {
    return std::nullopt;
  }
  return Header{.type = type,
                .flow = be32toh(wire.flow),
                .sequence = be64toh(wire.sequence),
                .sent = Instant::FromNanoseconds(static_cast<int64_t>(be64toh(wire.sent_ns)))};
}

}  // namespace viaduct::load
