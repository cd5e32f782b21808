#include "plane/forward/bridge.h"

#include "base/wire/ethernet.h"

namespace viaduct::forward {
namespace {

constexpr uint64_t kGroup = uint64_t{1} << 40;  // group bit: lowest bit of the first byte
// The reserved group addresses, from 01:80:c2:00:00:00 to 01:80:c2:00:00:0f.
constexpr uint64_t kFirstReserved = 0x0180C2000000, kLastReserved = 0x0180C200000F;

uint64_t NumberAt(const std::byte* at) {
  return uint64_t{wire::Load16(at)} << 32 | wire::Load32(at + 2);
}

}  // namespace

size_t Bridge::Take(const Frame& frame, Outbox& outbox) {
  if (frame.bytes.size() < wire::EthernetHeader::kSize) return kMalformed;
  const uint64_t destination = NumberAt(frame.bytes.data());
  const uint64_t source = NumberAt(frame.bytes.data() + 6);
  if ((source & kGroup) != 0) return kMalformed;
  Learn(source, frame.port, frame.now);
  if (destination >= kFirstReserved && destination <= kLastReserved) return kReserved;
  const auto station = stations_.find(destination);
  if ((destination & kGroup) != 0 || station == stations_.end()) {
    outbox.Flood(frame.port, frame.bytes);
    return kFlooded;
  }
  if (station->second.port == frame.port) return kFiltered;
  outbox.Send(station->second.port, frame.bytes);
  return kForwarded;
}

void Bridge::Learn(uint64_t mac, size_t port, Instant now) {
  const auto found = stations_.find(mac);
  if (found != stations_.end()) {
    found->second = {port, now};
  } else if (stations_.size() < kMaxStations) {
    stations_.emplace(mac, Station{port, now});
  }
}

void Bridge::Tick(Instant now, Outbox&) {
  std::erase_if(stations_, [&](const auto& entry) { return now - entry.second.heard > kAgeing; });
}

}  // namespace viaduct::forward
