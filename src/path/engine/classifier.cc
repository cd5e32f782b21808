#include "path/engine/classifier.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "base/error.h"

namespace viaduct::engine {
namespace {

using wire::LinkTag;

// Returns the VLAN tag that identifies the attachment's frames on its port.
std::optional<uint16_t> VlanOf(const Attachment& attachment) {
  return attachment.vlan ? attachment.vlan : attachment.channel;
}

LinkTag TagOf(const Attachment& attachment) {
  if (const auto vlan = VlanOf(attachment)) return LinkTag::Vlan(*vlan);
  if (attachment.mpls) return LinkTag::Mpls(*attachment.mpls);
  return {};
}

void Check(const Config& config, const std::string& pair, const Attachment& attachment) {
  if (attachment.port >= config.ports.size()) {
    throw UsageError(fmt::format("pair {}: port {} does not exist", pair, attachment.port));
  }
  const std::string where =
      fmt::format("pair {}, {}: ", pair, FormatAttachment(attachment, config.ports));
  if (attachment.vlan.has_value() + attachment.mpls.has_value() + attachment.channel.has_value() >
      1) {
    throw UsageError(where + "a VLAN and an MPLS label cannot be combined; remove one of them");
  }
  const auto vlan = VlanOf(attachment);
  if (vlan && (*vlan < 1 || *vlan > 4094)) {
    throw UsageError(where + "the VLAN must be from 1 to 4094 (IEEE 802.1Q)");
  }
  if (attachment.mpls && (*attachment.mpls < 16 || *attachment.mpls > 0xfffff)) {
    throw UsageError(where +
                     "the MPLS label must be from 16 to 1048575 (RFC 3032 reserves lower labels)");
  }
}

std::vector<sys::PacketFilter> CompileClasses(const Pair& pair) {
  std::vector<sys::PacketFilter> filters;
  std::set<std::string> names;
  for (const Class& entry : pair.classes) {
    const std::string where = fmt::format("pair {}, class {}: ", pair.name, entry.name);
    if (entry.name.empty()) throw UsageError(where + "the class has no name");
    if (!names.insert(entry.name).second)
      throw UsageError(where + "this name is used for two classes");
    try {
      filters.push_back(sys::PacketFilter::Compile(entry.filter));
    } catch (const UsageError& error) {
      throw UsageError(where + error.what());
    }
    if (filters.back().PassesEverything()) throw UsageError(where + "the class has no filter");
  }
  return filters;
}

}  // namespace

std::string FormatAttachment(const Attachment& attachment, const std::vector<std::string>& ports) {
  std::string text = ports.at(attachment.port);
  if (attachment.vlan) text += fmt::format(":vlan={}", *attachment.vlan);
  if (attachment.mpls) text += fmt::format(":mpls={}", *attachment.mpls);
  if (attachment.channel) text += fmt::format(":channel={}", *attachment.channel);
  return text;
}

Classifier::Classifier(const Config& config) : ports_(config.ports.size()) {
  if (config.pairs.empty())
    throw UsageError("no pair is specified; a path needs at least one pair");
  for (PortTable& table : ports_) table.by_vlan.fill(kNone);
  std::set<std::string> names;
  for (uint32_t i = 0; i < config.pairs.size(); ++i) {
    const Pair& pair = config.pairs[i];
    if (!names.insert(pair.name).second) {
      throw UsageError(fmt::format("there are two pairs named {}", pair.name));
    }
    Check(config, pair.name, pair.a);
    Check(config, pair.name, pair.b);
    AddEnd(config, i, Direction::kUp);
    AddEnd(config, i, Direction::kDown);
    filters_.push_back(CompileClasses(pair));
  }
}

void Classifier::AddEnd(const Config& config, uint32_t pair, Direction direction) {
  const Pair& entry = config.pairs[pair];
  const Attachment& near = direction == Direction::kUp ? entry.a : entry.b;
  const Attachment& far = direction == Direction::kUp ? entry.b : entry.a;
  PortTable& table = ports_[near.port];
  const auto vlan = VlanOf(near);
  int32_t& place = vlan        ? table.by_vlan[*vlan]
                   : near.mpls ? table.by_label.try_emplace(*near.mpls, kNone).first->second
                               : table.untagged;
  if (place != kNone) {
    const std::string& other = config.pairs[ends_[place].pair].name;
    if (ends_[place].pair == pair) {
      throw UsageError(fmt::format("{} is both ends of pair {}; use two interfaces, or two VLANs",
                                   FormatAttachment(near, config.ports), other));
    }
    throw UsageError(fmt::format(
        "{} is an end of both pair {} and pair {}, but a frame can belong to only one pair; use "
        "another VLAN",
        FormatAttachment(near, config.ports), other, entry.name));
  }
  place = static_cast<int32_t>(ends_.size());
  ends_.push_back({pair, direction, far.port, TagOf(far)});
}

int32_t Classifier::Find(size_t port, const LinkTag& tag) const {
  const PortTable& table = ports_[port];
  if (tag.kind == LinkTag::Kind::kVlan) return table.by_vlan[tag.Id()];
  if (tag.kind == LinkTag::Kind::kNone) return kNone;
  const auto found = table.by_label.find(tag.Id());
  return found == table.by_label.end() ? kNone : found->second;
}

std::optional<Classifier::Match> Classifier::Classify(size_t port, wire::Bytes& frame) const {
  const LinkTag tag = wire::OuterTag(frame);
  const int32_t tagged = Find(port, tag);
  const int32_t place = tagged != kNone ? tagged : ports_[port].untagged;
  if (place == kNone) return std::nullopt;
  const End& end = ends_[place];
  Match match{end.pair, 0, end.direction, end.out, end.far_tag};
  if (tagged != kNone) {
    const auto untagged = wire::PopTag(frame);
    if (!untagged) return std::nullopt;
    frame = *untagged;
    match.tag = tag.Renamed(end.far_tag);
  }
  if (!wire::CanCarry(frame, match.tag)) return std::nullopt;
  const auto& filters = filters_[end.pair];
  for (uint32_t i = 0; i < filters.size() && match.class_index == 0; ++i) {
    if (filters[i].Matches(frame)) match.class_index = i + 1;
  }
  return match;
}

}  // namespace viaduct::engine
