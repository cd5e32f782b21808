#include "port/control/control_frames.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/wire/test/packet_builder.h"

namespace viaduct::io {
namespace {

using wire::IpAddress;
using wire::MacAddress;
using wire::packet::Describe;

const MacAddress kOwn = MacAddress::Parse("02:00:00:00:00:0b");

// A payload in memory with free space before it for headers, as the message of a socket is
// received.
struct Received {
  std::vector<std::byte> memory;
  FrameMemory payload;
  explicit Received(const std::string& text) : memory(kHeaderRoom + text.size()) {
    std::memcpy(memory.data() + kHeaderRoom, text.data(), text.size());
    payload = {memory, kHeaderRoom, text.size()};
  }
};

Delivery From(const char* source, const char* destination) {
  Delivery delivery;
  delivery.source = IpAddress::Parse(source);
  delivery.destination = IpAddress::Parse(destination);
  delivery.ttl = 1;
  delivery.traffic_class = 0xc0;
  return delivery;
}

TEST(ControlFramesTest, RebuildsUdpOverIpv4) {
  Received received("hello");
  Delivery delivery = From("10.1.2.3", "10.1.2.255");
  delivery.broadcast = true;
  EXPECT_EQ(Describe(BuildUdpFrame(received.payload, delivery, kOwn, 698, 699, 5)),
            "eth 02:00:0a:01:02:03 > ff:ff:ff:ff:ff:ff / ipv4 10.1.2.3 > 10.1.2.255 ttl 1 id 5 tos "
            "192 / udp 698 > 699 checksum good / 5 bytes");
}

TEST(ControlFramesTest, RebuildsUdpOverIpv6) {
  Received received("odd");
  EXPECT_EQ(Describe(BuildUdpFrame(received.payload, From("fe80::1:2:3:4", "ff02::9"), kOwn, 521,
                                   521, 5)),
            "eth 02:02:00:03:00:04 > 33:33:00:00:00:09 / ipv6 fe80::1:2:3:4 > ff02::9 hops 1 class "
            "192 / udp 521 > 521 checksum good / 3 bytes");
}

TEST(ControlFramesTest, UnicastIsForOurOwnAddress) {
  Received received("");
  EXPECT_EQ(Describe(BuildUdpFrame(received.payload, From("10.0.0.1", "10.0.0.2"), kOwn, 1, 2, 0)),
            "eth 02:00:0a:00:00:01 > 02:00:00:00:00:0b / ipv4 10.0.0.1 > 10.0.0.2 ttl 1 id 0 tos "
            "192 / udp 1 > 2 checksum good / 0 bytes");
}

TEST(ControlFramesTest, PutsRawPacketsIntoFrames) {
  Received ipv6("ospf");
  EXPECT_EQ(Describe(BuildIpv6Frame(ipv6.payload, From("::1", "::2"), kOwn, 89)),
            "eth 02:00:00:00:00:01 > 02:00:00:00:00:0b / ipv6 ::1 > ::2 hops 1 class 192 / "
            "protocol 89 / 4 bytes");
  using namespace wire::packet;
  const auto packet = Build(Ipv4{.source = "10.0.0.1", .destination = "224.0.0.5"} / Icmp{});
  Received ipv4(std::string(reinterpret_cast<const char*>(packet.data()), packet.size()));
  EXPECT_EQ(Describe(BuildIpv4Frame(ipv4.payload, From("10.0.0.1", "224.0.0.5"), kOwn)),
            "eth 02:00:0a:00:00:01 > 01:00:5e:00:00:05 / ipv4 10.0.0.1 > 224.0.0.5 ttl 64 id 0 / "
            "icmp 8/0 checksum good / 0 bytes");
}

TEST(ControlFramesTest, PlaceholderMacsAreLocalUnicastAndStable) {
  for (const char* address : {"10.0.0.1", "224.0.0.1", "fe80::ff:fe00:1", "::"}) {
    const MacAddress mac = PlaceholderMac(IpAddress::Parse(address));
    EXPECT_EQ(mac.bytes[0], 0x02) << address;
    EXPECT_EQ(mac, PlaceholderMac(IpAddress::Parse(address)));
  }
  EXPECT_NE(PlaceholderMac(IpAddress::Parse("10.0.0.1")),
            PlaceholderMac(IpAddress::Parse("10.0.0.2")));
}

}  // namespace
}  // namespace viaduct::io
