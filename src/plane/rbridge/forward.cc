#include "plane/rbridge/forward.h"

#include <algorithm>
#include <bitset>
#include <cstring>

#include "base/wire/ethernet.h"

namespace viaduct::rbridge {
namespace {

using wire::ConstBytes, wire::EthernetHeader, wire::MacAddress, wire::VlanTag;
using Ports = std::bitset<kMaxPorts>;

constexpr size_t kAddresses = 12;  // bytes of the addresses in an Ethernet header

bool IsSource(const MacAddress& mac) { return !mac.IsMulticast() && mac != MacAddress{}; }

// A terminal's frame, native (not encapsulated) or inside an encapsulated frame.
struct TerminalFrame {
  EthernetHeader header;
  VlanTag tag;         // the default VLAN if the frame has no tag
  uint16_t strip = 0;  // bytes up to the end of the tag or, without a tag, of the addresses
  bool tagged = false;

  TerminalKey DestinationKey() const { return MakeKey(header.destination, tag.id); }
  TerminalKey SourceKey() const { return MakeKey(header.source, tag.id); }
};

// Parses the terminal's frame at `offset` of `frame`. Returns nothing if the bytes are malformed.
std::optional<TerminalFrame> ParseTerminalFrame(ConstBytes frame, size_t offset) {
  const auto header = EthernetHeader::Parse(frame.subspan(std::min(offset, frame.size())));
  if (!header || !IsSource(header->source)) return std::nullopt;
  TerminalFrame result{.header = *header,
                       .tag = {.id = kDefaultVlan},
                       .strip = static_cast<uint16_t>(offset + kAddresses)};
  if (header->type != wire::ether_type::kVlan) return result;
  const auto tag = VlanTag::Parse(frame.subspan(offset + EthernetHeader::kSize));
  if (!tag || tag->id == 0xfff) return std::nullopt;
  result.tag = *tag;
  if (tag->id == 0) result.tag.id = kDefaultVlan;  // a priority tag
  result.tagged = true;
  // The EtherType behind the tag remains in the frame, so only the tag is stripped.
  result.strip = static_cast<uint16_t>(result.strip + VlanTag::kSize);
  return result;
}

class Forwarder {
 public:
  Forwarder(const Tables& tables, PortIndex port, ConstBytes frame, Decision& decision)
      : tables_(tables), port_(port), frame_(frame), decision_(decision) {}

  Outcome Run() {
    if (port_ >= kMaxPorts || !tables_.ports[port_].exists) return Outcome::kNotServed;
    const auto outer = EthernetHeader::Parse(frame_);
    if (!outer || !IsSource(outer->source)) return Outcome::kMalformed;
    if (outer->type == kIsIsType && outer->destination == kAllIsIsRBridges) {
      return Outcome::kControl;
    }
    if (outer->type == kTrillType) return Transit(*outer);
    return Ingress(*outer);
  }

 private:
  // ------------------------------------------------------------ frames that arrive from terminals

  Outcome Ingress(const EthernetHeader& outer) {
    if (IsLinkLocal(outer.destination)) return Outcome::kLinkLocal;
    if (!tables_.ports[port_].serves_terminals) return Outcome::kNotServed;
    if (outer.destination == tables_.ports[port_].mac) return Outcome::kNotForUs;
    const auto frame = ParseTerminalFrame(frame_, 0);
    if (!frame) return Outcome::kMalformed;
    if (!IsUsable(tables_.nickname)) return Outcome::kNoRoute;
    See(*frame, {.rbridge = 0, .port = port_});
    const auto* known = Lookup(*frame);
    if (!known) return Flood(*frame);
    if (known->location.rbridge == 0) return ToLocal(*frame, known->location.port);
    return Encapsulate(*frame, known->location.rbridge);
  }

  const TerminalTable::Entry* Lookup(const TerminalFrame& frame) const {
    if (frame.header.destination.IsMulticast()) return nullptr;
    return tables_.terminals.Find(frame.DestinationKey());
  }

  Outcome ToLocal(const TerminalFrame& frame, PortIndex port) {
    if (port == port_) return Outcome::kNoReceiver;
    if (port >= kMaxPorts || !tables_.ports[port].serves_terminals) return Outcome::kNoRoute;
    SendNative(frame, port);
    return Outcome::kForwarded;
  }

  Outcome Encapsulate(const TerminalFrame& frame, RBridgeIndex to) {
    if (to >= kMaxRBridges) return Outcome::kNoRoute;
    const RBridgeEntry& entry = tables_.rbridges[to];
    const Adjacency* next = AdjacencyAt(entry.next_hop);
    if (!next) return Outcome::kNoRoute;
    SendEncapsulated(
        frame, *next, next->mac,
        {.hop_count = tables_.hop_count, .egress = entry.nickname, .ingress = tables_.nickname});
    return Outcome::kForwarded;
  }

