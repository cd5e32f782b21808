#include <algorithm>
#include <cstring>

#include "plane/bpf/upcall.h"
#include "plane/bpf/upcall_program.h"
#include "sys/network/packet_marks.h"

namespace viaduct::bpf {

static_assert(sizeof(viaduct_upcall_header) == kUpcallHeader);
static_assert(VIADUCT_PASSED_UP == sys::kPassedUp);
static_assert(VIADUCT_FORWARDED_MARK == sys::kForwardedMark);

std::optional<Upcall> ReadUpcall(std::span<std::byte> bytes) {
  if (bytes.size() < kUpcallHeader) return std::nullopt;
  viaduct_upcall_header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  return Upcall{static_cast<int>(header.ifindex), header.is_copy != 0,
                bytes.subspan(kUpcallHeader)};
}

std::vector<std::byte> WriteUpcall(const Upcall& upcall) {
  const viaduct_upcall_header header{.ifindex = static_cast<uint32_t>(upcall.ifindex),
                                     .is_copy = upcall.is_copy ? 1U : 0U};
  std::vector<std::byte> bytes(kUpcallHeader + upcall.packet.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::ranges::copy(upcall.packet, bytes.begin() + kUpcallHeader);
  return bytes;
}

}  // namespace viaduct::bpf
