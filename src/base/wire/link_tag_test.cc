#include "base/wire/link_tag.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/wire/test/packet_builder.h"

namespace viaduct::wire {
namespace {

using namespace packet;

// A frame with free bytes in memory before it, for a tag.
class Slot {
 public:
  explicit Slot(const Packet& packet) : memory_(8) {
    const auto bytes = Build(packet);
    memory_.insert(memory_.end(), bytes.begin(), bytes.end());
  }
  Bytes frame() { return Bytes(memory_).subspan(8); }

 private:
  std::vector<std::byte> memory_;
};

std::string Popped(const Packet& packet) {
  Slot slot(packet);
  const auto frame = PopTag(slot.frame());
  return frame ? Describe(*frame) : "refused";
}

std::string Pushed(const Packet& packet, const LinkTag& tag) {
  Slot slot(packet);
  const auto frame = PushTag(slot.frame(), tag);
  return frame ? Describe(*frame) : "refused";
}

const Packet kPlain = Ethernet{} / Ipv4{} / Udp{} / Payload{"data"};
const Packet kPlain6 = Ethernet{} / Ipv6{} / Udp{} / Payload{"data"};

std::string Plain() { return Describe(Build(kPlain)); }

TEST(LinkTagTest, ReadsTheOutermostTag) {
  const LinkTag vlan = OuterTag(Build(Ethernet{} / Vlan{.id = 10, .priority = 3} / Ipv4{} / Udp{}));
  EXPECT_EQ(vlan.kind, LinkTag::Kind::kVlan);
  EXPECT_EQ(vlan.Id(), 10u);
  const LinkTag mpls = OuterTag(Build(Ethernet{} / Mpls{100, 9} / Mpls{200, 8} / Ipv4{} / Udp{}));
  EXPECT_EQ(mpls.kind, LinkTag::Kind::kMpls);
  EXPECT_EQ(mpls.Id(), 100u);
  EXPECT_EQ(OuterTag(Build(kPlain)).kind, LinkTag::Kind::kNone);
  EXPECT_EQ(OuterTag(ConstBytes(Build(Ethernet{} / Vlan{.id = 1})).first(17)).kind,
            LinkTag::Kind::kNone);
}

TEST(LinkTagTest, TakesOffVlanTagsOneByOne) {
  EXPECT_EQ(Popped(Ethernet{} / Vlan{.id = 10, .priority = 3} / Ipv4{} / Udp{} / Payload{"data"}),
            Plain());
  EXPECT_EQ(Popped(Ethernet{} / Vlan{.id = 7, .tag_type = ether_type::kServiceVlan} /
                   Vlan{.id = 10} / Ipv4{} / Udp{} / Payload{"data"}),
            Describe(Build(Ethernet{} / Vlan{.id = 10} / Ipv4{} / Udp{} / Payload{"data"})));
  EXPECT_EQ(Popped(kPlain), "refused");
}

TEST(LinkTagTest, TellsWhatTheLastLabelCovers) {
  EXPECT_EQ(Popped(Ethernet{} / Mpls{100} / Ipv4{} / Udp{} / Payload{"data"}), Plain());
  EXPECT_EQ(Popped(Ethernet{} / Mpls{100} / Ipv6{} / Udp{} / Payload{"data"}),
            Describe(Build(kPlain6)));
  EXPECT_EQ(Popped(Ethernet{} / Mpls{100} / Mpls{200, 8} / Ipv4{} / Udp{}),
            Describe(Build(Ethernet{} / Mpls{200, 8} / Ipv4{} / Udp{})));
  EXPECT_EQ(Popped(Ethernet{} / Mpls{100} / Payload{"x"}), "refused");
  EXPECT_EQ(Popped(Ethernet{} / Mpls{100}), "refused");
}

TEST(LinkTagTest, PutsOnWhatItIsTold) {
  EXPECT_EQ(Pushed(kPlain, LinkTag::Vlan(20)),
            Describe(Build(Ethernet{} / Vlan{.id = 20} / Ipv4{} / Udp{} / Payload{"data"})));
  EXPECT_EQ(Pushed(kPlain, LinkTag::Mpls(300)),
            Describe(Build(Ethernet{} / Mpls{300} / Ipv4{} / Udp{} / Payload{"data"})));
  EXPECT_EQ(Pushed(Ethernet{} / Mpls{100} / Ipv4{} / Udp{}, LinkTag::Mpls(300)),
            Describe(Build(Ethernet{} / Mpls{300} / Mpls{100} / Ipv4{} / Udp{})));
  EXPECT_EQ(Pushed(kPlain, {}), Plain());
  EXPECT_EQ(Pushed(Ethernet{} / Arp{}, LinkTag::Mpls(300)), "refused");
}

TEST(LinkTagTest, KeepsPriorityAndTtlWhenOnlyTheNameChanges) {
  Slot vlan(Ethernet{} / Vlan{.id = 10, .priority = 5} / Ipv4{} / Udp{});
  const LinkTag was = OuterTag(vlan.frame());
  const auto untagged = PopTag(vlan.frame());
  ASSERT_TRUE(untagged);
  const auto tagged = PushTag(*untagged, was.Renamed(LinkTag::Vlan(20)));
  ASSERT_TRUE(tagged);
  EXPECT_EQ(Describe(*tagged),
            Describe(Build(Ethernet{} / Vlan{.id = 20, .priority = 5} / Ipv4{} / Udp{})));

  Slot mpls(Ethernet{} / Mpls{100, 9} / Ipv4{} / Udp{});
  const LinkTag label = OuterTag(mpls.frame()).Renamed(LinkTag::Mpls(200));
  EXPECT_EQ(Describe(*PushTag(*PopTag(mpls.frame()), label)),
            Describe(Build(Ethernet{} / Mpls{200, 9} / Ipv4{} / Udp{})));
  EXPECT_EQ(was.Renamed(LinkTag::Mpls(7)), LinkTag::Mpls(7));
  EXPECT_EQ(was.Renamed({}), LinkTag());
}

}  // namespace
}  // namespace viaduct::wire