  // Sends a terminal's frame along the distribution tree, and to the terminals on other ports.
  Outcome Flood(const TerminalFrame& frame) {
    SendToTerminals(frame, port_);
    if (tables_.own_tree < kMaxTrees) {
      const Tree& tree = tables_.trees[tables_.own_tree];
      const TrillHeader header{.multi_destination = true,
                               .hop_count = tables_.hop_count,
                               .egress = tree.root,
                               .ingress = tables_.nickname};
      ForEachTreePort(tree, kNone, [&](const Adjacency& neighbour) {
        SendEncapsulated(frame, neighbour, kAllRBridges, header);
      });
    }
    return decision_.count > 0 ? Outcome::kForwarded : Outcome::kNoReceiver;
  }

  // ------------------------------------------------------------ encapsulated frames

  Outcome Transit(const EthernetHeader& outer) {
    const bool to_all = outer.destination == kAllRBridges;
    if (!to_all && outer.destination != tables_.ports[port_].mac) return Outcome::kNotForUs;
    const auto header = TrillHeader::Parse(frame_.subspan(EthernetHeader::kSize));
    if (!header || header->multi_destination != to_all) return Outcome::kMalformed;
    const AdjacencyIndex sender = tables_.FindAdjacency(port_, outer.source);
    if (sender == kNone) return Outcome::kNoAdjacency;
    if (header->hop_count == 0) return Outcome::kHopCount;
    const RBridgeIndex ingress = tables_.by_nickname[header->ingress];
    // A frame whose ingress is this RBridge itself has passed through a loop.
    if (ingress >= kMaxRBridges || ingress == 0) return Outcome::kNoRoute;
    const size_t inner = EthernetHeader::kSize + TrillHeader::kSize + size_t{4} * header->options;
    if (frame_.size() < inner) return Outcome::kMalformed;
    if (HasCriticalOption(*header, 0x80)) return Outcome::kOption;  // CHbH: critical hop by hop
    return to_all ? FromTree(*header, ingress, sender, inner) : Unicast(*header, ingress, inner);
  }

  // Returns whether the header's options include a critical option: the first two bits of the
  // options summarise them (RFC 6325 section 3.8.1).
  bool HasCriticalOption(const TrillHeader& header, uint8_t which) const {
    constexpr size_t kOptions = EthernetHeader::kSize + TrillHeader::kSize;
    return header.options > 0 && (wire::Load8(&frame_[kOptions]) & which) != 0;
  }

  Outcome Unicast(const TrillHeader& header, RBridgeIndex ingress, size_t inner) {
    const RBridgeIndex egress = tables_.by_nickname[header.egress];
    if (egress == 0) return Egress(header, ingress, inner);
    if (egress >= kMaxRBridges) return Outcome::kNoRoute;
    const Adjacency* next = AdjacencyAt(tables_.rbridges[egress].next_hop);
    if (!next) return Outcome::kNoRoute;
    Relay(header, *next, next->mac);
    return Outcome::kForwarded;
  }

  // Sends the inner frame to its terminal on this RBridge's links.
  Outcome Egress(const TrillHeader& header, RBridgeIndex ingress, size_t inner) {
    if (HasCriticalOption(header, 0xc0)) return Outcome::kOption;  // CItE: critical for the egress
    const auto frame = ParseInner(inner);
    if (!frame || frame->header.destination.IsMulticast()) return Outcome::kMalformed;
    See(*frame, {.rbridge = ingress, .port = kNone});
    SendToReceivers(*frame);
    return decision_.count > 0 ? Outcome::kForwarded : Outcome::kNoReceiver;
  }

  Outcome FromTree(const TrillHeader& header, RBridgeIndex ingress, AdjacencyIndex sender,
                   size_t inner) {
    const auto tree = std::ranges::find(tables_.trees, header.egress, &Tree::root);
    if (tree == tables_.trees.end() || !IsUsable(header.egress)) return Outcome::kNoRoute;
    const size_t number = static_cast<size_t>(tree - tables_.trees.begin());
    if (tables_.rbridges[ingress].tree_neighbour[number] != sender) return Outcome::kWrongPath;
    const auto frame = ParseInner(inner);
    if (!frame) return Outcome::kMalformed;
    ForEachTreePort(*tree, sender,
                    [&](const Adjacency& neighbour) { Relay(header, neighbour, kAllRBridges); });
    if (!HasCriticalOption(header, 0xc0)) {
      See(*frame, {.rbridge = ingress, .port = kNone});
      SendToReceivers(*frame);
    }
    return decision_.count > 0 ? Outcome::kForwarded : Outcome::kNoReceiver;
  }

  // Parses the terminal's frame inside an encapsulated frame, which always has a tag (RFC 6325
  // section 4.1.1).
  std::optional<TerminalFrame> ParseInner(size_t offset) const {
    auto frame = ParseTerminalFrame(frame_, offset);
    if (!frame || !frame->tagged || IsLinkLocal(frame->header.destination)) return std::nullopt;
    return frame;
  }

