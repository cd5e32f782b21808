// Fuzz target: the wire parses a client's frame, and sends the packet in the frame back to the
// client.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/wire/ethernet.h"
#include "remote/tunnel/client_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace viaduct;
  constexpr size_t kMtu = 576;
  std::vector<std::byte> frame(size);
  if (size > 0) std::memcpy(frame.data(), data, size);
  tunnel::ClientWire wire({wire::IpAddress::Parse("10.0.0.1")}, kMtu);
  const auto check = [](wire::ConstBytes sent) {
    const auto header = wire::EthernetHeader::Parse(sent);
    if (!header || header->source != tunnel::ClientWire::kMac) abort();
  };
  const auto packet = wire.Take(frame, Instant(), check);
  if (!packet) return 0;
  if (packet->size() > frame.size()) abort();
  wire.Give(*packet, Instant(), check);
  return 0;
}
