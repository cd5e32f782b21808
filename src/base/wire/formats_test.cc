// Compares every format with bytes from another implementation (scapy 2.5) or from an RFC.
#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/layers.h"
#include "base/wire/test/packet_builder.h"
#include "base/wire/transport.h"

namespace viaduct::wire {
namespace {

using namespace packet;

constexpr std::string_view kUdp4 =
    "ffffffffffff020000000001080045000021000700000111a4c60a0000010a0000ff02ba02ba000da18e68656c6c"
    "6f";
constexpr std::string_view kVlanTcp6 =
    "0200000000020200000000018100600586dd610000000017060920010db8000000000000000000000001"
    "20010db800000000000000000000000204000050000003e8000007d0501802007dea0000616263";
constexpr std::string_view kIcmp4 =
    "02000000000202000000000108004500002000014000400126da0a0000010a000002080006fa1234000170696e67";
constexpr std::string_view kArp =
    "ffffffffffff020000000001080600010800060400010200000000010a0000010000000000000a000002";
constexpr std::string_view kMplsStack = "020000000002020000000001884700064009000c810878";
constexpr std::string_view kIcmp6 =
    "02000000000202000000000186dd60000000000b3afffe800000000000000000000000000001"
    "ff0200000000000000000000000000018000aecc000100026f6464";

TEST(FormatsTest, BuildsWhatScapyBuilds) {
  EXPECT_EQ(Build(Ethernet{.destination = "ff:ff:ff:ff:ff:ff"} /
                  Ipv4{.destination = "10.0.0.255", .ttl = 1, .id = 7} / Udp{698, 698} /
                  Payload{"hello"}),
            FromHex(kUdp4));
  EXPECT_EQ(
      Build(Ethernet{} / Vlan{.id = 5, .priority = 3} / Ipv6{.hop_limit = 9, .traffic_class = 16} /
            Tcp{.sequence = 1000,
                .acknowledgment = 2000,
                .flags = tcp_flag::kPsh | tcp_flag::kAck,
                .window = 512} /
            Payload{"abc"}),
      FromHex(kVlanTcp6));
  EXPECT_EQ(Build(Ethernet{} / Ipv4{.id = 1, .dont_fragment = true} / Icmp{.rest = 0x12340001} /
                  Payload{"ping"}),
            FromHex(kIcmp4));
  EXPECT_EQ(Build(Ethernet{.destination = "ff:ff:ff:ff:ff:ff"} / Arp{}), FromHex(kArp));
  EXPECT_EQ(Build(Ethernet{} / Mpls{100, 9} / Mpls{200, 8} / Payload{"x"}), FromHex(kMplsStack));
  EXPECT_EQ(
      Build(Ethernet{} / Ipv6{.source = "fe80::1", .destination = "ff02::1", .hop_limit = 255} /
            Icmpv6{.rest = 0x00010002} / Payload{"odd"}),
      FromHex(kIcmp6));
}

TEST(FormatsTest, DescribesWhatScapyBuilds) {
  EXPECT_EQ(Describe(FromHex(kUdp4)),
            "eth 02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff / ipv4 10.0.0.1 > 10.0.0.255 ttl 1 id 7 / "
            "udp 698 > 698 checksum good / 5 bytes");
  EXPECT_EQ(Describe(FromHex(kVlanTcp6)),
            "eth 02:00:00:00:00:01 > 02:00:00:00:00:02 / vlan 5 / ipv6 2001:db8::1 > 2001:db8::2 "
            "hops 9 class 16 / tcp 1024 > 80 PA seq 1000 checksum good / 3 bytes");
  EXPECT_EQ(Describe(FromHex(kArp)),
            "eth 02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff / arp who-has 10.0.0.2 tell 10.0.0.1 / 0 "
            "bytes");
  EXPECT_EQ(Describe(FromHex(kMplsStack)),
            "eth 02:00:00:00:00:01 > 02:00:00:00:00:02 / mpls 100 ttl 9 / mpls 200 ttl 8 / 1 "
            "bytes");
  EXPECT_EQ(Describe(FromHex(kIcmp6)),
            "eth 02:00:00:00:00:01 > 02:00:00:00:00:02 / ipv6 fe80::1 > ff02::1 hops 255 / icmpv6 "
            "128/0 checksum good / 3 bytes");
}

TEST(FormatsTest, DescribesWrongChecksums) {
  auto frame = FromHex(kIcmp4);
  frame.back() ^= std::byte{1};
  frame[22] ^= std::byte{1};
  EXPECT_EQ(Describe(frame),
            "eth 02:00:00:00:00:01 > 02:00:00:00:00:02 / ipv4 10.0.0.1 > 10.0.0.2 ttl 65 id 1 DF "
            "checksum bad / icmp 8/0 checksum bad / 4 bytes");
}

// Expects that Parse() and then Write() reproduce the bytes, and that Parse() refuses every shorter
// prefix of them.
template <class Header>
void ExpectRoundTrip(const std::vector<std::byte>& bytes, size_t offset) {
  const ConstBytes here = ConstBytes(bytes).subspan(offset, Header::kSize);
  const auto header = Header::Parse(here);
  ASSERT_TRUE(header);
  std::vector<std::byte> written(Header::kSize, std::byte{0xaa});
  EXPECT_EQ(header->Write(written), Header::kSize);
  EXPECT_EQ(written, std::vector<std::byte>(here.begin(), here.end()));
  EXPECT_EQ(Header::Parse(written), header);
  for (size_t size = 0; size < Header::kSize; ++size) {
    EXPECT_FALSE(Header::Parse(here.first(size))) << size;
  }
}

TEST(FormatsTest, HeadersRoundTripAndRefuseShortBytes) {
  ExpectRoundTrip<EthernetHeader>(FromHex(kUdp4), 0);
  ExpectRoundTrip<Ipv4Header>(FromHex(kUdp4), 14);
  ExpectRoundTrip<UdpHeader>(FromHex(kUdp4), 34);
  ExpectRoundTrip<VlanTag>(FromHex(kVlanTcp6), 14);
  ExpectRoundTrip<Ipv6Header>(FromHex(kVlanTcp6), 18);
  ExpectRoundTrip<TcpHeader>(FromHex(kVlanTcp6), 58);
  ExpectRoundTrip<IcmpHeader>(FromHex(kIcmp4), 34);
  ExpectRoundTrip<ArpPacket>(FromHex(kArp), 14);
  ExpectRoundTrip<MplsLabel>(FromHex(kMplsStack), 14);
  ExpectRoundTrip<MplsLabel>(FromHex(kMplsStack), 18);
}

TEST(FormatsTest, RefusesHeadersThatContradictThemselves) {
  auto ip = FromHex("45000014000000004011 0000 0a000001 0a000002");
  ASSERT_TRUE(Ipv4Header::Parse(ip));
  ip[0] = std::byte{0x65};  // an IPv4 header with version 6
  EXPECT_FALSE(Ipv4Header::Parse(ip));
  ip[0] = std::byte{0x44};  // a header length of 16 bytes
  EXPECT_FALSE(Ipv4Header::Parse(ip));
  ip[0] = std::byte{0x46};  // a header length of 24 bytes, with only 20 bytes present
  EXPECT_FALSE(Ipv4Header::Parse(ip));
  ip[0] = std::byte{0x45};
  ip[3] = std::byte{19};  // a total length that is shorter than the header
  EXPECT_FALSE(Ipv4Header::Parse(ip));

  auto tcp = FromHex("0400 0050 00000000 00000000 5010 ffff 0000 0000");
  ASSERT_TRUE(TcpHeader::Parse(tcp));
  tcp[12] = std::byte{0x40};
  EXPECT_FALSE(TcpHeader::Parse(tcp));
  tcp[12] = std::byte{0x60};
  EXPECT_FALSE(TcpHeader::Parse(tcp));

  auto arp = FromHex(kArp);
  arp[18] = std::byte{8};  // hardware addresses of eight bytes
  EXPECT_FALSE(ArpPacket::Parse(ConstBytes(arp).subspan(14)));
}

TEST(FormatsTest, MulticastMacs) {
  // RFC 1112 copies the low 23 bits of the group into the MAC address; RFC 2464 the low 32 bits.
  EXPECT_EQ(MulticastMac(IpAddress::Parse("224.0.0.9")).ToString(), "01:00:5e:00:00:09");
  EXPECT_EQ(MulticastMac(IpAddress::Parse("239.129.2.3")).ToString(), "01:00:5e:01:02:03");
  EXPECT_EQ(MulticastMac(IpAddress::Parse("ff02::1:ff00:1")).ToString(), "33:33:ff:00:00:01");
}

TEST(LayersTest, FindsThemPastVlanTags) {
  const auto layers = FindIpLayers(FromHex(kVlanTcp6));
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->family, Family::kIpv6);
  EXPECT_EQ(layers->network, 18u);
  EXPECT_EQ(layers->transport, 58u);
  EXPECT_EQ(layers->end, 81u);
  EXPECT_EQ(layers->protocol, ip_protocol::kTcp);
  EXPECT_FALSE(layers->fragment);
  EXPECT_EQ(layers->Source(FromHex(kVlanTcp6)).ToString(), "2001:db8::1");
  EXPECT_EQ(layers->Destination(FromHex(kVlanTcp6)).ToString(), "2001:db8::2");
}

TEST(LayersTest, LeavesPaddingOut) {
  auto frame = FromHex(kUdp4);
  frame.resize(60);
  EXPECT_EQ(FindIpLayers(frame)->end, 47u);
}

TEST(LayersTest, WalksExtensionHeaders) {
  // The extension headers: hop-by-hop options (8 bytes), then destination options (16 bytes), with
  // UDP next.
  const auto extensions = FromHex("3c00050200000000 1101 0000000000000000000000000000");
  Payload payload;
  for (std::byte b : extensions) payload.bytes += static_cast<char>(b);
  payload.bytes += std::string(8, '\0');
  const auto frame = Build(Ethernet{} / Ipv6{.next_header = ip_protocol::kHopByHop} / payload);
  // Sets the next header by hand: in the builder, 0 stands for "the type of the next layer".
  auto by_hand = frame;
  by_hand[20] = std::byte{ip_protocol::kHopByHop};
  const auto layers = FindIpLayers(by_hand);
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->protocol, ip_protocol::kUdp);
  EXPECT_EQ(layers->transport, 14u + 40 + 24);
  EXPECT_TRUE(layers->extension_headers);
  by_hand[14 + 40 + 9] = std::byte{0xff};  // an extension header that is longer than the packet
  EXPECT_FALSE(FindIpLayers(by_hand));
}

