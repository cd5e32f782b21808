#include "path/engine/classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/wire/test/packet_builder.h"

namespace viaduct::engine {
namespace {

using namespace wire::packet;
using testing::HasSubstr;
using wire::LinkTag;

Attachment On(size_t port) { return {port, std::nullopt, std::nullopt}; }
Attachment OnVlan(size_t port, uint16_t vlan) { return {port, vlan, std::nullopt}; }
Attachment OnLabel(size_t port, uint32_t label) { return {port, std::nullopt, label}; }

Config With(std::vector<Pair> pairs) {
  Config config;
  config.ports = {"east", "west"};
  config.pairs = std::move(pairs);
  return config;
}

Pair Between(std::string name, Attachment a, Attachment b, std::vector<Class> classes = {}) {
  return {std::move(name), a, b, {}, {}, std::move(classes)};
}

struct Outcome {
  std::optional<Classifier::Match> match;
  std::string untagged;
};
Outcome Classify(const Classifier& classifier, size_t port, const Packet& packet) {
  auto bytes = Build(packet);
  wire::Bytes frame(bytes);
  Outcome outcome;
  outcome.match = classifier.Classify(port, frame);
  outcome.untagged = Describe(frame);
  return outcome;
}

const Packet kPlain = Ethernet{} / Ipv4{} / Udp{1024, 53} / Payload{"data"};
Packet Tagged(uint16_t vlan, uint8_t priority = 0) {
  return Ethernet{} / Vlan{.id = vlan, .priority = priority} / Ipv4{} / Udp{1024, 53} /
         Payload{"data"};
}

TEST(ClassifierTest, TwoInterfacesBothWays) {
  const Classifier classifier(With({Between("p", On(0), On(1))}));
  const Outcome up = Classify(classifier, 0, kPlain);
  ASSERT_TRUE(up.match);
  EXPECT_EQ(up.match->direction, Direction::kUp);
  EXPECT_EQ(up.match->out, 1u);
  EXPECT_EQ(up.match->class_index, 0u);
  const Outcome down = Classify(classifier, 1, Tagged(7));
  ASSERT_TRUE(down.match) << "tags are the user's own between whole interfaces";
  EXPECT_EQ(down.match->direction, Direction::kDown);
  EXPECT_EQ(down.match->out, 0u);
  EXPECT_EQ(down.match->tag, LinkTag());
  EXPECT_EQ(down.untagged, Describe(Build(Tagged(7))));
}

TEST(ClassifierTest, VlansOfOneInterface) {
  const Classifier classifier(With(
      {Between("p", OnVlan(0, 10), OnVlan(0, 20)), Between("q", OnVlan(0, 30), OnVlan(1, 30))}));
  const Outcome p = Classify(classifier, 0, Tagged(20, 5));
  ASSERT_TRUE(p.match);
  EXPECT_EQ(p.match->pair, 0u);
  EXPECT_EQ(p.match->direction, Direction::kDown);
  EXPECT_EQ(p.untagged, Describe(Build(kPlain)));
  EXPECT_EQ(p.match->tag.Id(), 10u);
  EXPECT_EQ(p.match->tag.word >> 13, 5u) << "the priority goes with it";
  const Outcome q = Classify(classifier, 1, Tagged(30));
  ASSERT_TRUE(q.match);
  EXPECT_EQ(q.match->pair, 1u);
  EXPECT_EQ(q.match->out, 0u);
  EXPECT_FALSE(Classify(classifier, 0, Tagged(40)).match);
  EXPECT_FALSE(Classify(classifier, 1, Tagged(10)).match);
  EXPECT_FALSE(Classify(classifier, 0, kPlain).match);
}

TEST(ClassifierTest, LabelsAndUntaggedBesideThem) {
  const Classifier classifier(
      With({Between("labelled", OnLabel(0, 100), OnVlan(1, 20)), Between("rest", On(0), On(1))}));
  const Outcome labelled =
      Classify(classifier, 0, Ethernet{} / Mpls{100, 9} / Ipv4{} / Udp{1024, 53} / Payload{"data"});
  ASSERT_TRUE(labelled.match);
  EXPECT_EQ(labelled.match->pair, 0u);
  EXPECT_EQ(labelled.match->tag, LinkTag::Vlan(20));
  EXPECT_EQ(labelled.untagged, Describe(Build(kPlain)));
  EXPECT_EQ(Classify(classifier, 0, kPlain).match->pair, 1u);
  EXPECT_EQ(Classify(classifier, 0, Ethernet{} / Mpls{200} / Ipv4{} / Udp{}).match->pair, 1u);
  EXPECT_TRUE(Classify(classifier, 1, Tagged(20)).match);
  EXPECT_FALSE(Classify(classifier, 1, Ethernet{} / Vlan{.id = 20} / Arp{}).match)
      << "a label cannot cover ARP";
}

TEST(ClassifierTest, FirstClassThatMatchesTheUntaggedFrame) {
  const Classifier classifier(With(
      {Between("p", OnVlan(0, 10), OnVlan(1, 10),
               {{"arp", "arp", {}, {}}, {"dns", "udp port 53", {}, {}}, {"ip", "ip", {}, {}}})}));
  EXPECT_EQ(Classify(classifier, 0, Tagged(10)).match->class_index, 2u);
  EXPECT_EQ(Classify(classifier, 1, Tagged(10)).match->class_index, 2u);
  EXPECT_EQ(
      Classify(classifier, 0, Ethernet{} / Vlan{.id = 10} / Ipv4{} / Udp{}).match->class_index, 3u);
  EXPECT_EQ(
      Classify(classifier, 0, Ethernet{} / Vlan{.id = 10} / Ipv6{} / Udp{}).match->class_index, 0u);
}

std::string Refusal(const Config& config) {
  try {
    const Classifier classifier(config);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ClassifierTest, ChannelsArePartsOfAPort) {
  const auto on_channel = [](uint16_t channel) {
    return Attachment{0, std::nullopt, std::nullopt, channel};
  };
  const Config config = With({Between("p", on_channel(7), On(1))});
  EXPECT_EQ(FormatAttachment(on_channel(7), config.ports), "east:channel=7");
  const Classifier classifier(config);
  const Outcome up = Classify(classifier, 0, Tagged(7));
  ASSERT_TRUE(up.match);
  EXPECT_EQ(up.match->tag, LinkTag());
  EXPECT_EQ(up.untagged, Describe(Build(kPlain)));
  EXPECT_FALSE(Classify(classifier, 0, Tagged(8)).match);
  const Outcome down = Classify(classifier, 1, kPlain);
  ASSERT_TRUE(down.match);
  EXPECT_EQ(down.match->tag, LinkTag::Vlan(7));
  const Attachment both{0, 7, std::nullopt, 7};
  EXPECT_THROW(Classifier(With({Between("p", both, On(1))})), UsageError);
  EXPECT_THROW(Classifier(With({Between("p", on_channel(0), On(1))})), UsageError);
}

TEST(ClassifierTest, WhatContradictsItselfIsRefused) {
  EXPECT_THAT(Refusal(With({})), HasSubstr("no pair"));
  EXPECT_THAT(Refusal(With({Between("p", On(0), On(2))})), HasSubstr("port 2 does not exist"));
  EXPECT_THAT(Refusal(With({Between("p", OnVlan(0, 4095), On(1))})), HasSubstr("1 to 4094"));
  EXPECT_THAT(Refusal(With({Between("p", OnLabel(0, 15), On(1))})), HasSubstr("16 to 1048575"));
  EXPECT_THAT(Refusal(With({Between("p", On(0), On(1)), Between("p", OnVlan(0, 1), On(1))})),
              HasSubstr("two pairs named p"));
  EXPECT_THAT(
      Refusal(With({Between("p", OnVlan(0, 5), On(1)), Between("q", OnVlan(0, 5), OnVlan(1, 5))})),
      HasSubstr("east:vlan=5 is an end of both pair p and pair q"));
  EXPECT_THAT(Refusal(With({Between("p", OnVlan(0, 5), OnVlan(0, 5))})),
              HasSubstr("is both ends of pair p;"));
  const auto with_class = [](Class entry) {
    return With({Between("p", On(0), On(1), {std::move(entry)})});
  };
  EXPECT_THAT(Refusal(with_class({"c", "udp prot 5", {}, {}})), HasSubstr("pair p, class c"));
  EXPECT_THAT(Refusal(with_class({"c", " ", {}, {}})), HasSubstr("no filter"));
  EXPECT_THAT(Refusal(with_class({"", "ip", {}, {}})), HasSubstr("has no name"));
}

}  // namespace
}  // namespace viaduct::engine
