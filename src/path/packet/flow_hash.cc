#include "path/packet/flow_hash.h"

#include <algorithm>
#include <cstring>

#include "base/wire/ip.h"
#include "base/wire/layers.h"

namespace viaduct::path {
namespace {

constexpr uint8_t kDccp = 33, kSctp = 132, kUdpLite = 136;

bool StartsWithPorts(uint8_t protocol) {
  return protocol == wire::ip_protocol::kTcp || protocol == wire::ip_protocol::kUdp ||
         protocol == kUdpLite || protocol == kSctp || protocol == kDccp;
}

// Folds words into one word by combining the upper and lower half of a 128-bit product. The
// multiplier is the fraction of the golden ratio: an odd number without a pattern.
class Mixer {
 public:
  explicit Mixer(uint64_t seed) : state_(seed ^ kGolden) {}
  void Add(uint64_t word) {
    const auto product = static_cast<unsigned __int128>(state_ ^ word) * kGolden;
    state_ = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    state_ += kGolden;  // so that a product of zero does not persist
  }
  void Add(wire::ConstBytes bytes) {
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) Add(Word(bytes.first(8)));
    if (!bytes.empty()) Add(Word(bytes));
  }
  uint64_t Result() {
    Add(0);
    return state_;
  }

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  static uint64_t Word(wire::ConstBytes bytes) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    return word;
  }
  uint64_t state_;
};

void AddIp(Mixer& mixer, wire::ConstBytes frame, const wire::IpLayers& layers) {
  const bool ipv4 = layers.family == wire::Family::kIpv4;
  mixer.Add(frame.subspan(layers.network + (ipv4 ? 12 : 8), ipv4 ? 8 : 32));
  const bool ports =
      !layers.fragment && StartsWithPorts(layers.protocol) && layers.end >= layers.transport + 4;
  mixer.Add(uint64_t{layers.protocol} << 32 |
            (ports ? wire::Load32(frame.data() + layers.transport) : 0));
}

}  // namespace

uint64_t HashFlow(wire::ConstBytes frame, uint64_t seed) {
  Mixer mixer(seed);
  const auto link = wire::FindLink(frame);
  if (!link) {
    mixer.Add(frame.first(std::min<size_t>(frame.size(), 14)));
    return mixer.Result();
  }
  // VLAN tags are between the MAC addresses and the last EtherType of a frame.
  if (link->size > 14) mixer.Add(frame.subspan(12, link->size - 14));
  if (const auto layers = wire::FindIpLayers(frame)) {
    AddIp(mixer, frame, *layers);
  } else {
    mixer.Add(frame.first(12));
    mixer.Add(link->ether_type);
  }
  return mixer.Result();
}

}  // namespace viaduct::path
