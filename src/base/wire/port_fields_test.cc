#include "base/wire/port_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/checksum.h"
#include "base/wire/layers.h"
#include "base/wire/test/packet_builder.h"

namespace viaduct::wire {
namespace {

using namespace packet;
using testing::HasSubstr;
using testing::Not;

TEST(PortFieldsTest, PortsChangeBehindARightChecksum) {
  for (const auto& sent :
       {Ethernet{} / Ipv4{} / Udp{.source = 5000, .destination = 80} / Payload{"hello"},
        Ethernet{} / Vlan{.id = 7} / Ipv6{} / Tcp{.source = 5000, .destination = 80}}) {
    auto frame = Build(sent);
    const auto fields = FindPorts(frame);
    ASSERT_TRUE(fields);
    EXPECT_EQ(fields->SourcePort(frame), 5000);
    SetSourcePort(frame, *fields, 61234);
    SetDestinationPort(frame, *fields, 8080);
    EXPECT_THAT(Describe(frame), HasSubstr("61234 > 8080"));
    EXPECT_THAT(Describe(frame), HasSubstr("checksum good"));
    EXPECT_THAT(Describe(frame), Not(HasSubstr("checksum bad")));
  }
}

// In UDP a checksum of 0 means that there is no checksum, and a computed checksum of 0 is sent as
// 0xffff (RFC 768).
TEST(PortFieldsTest, AUdpPacketWithoutChecksumGetsNone) {
  auto frame = Build(Ethernet{} / Ipv4{} / Udp{.source = 5000} / Payload{"hello"});
  const auto fields = FindPorts(frame);
  Store16(frame.data() + *fields->checksum, 0);
  SetSourcePort(frame, *fields, 5001);
  EXPECT_EQ(Load16(frame.data() + *fields->checksum), 0);
  for (uint32_t port = 0; port <= 0xffff; ++port) {
    auto each = Build(Ethernet{} / Ipv4{} / Udp{.source = 5000} / Payload{"hello"});
    SetSourcePort(each, *fields, static_cast<uint16_t>(port));
    ASSERT_NE(Load16(each.data() + *fields->checksum), 0) << port;
  }
}

TEST(PortFieldsTest, OnlyTheFirstFragmentHasPorts) {
  EXPECT_TRUE(
      FindPorts(Build(Ethernet{} / Ipv4{.more_fragments = true} / Udp{} / Payload{"hello"})));
  EXPECT_FALSE(FindPorts(Build(
      Ethernet{} / Ipv4{.fragment_offset = 185, .protocol = ip_protocol::kUdp} / Counting(40))));
  for (const uint16_t offset : {0, 1480}) {
    std::string fragment(8, '\0');
    fragment[0] = ip_protocol::kUdp;
    fragment[2] = static_cast<char>(offset >> 8);
    fragment[3] = static_cast<char>(offset & 0xff);
    const auto frame = Build(Ethernet{} / Ipv6{.next_header = ip_protocol::kFragment} /
                             Payload{fragment + "udpudpudpudp"});
    EXPECT_EQ(FindPorts(frame).has_value(), offset == 0) << offset;
  }
}

TEST(PortFieldsTest, OthersHaveNone) {
  EXPECT_FALSE(FindPorts(Build(Ethernet{} / Arp{})));
  EXPECT_FALSE(FindPorts(Build(Ethernet{} / Ipv4{} / Icmp{})));
  const auto whole = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{"hello"});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(FindPorts({whole.data(), size})) << size;
  }
}

// Returns the first bytes of a packet, from its IP header on, as an ICMP error quotes them.
std::string Quoted(const packet::Packet& packet, size_t bytes) {
  const auto frame = Build(packet);
  const auto* const at = reinterpret_cast<const char*>(frame.data());
  return std::string(at + EthernetHeader::kSize,
                     std::min(bytes, frame.size() - EthernetHeader::kSize));
}

