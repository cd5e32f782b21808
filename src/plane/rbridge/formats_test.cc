// Tests of the formats, byte by byte as in the figures of RFC 6325, RFC 7176 and ISO 10589, and of
// hostile bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/test/packet_builder.h"
#include "plane/rbridge/isis.h"
#include "plane/rbridge/lsp_content.h"
#include "plane/rbridge/trill.h"

namespace viaduct::rbridge {
namespace {

using testing::ElementsAre;
using wire::packet::FromHex;

constexpr SystemId kFirst{{2, 0, 0, 0, 0, 1}}, kSecond{{2, 0, 0, 0, 0, 2}};

TEST(TrillHeaderTest, IsThatOfRfc6325Figure5) {
  // The bytes of a TRILL header: V=0 R=0 M=1 Op-Length=2 Hop=63; then the egress and the ingress
  // nickname.
  const auto bytes = FromHex("08bf 0102 0304");
  const TrillHeader header{.multi_destination = true,
                           .options = 2,
                           .hop_count = 63,
                           .egress = 0x0102,
                           .ingress = 0x0304};
  EXPECT_EQ(TrillHeader::Parse(bytes), header);
  Octets written(TrillHeader::kSize);
  EXPECT_EQ(header.Write(written), TrillHeader::kSize);
  EXPECT_EQ(written, bytes);
  EXPECT_EQ(TrillHeader::Parse(FromHex("0001 0102 0304"))->multi_destination, false);
}

TEST(TrillHeaderTest, RefusesOtherVersionsAndShortBytes) {
  EXPECT_FALSE(TrillHeader::Parse(FromHex("40bf 0102 0304")));
  EXPECT_FALSE(TrillHeader::Parse(FromHex("00bf 0102 03")));
  EXPECT_FALSE(TrillHeader::Parse({}));
}

TEST(NicknameTest, SomeAreReserved) {
  EXPECT_FALSE(IsUsable(0));
  EXPECT_TRUE(IsUsable(1));
  EXPECT_TRUE(IsUsable(0xffbf));
  EXPECT_FALSE(IsUsable(0xffc0));
  EXPECT_FALSE(IsUsable(0xffff));
}

TEST(AddressTest, LinkLocalOnes) {
  EXPECT_TRUE(IsLinkLocal(wire::MacAddress::Parse("01:80:c2:00:00:00")));
  EXPECT_TRUE(IsLinkLocal(wire::MacAddress::Parse("01:80:c2:00:00:0e")));
  EXPECT_FALSE(IsLinkLocal(wire::MacAddress::Parse("01:80:c2:00:00:21")));
  EXPECT_TRUE(IsLinkLocal(kAllRBridges));
  EXPECT_TRUE(IsLinkLocal(kAllIsIsRBridges));
  EXPECT_FALSE(IsLinkLocal(wire::MacAddress::Parse("ff:ff:ff:ff:ff:ff")));
}

Hello SomeHello() {
  return {.source = kFirst,
          .holding_time = 30,
          .priority = 64,
          .designated = kSecond,
          .port = 3,
          .nickname = 0xabcd,
          .forwards_natively = true,
          .heard = {wire::MacAddress::Parse("02:00:00:00:00:22")}};
}

const std::string_view kHello =
    "83 1b 01 00 0f 01 00 01"               // common header: level 1 LAN Hello
    "01 020000000001 001e 003c 40"          // circuit type, source, holding time, length, priority
    "020000000002 01"                       // LAN ID: the designated RBridge
    "01 02 01 00"                           // Area Addresses: {0}
    "81 01 c0"                              // Protocols Supported: TRILL
    "8f 0c 0000 01 08 0003 abcd 9001 0001"  // MT-Port-Cap: Special VLANs and Flags
    "91 0a c0 00 0000 020000000022";        // TRILL Neighbor: flags smallest and largest

TEST(HelloTest, IsThatOfRfc7176) {
  EXPECT_EQ(SomeHello().Write(), FromHex(kHello));
  EXPECT_EQ(Hello::Parse(FromHex(kHello)), SomeHello());
  Octets padded = FromHex(kHello);
  padded.resize(100);
  EXPECT_EQ(Hello::Parse(padded), SomeHello()) << "Ethernet pads short frames";
}

TEST(HelloTest, ManyNeighboursNeedSeveralItems) {
  Hello hello = SomeHello();
  hello.heard.clear();
  EXPECT_EQ(Hello::Parse(hello.Write()), hello);
  for (uint8_t i = 0; i < 100; ++i) hello.heard.push_back({{2, 0, 0, 0, 1, i}});
  EXPECT_EQ(Hello::Parse(hello.Write()), hello);
}

TEST(HelloTest, RefusesOtherAreas) {
  Octets other = FromHex(kHello);
  other[30] = std::byte{1};
  EXPECT_FALSE(Hello::Parse(other));
}

TEST(LspTest, IsThatOfIso10589) {
  Lsp lsp{.lifetime = 1200, .id = {kFirst, 0, 2}, .sequence = 7, .tlvs = FromHex("81 01 c0")};
  lsp.Seal();
  const Octets written = lsp.Write();
  Octets expected =
      FromHex("83 1b 01 00 12 01 00 01 001e 04b0 020000000001 00 02 00000007 0000 01 81 01 c0");
  expected[24] = static_cast<std::byte>(lsp.checksum >> 8);
  expected[25] = static_cast<std::byte>(lsp.checksum);
  EXPECT_EQ(written, expected);
  EXPECT_EQ(Lsp::Parse(written), lsp);
}

// ISO 8473: both Fletcher sums over all bytes, including the bytes of the checksum, are 0 modulo
// 255.
TEST(LspTest, ItsChecksumIsFletchers) {
  for (size_t length = 0; length < 600; length += 37) {
    Lsp lsp{.lifetime = 9, .id = {kSecond, 0, 0}, .sequence = 0xffff, .tlvs = Octets(length)};
    for (size_t i = 0; i < length; ++i) lsp.tlvs[i] = static_cast<std::byte>(i * i + length);
    lsp.Seal();
    const Octets written = lsp.Write();
    int c0 = 0, c1 = 0;
    for (const std::byte byte : wire::ConstBytes(written).subspan(12)) {
      c0 = (c0 + static_cast<int>(byte)) % 255;
      c1 = (c1 + c0) % 255;
    }
    EXPECT_EQ(c0, 0) << length;
    EXPECT_EQ(c1, 0) << length;
  }
}

TEST(LspTest, BitErrorsAreFound) {
  Lsp lsp{.lifetime = 9, .id = {kSecond, 0, 0}, .sequence = 1, .tlvs = FromHex("81 01 c0")};
  lsp.Seal();
  const Octets written = lsp.Write();
  for (size_t i = 12; i < written.size(); ++i) {
    Octets wrong = written;
    wrong[i] ^= std::byte{4};
    EXPECT_FALSE(Lsp::Parse(wrong)) << i;
  }
  Octets older = written;
  older[11] = std::byte{5};
  EXPECT_EQ(Lsp::Parse(older)->lifetime, 5) << "the lifetime may change";
}

TEST(LspTest, FlagsArePassedOn) {
  Lsp lsp{.lifetime = 9, .id = {kSecond, 0, 0}, .sequence = 1, .flags = 0x7d, .tlvs = {}};
  lsp.Seal();
  EXPECT_EQ(Lsp::Parse(lsp.Write()), lsp) << "or its checksum would be wrong";
}

TEST(LspTest, AWithdrawnOneHasNoContent) {
  const Lsp lsp{
      .lifetime = 0, .id = {kSecond, 0, 0}, .sequence = 4, .checksum = 0x1234, .tlvs = {}};
  EXPECT_EQ(Lsp::Parse(lsp.Write()), lsp);
}

TEST(SequenceNumbersTest, AreThoseOfIso10589) {
  const SequenceNumbers partial{.complete = false,
                                .source = kFirst,
                                .first = {},
                                .last = {},
                                .entries = {{1199, {kSecond, 0, 1}, 5, 0xbeef}}};
  EXPECT_EQ(partial.Write(), FromHex("83 11 01 00 1a 01 00 01 0023 020000000001 00"
                                     "09 10 04af 020000000002 00 01 00000005 beef"));
  EXPECT_EQ(SequenceNumbers::Parse(partial.Write()), partial);
  SequenceNumbers complete = partial;
  complete.complete = true;
  complete.last = {kSecond, 0xff, 0xff};
  EXPECT_EQ(complete.Write(), FromHex("83 21 01 00 18 01 00 01 0033 020000000001 00"
                                      "000000000000 00 00 020000000002 ff ff"
                                      "09 10 04af 020000000002 00 01 00000005 beef"));
  EXPECT_EQ(SequenceNumbers::Parse(complete.Write()), complete);
}

TEST(SequenceNumbersTest, TheMostEntriesFit) {
  SequenceNumbers numbers{
      .complete = true, .source = kFirst, .first = {}, .last = {}, .entries = {}};
  numbers.entries.resize(SequenceNumbers::kMaxEntries);
  EXPECT_LE(numbers.Write().size(), kMaxPdu);
  EXPECT_EQ(SequenceNumbers::Parse(numbers.Write()), numbers);
}

template <class Pdu>
void ExpectRefusesPrefixes(const Pdu& pdu) {
  const Octets written = pdu.Write();
  for (size_t size = 0; size < written.size(); ++size) {
    EXPECT_FALSE(Pdu::Parse(wire::ConstBytes(written).first(size))) << size;
  }
}

TEST(PduTest, TruncatedOnesAreRefused) {
  ExpectRefusesPrefixes(SomeHello());
  Lsp lsp{.lifetime = 9, .id = {kSecond, 0, 0}, .sequence = 1, .tlvs = FromHex("81 01 c0")};
  lsp.Seal();
  ExpectRefusesPrefixes(lsp);
  ExpectRefusesPrefixes(SequenceNumbers{
      .complete = false, .source = kFirst, .first = {}, .last = {}, .entries = {{1, {}, 1, 1}}});
}

TEST(PduTest, LyingLengthsAreRefused) {
  Octets hello = FromHex(kHello);
  hello[18] = std::byte{0xff};
  EXPECT_FALSE(Hello::Parse(hello)) << "longer than the frame";
  hello = FromHex(kHello);
  hello[18] = std::byte{26};
  EXPECT_FALSE(Hello::Parse(hello)) << "shorter than its header";
  hello = FromHex(kHello);
  hello[28] = std::byte{0xf0};
  EXPECT_FALSE(Hello::Parse(hello)) << "an item beyond the end";
  hello = FromHex(kHello);
  hello[0] = std::byte{0x82};
  EXPECT_FALSE(Hello::Parse(hello)) << "not IS-IS";
  hello = FromHex(kHello);
  hello[4] = std::byte{16};
  EXPECT_FALSE(Hello::Parse(hello)) << "a level 2 Hello";
}

LspContent SomeContent() {
  LspContent content;
  content.claim = {.nickname = 0x1234, .priority = 0xc0, .root_priority = 0x8000};
  content.trees = 2;
  content.max_trees = 4;
  content.neighbours = {{kSecond, 20000}};
  content.terminals = {MakeKey(wire::MacAddress::Parse("02:00:00:00:0a:01"), 1)};
  return content;
}

TEST(LspContentTest, IsThatOfRfc7176) {
  const Octets expected = FromHex(
      "01 02 01 00"                        // Area Addresses
      "81 01 c0"                           // Protocols Supported
      "f2 14 00000001 00"                  // Router Capability
      "06 05 c0 8000 1234"                 //   Nickname
      "07 06 0002 0004 0002"               //   Trees
      "16 0b 020000000002 00 004e20 00"    // Extended IS Reachability
      "93 0b 0000 20 0001 020000000a01");  // MAC-Reachability
  EXPECT_THAT(WriteFragments(kFirst, SomeContent()), ElementsAre(expected));
  LspContent read;
  EXPECT_TRUE(ReadFragment(expected, read));
  EXPECT_EQ(read, SomeContent());
}

TEST(LspContentTest, ManyTerminalsNeedSeveralFragments) {
  LspContent content = SomeContent();
  content.neighbours.clear();
  content.terminals.clear();
  for (int i = 0; i < 300; ++i) {
    content.neighbours.push_back(
        {{{4, 0, 0, 0, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)}}, 1});
  }
  for (int i = 0; i < 3000; ++i) {
    content.terminals.push_back(
        MakeKey({{2, 0, 0, 0, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)}}, 5));
  }
  const auto fragments = WriteFragments(kFirst, content);
  EXPECT_GT(fragments.size(), 10u);
  LspContent read;
  for (const Octets& fragment : fragments) {
    EXPECT_LE(fragment.size() + 27, kMaxPdu);
    EXPECT_TRUE(ReadFragment(fragment, read));
  }
  EXPECT_EQ(read, content);
}

TEST(LspContentTest, ATruncatedFragmentAddsNothing) {
  const Octets whole = WriteFragments(kFirst, SomeContent()).front();
  for (size_t size = whole.size() - 12; size < whole.size(); ++size) {
    LspContent read;
    EXPECT_FALSE(ReadFragment(wire::ConstBytes(whole).first(size), read) &&
                 size != whole.size() - 13)
        << size;
    EXPECT_EQ(read, LspContent{}) << size;
  }
}

TEST(LspContentTest, UnusableClaimsAreSkipped) {
  LspContent content = SomeContent();
  content.claim->nickname = 0xffc1;
  content.terminals = {MakeKey(wire::MacAddress::Parse("ff:ff:ff:ff:ff:ff"), 1), MakeKey({}, 1)};
  LspContent read;
  EXPECT_TRUE(ReadFragment(WriteFragments(kFirst, content).front(), read));
  EXPECT_FALSE(read.claim);
  EXPECT_TRUE(read.terminals.empty());
}

}  // namespace
}  // namespace viaduct::rbridge