  // Sends a frame to the port of its terminal if the port is known, otherwise to all terminals of
  // this RBridge.
  void SendToReceivers(const TerminalFrame& frame) {
    const auto* known = Lookup(frame);
    const bool is_local = known && known->location.rbridge == 0 &&
                          known->location.port < kMaxPorts &&
                          tables_.ports[known->location.port].serves_terminals;
    if (is_local) {
      SendNative(frame, known->location.port);
    } else {
      SendToTerminals(frame, kNone);
    }
  }

  // ------------------------------------------------------------ sending

  const Adjacency* AdjacencyAt(AdjacencyIndex index) const {
    if (index >= kMaxAdjacencies || tables_.adjacencies[index].port >= kMaxPorts) return nullptr;
    return &tables_.adjacencies[index];
  }

  // Calls `send` once for each port that has neighbours in the tree, except the neighbour `but`.
  template <class F>
  void ForEachTreePort(const Tree& tree, AdjacencyIndex but, F send) {
    Ports done;
    for (AdjacencyIndex i = 0; i < kMaxAdjacencies; ++i) {
      const Adjacency* neighbour = AdjacencyAt(i);
      if (i == but || !tree.neighbours[i] || !neighbour || done[neighbour->port]) continue;
      done.set(neighbour->port);
      send(*neighbour);
    }
  }

  void SendToTerminals(const TerminalFrame& frame, PortIndex but) {
    for (PortIndex i = 0; i < kMaxPorts; ++i) {
      if (i != but && tables_.ports[i].exists && tables_.ports[i].serves_terminals) {
        SendNative(frame, i);
      }
    }
  }

  Output& Add(PortIndex port, uint16_t strip) {
    Output& output = decision_.outputs[decision_.count++];
    output.port = port;
    output.strip = strip;
    output.head_size = 0;
    return output;
  }

  static wire::Bytes Room(Output& output) {
    return wire::Bytes(output.head_bytes).subspan(output.head_size);
  }

  static void PutAddresses(Output& output, const MacAddress& destination,
                           const MacAddress& source) {
    std::memcpy(Room(output).data(), destination.bytes.data(), 6);
    std::memcpy(Room(output).data() + 6, source.bytes.data(), 6);
    output.head_size += kAddresses;
  }

  static void PutTag(Output& output, const VlanTag& tag) {
    wire::Store16(Room(output).data(), wire::ether_type::kVlan);
    const int tci = tag.priority << 13 | (tag.drop_eligible ? 0x1000 : 0) | tag.id;
    wire::Store16(Room(output).data() + 2, static_cast<uint16_t>(tci));
    output.head_size += VlanTag::kSize;
  }

  void PutTrill(Output& output, const Adjacency& next, const MacAddress& destination,
                const TrillHeader& header) {
    const EthernetHeader ethernet{destination, tables_.ports[next.port].mac, kTrillType};
    output.head_size += static_cast<uint8_t>(ethernet.Write(Room(output)));
    output.head_size += static_cast<uint8_t>(header.Write(Room(output)));
  }

  // Sends a frame to a terminal's port; a frame of the default VLAN gets no tag.
  void SendNative(const TerminalFrame& frame, PortIndex port) {
    Output& output = Add(port, frame.strip);
    PutAddresses(output, frame.header.destination, frame.header.source);
    if (frame.tag.id != kDefaultVlan) PutTag(output, frame.tag);
  }

  void SendEncapsulated(const TerminalFrame& frame, const Adjacency& next,
                        const MacAddress& destination, const TrillHeader& header) {
    Output& output = Add(next.port, frame.strip);
    PutTrill(output, next, destination, header);
    PutAddresses(output, frame.header.destination, frame.header.source);
    PutTag(output, frame.tag);
  }

  void Relay(TrillHeader header, const Adjacency& next, const MacAddress& destination) {
    Output& output = Add(next.port, EthernetHeader::kSize + TrillHeader::kSize);
    --header.hop_count;
    PutTrill(output, next, destination, header);
  }

  void See(const TerminalFrame& frame, const Location& location) {
    const TerminalKey key = frame.SourceKey();
    const auto* known = tables_.terminals.Find(key);
    if (known && known->location == location && known->epoch == tables_.epoch) return;
    decision_.seen = Seen{key, location};
  }

  const Tables& tables_;
  const PortIndex port_;
  const ConstBytes frame_;
  Decision& decision_;
};

}  // namespace

std::string_view OutcomeName(Outcome outcome) {
  return kOutcomeNames[static_cast<size_t>(outcome)];
}

void Forward(const Tables& tables, PortIndex port, ConstBytes frame, Decision& decision) {
  decision.count = 0;
  decision.seen.reset();
  decision.outcome = Forwarder(tables, port, frame, decision).Run();
}

}  // namespace viaduct::rbridge