TEST(PortFieldsTest, QuotedPortsChangeBehindRightChecksums) {
  const auto four = Ethernet{} / Ipv4{} / Udp{.source = 5000, .destination = 80} / Payload{"hello"};
  const auto six = Ethernet{} / Ipv6{} / Udp{.source = 5000, .destination = 80} / Payload{"hello"};
  // Quotes 28 bytes (IPv4) and 48 bytes (IPv6): the IP header and the eight bytes after it, which
  // every ICMP error quotes.
  for (const auto& sent :
       {Ethernet{} / Ipv4{} / Icmp{.type = 3, .code = 3} / Payload{Quoted(four, 28)},
        Ethernet{} / Ipv4{} / Icmp{.type = 11} / Payload{Quoted(four, 999)},
        Ethernet{} / Ipv6{} / Icmpv6{.type = 1, .code = 4} / Payload{Quoted(six, 48)}}) {
    auto frame = Build(sent);
    EXPECT_FALSE(FindPorts(frame));
    const auto fields = FindQuotedPorts(frame);
    ASSERT_TRUE(fields) << Describe(frame);
    EXPECT_EQ(fields->SourcePort(frame), 5000);
    EXPECT_EQ(fields->DestinationPort(frame), 80);
    SetSourcePort(frame, *fields, 61234);
    EXPECT_EQ(FindQuotedPorts(frame)->SourcePort(frame), 61234);
    EXPECT_THAT(Describe(frame), HasSubstr("checksum good"));
    EXPECT_THAT(Describe(frame), Not(HasSubstr("checksum bad")));
    // The checksum of the quoted packet matches its new port: it equals the checksum of a packet
    // that was sent from this port.
    const auto asked =
        fields->destination.family == Family::kIpv4
            ? Ethernet{} / Ipv4{} / Udp{.source = 61234, .destination = 80} / Payload{"hello"}
            : Ethernet{} / Ipv6{} / Udp{.source = 61234, .destination = 80} / Payload{"hello"};
    const auto original = Build(asked);
    EXPECT_EQ(Load16(frame.data() + *fields->checksum),
              Load16(original.data() + *FindPorts(original)->checksum));
  }
}

// Quotes the first fragment of an IPv6 packet, with its Fragment header.
TEST(PortFieldsTest, QuotedPortsAreFoundBehindExtensionHeaders) {
  const auto udp =
      Build(Ethernet{} / Ipv6{} / Udp{.source = 5000, .destination = 80} / Payload{"hello"});
  const std::string transport(
      reinterpret_cast<const char*>(udp.data()) + EthernetHeader::kSize + Ipv6Header::kSize, 8);
  const std::string later{ip_protocol::kUdp, 0, 5, '\xc9', 0, 0, 0, 7};
  const std::string first{ip_protocol::kUdp, 0, 0, 1, 0, 0, 0, 7};
  const std::string options{char{ip_protocol::kFragment}, 0, 1, 4, 0, 0, 0, 0};
  const auto error = [&](uint8_t next, const std::string& headers) {
    const auto quoted = Ethernet{} / Ipv6{.next_header = next} / Payload{headers + transport};
    return Build(Ethernet{} / Ipv6{} / Icmpv6{.type = 2} / Payload{Quoted(quoted, 999)});
  };
  for (auto frame : {error(ip_protocol::kFragment, first),
                     error(ip_protocol::kDestinationOptions, options + first)}) {
    const auto fields = FindQuotedPorts(frame);
    ASSERT_TRUE(fields) << Describe(frame);
    EXPECT_EQ(fields->SourcePort(frame), 5000);
    EXPECT_EQ(fields->DestinationPort(frame), 80);
    SetSourcePort(frame, *fields, 61234);
    EXPECT_THAT(Describe(frame), HasSubstr("checksum good"));
    EXPECT_THAT(Describe(frame), Not(HasSubstr("checksum bad")));
  }
  EXPECT_FALSE(FindQuotedPorts(error(ip_protocol::kFragment, later)));
  EXPECT_FALSE(FindQuotedPorts(error(ip_protocol::kDestinationOptions, options.substr(0, 4))));
}

TEST(PortFieldsTest, OnlyErrorsQuote) {
  const auto asked = Ethernet{} / Ipv4{} / Udp{} / Payload{"hello"};
  const std::string quoted = Quoted(asked, 28);
  EXPECT_FALSE(FindQuotedPorts(Build(Ethernet{} / Ipv4{} / Icmp{.type = 8} / Payload{quoted})));
  EXPECT_FALSE(FindQuotedPorts(Build(asked)));
  const auto whole = Build(Ethernet{} / Ipv4{} / Icmp{.type = 3} / Payload{quoted});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(FindQuotedPorts({whole.data(), size})) << size;
  }
  // A quoted packet may be cut off before its ports.
  EXPECT_FALSE(FindQuotedPorts(
      Build(Ethernet{} / Ipv4{} / Icmp{.type = 3} / Payload{quoted.substr(0, 23)})));
}

}  // namespace
}  // namespace viaduct::wire
