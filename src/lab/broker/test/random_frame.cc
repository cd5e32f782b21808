#include <array>

#include "base/wire/test/packet_builder.h"
#include "lab/broker/test/random_network.h"

namespace viaduct::broker::test {
namespace {

using namespace wire::packet;  // NOLINT(google-build-using-namespace): short packet descriptions

constexpr std::array<uint8_t, 9> kHopLimits = {0, 1, 2, 3, 4, 5, 64, 64, 255};
constexpr uint16_t kMarkerId = 0xbeef;
// The maximum number of packets to a network without a route: kernels answer the first few packets
// of a source, then one a second.
constexpr int kMaxUnrouted = 30;

const std::string& OneOf(RandomStream& random, const std::vector<std::string>& choices) {
  return choices[random.Below(choices.size())];
}

const lab::Interface& SourceInterface(const RandomNetwork& network) {
  for (const lab::Node& node : network.topology.nodes) {
    if (node.name == kSource) return node.interfaces.front();
  }
  throw std::logic_error("a network without a source");
}

// Returns the Ethernet header of a frame from the source host to its router, which is at the second
// end of the host's link.
Ethernet ToRouter(const RandomNetwork& network) {
  wire::MacAddress router = SourceInterface(network).mac;
  router.bytes[5] = 1;
  return {.source = SourceInterface(network).mac.ToString(), .destination = router.ToString()};
}

Ipv4 RandomIpv4(RandomStream& random, const Endpoints& endpoints, int number) {
  Ipv4 header{.source = OneOf(random, endpoints.sources),
              .destination = OneOf(random, endpoints.destinations)};
  if (number >= kMaxUnrouted && header.destination == kUnrouted) {
    header.destination = endpoints.destinations.front();
  }
  header.ttl = kHopLimits[random.Below(kHopLimits.size())];
  header.tos = static_cast<uint8_t>(random.Below(256));
  header.id = static_cast<uint16_t>(number);
  header.dont_fragment = random.Chance(0.5);
  if (random.Chance(0.1)) header.fragment_offset = static_cast<uint16_t>(8 * random.Below(100));
  header.more_fragments = random.Chance(0.1);
  return header;
}

Ipv6 RandomIpv6(RandomStream& random, const Endpoints& endpoints) {
  return {.source = OneOf(random, endpoints.sources),
          .destination = OneOf(random, endpoints.destinations),
          .hop_limit = kHopLimits[random.Below(kHopLimits.size())],
          .traffic_class = static_cast<uint8_t>(random.Below(256))};
}

Udp RandomUdp(RandomStream& random, int number) {
  return {.source = static_cast<uint16_t>(1024 + number % 60000),
          .destination = static_cast<uint16_t>(2000 + random.Below(100))};
}

// Changes a byte of the IP header, or makes the frame longer or shorter than the length in the
// header.
void Break(RandomStream& random, Frame* frame) {
  if (random.Chance(0.5)) {
    (*frame)[14 + random.Below(20)] ^= std::byte{0x21};
  } else {
    frame->resize(frame->size() - 20 + random.Below(40));
  }
}

}  // namespace

Frame RandomFrame(RandomStream& random, const RandomNetwork& network, int number) {
  const Ethernet ethernet = ToRouter(network);
  const Payload payload = Counting(random.Below(random.Chance(0.2) ? 1440 : 200));
  const bool is_echo = random.Chance(0.2);
  const auto rest = static_cast<uint32_t>(number);
  Frame frame;
  if (random.Chance(0.6)) {
    const wire::packet::Packet packet = ethernet / RandomIpv4(random, network.ipv4, number);
    frame = is_echo ? Build(packet / Icmp{.rest = rest} / payload)
                    : Build(packet / RandomUdp(random, number) / payload);
  } else {
    const wire::packet::Packet packet = ethernet / RandomIpv6(random, network.ipv6);
    frame = is_echo ? Build(packet / Icmpv6{.rest = rest} / payload)
                    : Build(packet / RandomUdp(random, number) / payload);
  }
  if (random.Chance(0.1)) Break(random, &frame);
  return frame;
}

// Returns a marker: an echo reply to a request that no node has sent.
Frame MarkerFrame(const RandomNetwork& network) {
  return Build(ToRouter(network) /
               Ipv4{.source = network.ipv4.sources.front(),
                    .destination = network.ipv4.destinations.front(),
                    .id = kMarkerId} /
               Icmp{.type = 0});
}

bool IsMarker(const std::string& description) {
  static const std::string id = " id " + std::to_string(kMarkerId) + " ";
  return description.find("icmp 0/0") != std::string::npos &&
         description.find(id) != std::string::npos;
}

}  // namespace viaduct::broker::test