TEST(LayersTest, MarksFragments) {
  EXPECT_TRUE(FindIpLayers(Build(Ethernet{} / Ipv4{.more_fragments = true} / Udp{}))->fragment);
  EXPECT_TRUE(FindIpLayers(Build(Ethernet{} / Ipv4{.fragment_offset = 3} / Udp{}))->fragment);
  const auto frame = Build(Ethernet{} / Ipv6{.next_header = ip_protocol::kFragment} /
                           Payload{std::string("\x11\0\0\1\0\0\0\1", 8) + "12345678"});
  const auto layers = FindIpLayers(frame);
  ASSERT_TRUE(layers);
  EXPECT_TRUE(layers->fragment);
  EXPECT_EQ(layers->protocol, ip_protocol::kUdp);
}

TEST(LayersTest, RefusesWhatIsNotThere) {
  const auto frame = FromHex(kVlanTcp6);
  for (size_t size = 0; size < frame.size(); ++size) {
    EXPECT_FALSE(FindIpLayers(ConstBytes(frame).first(size))) << size;
  }
  EXPECT_FALSE(FindIpLayers(FromHex(kArp)));
  EXPECT_FALSE(FindIpLayersInPacket({}));
}

TEST(PacketBuilderTest, RefusesBadHex) {
  EXPECT_THROW(FromHex("0"), UsageError);
  EXPECT_THROW(FromHex("0g"), UsageError);
}

}  // namespace
}  // namespace viaduct::wire
