#include "plane/rbridge/lsp_content.h"

#include <algorithm>
#include <map>

#include "plane/rbridge/tlv.h"

namespace viaduct::rbridge {
namespace {

// The types of the sub-TLVs of a Router Capability TLV (RFC 7176 section 2.3).
constexpr uint8_t kNickname = 6, kTrees = 7;

constexpr size_t kLspHeader = 27;
constexpr size_t kMaxFragments = 256;
constexpr size_t kReachableInItem = 255 / 11;
constexpr size_t kTerminalsInItem = (255 - 5) / 6;
constexpr uint8_t kConfidence = 0x20;  // RFC 6325 section 4.8.1: the confidence of data frames

// TLVs: each element includes its type and length.
using Items = std::vector<Octets>;

void Add(Items& items, uint8_t type, const Writer& value) {
  items.push_back(Writer().Item(type, value).Release());
}

Writer Capability(const SystemId& self, const LspContent& content) {
  Writer out;
  // The last bytes of the system identifier are the router ID: an RBridge need not have an IPv4
  // address.
  out.Append(std::as_bytes(std::span(self.bytes)).last(4)).Number(0, 1);
  if (content.claim) {
    const LspContent::Claim& claim = *content.claim;
    out.Item(kNickname, Writer()
                            .Number(claim.priority, 1)
                            .Number(claim.root_priority, 2)
                            .Number(claim.nickname, 2));
  }
  out.Item(kTrees,
           Writer().Number(content.trees, 2).Number(content.max_trees, 2).Number(content.trees, 2));
  return out;
}

void AddNeighbours(const LspContent& content, Items& items) {
  for (size_t i = 0; i < content.neighbours.size(); i += kReachableInItem) {
    Writer out;
    for (size_t k = i; k < std::min(content.neighbours.size(), i + kReachableInItem); ++k) {
      const LspContent::Neighbour& one = content.neighbours[k];
      out.Put(one.system).Number(0, 1).Number(one.metric, 3).Number(0, 1);
    }
    Add(items, tlv::kExtendedReachability, out);
  }
}

void AddTerminals(const LspContent& content, Items& items) {
  std::map<uint16_t, std::vector<wire::MacAddress>> by_vlan;
  for (const TerminalKey key : content.terminals) by_vlan[VlanOf(key)].push_back(MacOf(key));
  for (const auto& [vlan, macs] : by_vlan) {
    for (size_t i = 0; i < macs.size(); i += kTerminalsInItem) {
      Writer out;
      out.Number(0, 2).Number(kConfidence, 1).Number(vlan, 2);
      for (size_t k = i; k < std::min(macs.size(), i + kTerminalsInItem); ++k) out.Put(macs[k]);
      Add(items, tlv::kMacReachability, out);
    }
  }
}

void ReadCapability(Reader& value, LspContent& content) {
  value.Take(5);  // router ID and flags
  if (!value.ok()) return;
  ForEachItem(value, [&](uint8_t type, Reader& item) {
    if (type == kNickname && item.size() >= 5) {
      LspContent::Claim claim;
      claim.priority = item.Number8();
      claim.root_priority = item.Number16();
      claim.nickname = item.Number16();
      if (!content.claim && IsUsable(claim.nickname)) content.claim = claim;
    } else if (type == kTrees) {
      content.trees = item.Number16();
      content.max_trees = item.Number16();
    }
  });
}

void ReadNeighbours(Reader& value, LspContent& content) {
  while (value.ok() && !value.empty()) {
    LspContent::Neighbour neighbour;
    neighbour.system = value.Get<SystemId>();
    const uint8_t pseudonode = value.Number8();
    neighbour.metric = value.Number(3);
    value.Take(value.Number8());  // the sub-TLVs
    if (value.ok() && pseudonode == 0) content.neighbours.push_back(neighbour);
  }
}

void ReadTerminals(Reader& value, LspContent& content) {
  value.Take(3);  // topology and confidence
  const uint16_t vlan = value.Number16() & 0xfff;
  while (value.ok() && !value.empty()) {
    const auto mac = value.Get<wire::MacAddress>();
    if (value.ok() && !mac.IsMulticast() && mac != wire::MacAddress{}) {
      content.terminals.push_back(MakeKey(mac, vlan));
    }
  }
}

}  // namespace

std::vector<Octets> WriteFragments(const SystemId& self, const LspContent& content) {
  Items items;
  Add(items, tlv::kAreaAddresses, Writer().Number(0x0100, 2));
  Add(items, tlv::kProtocols, Writer().Number(tlv::kTrillNlpid, 1));
  Add(items, tlv::kRouterCapability, Capability(self, content));
  AddNeighbours(content, items);
  AddTerminals(content, items);
  std::vector<Octets> fragments(1);
  for (const Octets& item : items) {
    if (kLspHeader + fragments.back().size() + item.size() > kMaxPdu) {
      if (fragments.size() == kMaxFragments) break;
      fragments.emplace_back();
    }
    fragments.back().insert(fragments.back().end(), item.begin(), item.end());
  }
  return fragments;
}

bool ReadFragment(std::span<const std::byte> tlvs, LspContent& content) {
  LspContent read = content;
  const bool sound = ForEachItem(Reader(tlvs), [&](uint8_t type, Reader& value) {
    if (type == tlv::kRouterCapability) ReadCapability(value, read);
    if (type == tlv::kExtendedReachability) ReadNeighbours(value, read);
    if (type == tlv::kMacReachability) ReadTerminals(value, read);
  });
  if (sound) content = std::move(read);
  return sound;
}

}  // namespace viaduct::rbridge
