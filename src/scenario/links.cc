#include "scenario/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "base/text/edit_distance.h"
#include "scenario/binding.h"
#include "scenario/loopbacks.h"
#include "scenario/subnets.h"
#include "sys/network/filter.h"

namespace viaduct::scenario {
namespace {

constexpr const char* kShapes[] = {"pair", "line",   "ring", "grid",
                                   "star", "shared", "wifi", "interface"};

class LinkReader {
 public:
  LinkReader(const std::vector<NodeSettings>& nodes, lab::Emulator emulator,
             const FrameNodes* bridged)
      : settings_(nodes), nodes_("node", Names(nodes)), emulator_(emulator), bridged_(bridged) {}

  void Read(const Section& entry) {
    const std::string shape = ShapeOf(entry);
    const size_t first = links_.size();
    if (shape == "wifi") {
      ReadWifi(entry);
    } else if (IsOne(shape)) {
      ReadOne(entry, shape);
    } else if (shape == "grid") {
      ReadGrid(entry.Inner("grid"));
    } else if (shape == "star") {
      ReadStar(entry.Inner("star"));
    } else {
      ReadLine(entry, shape);
    }
    LinkSettings common;
    ReadCommon(entry, common);
    for (size_t i = first; i < links_.size(); ++i) {
      links_[i].spec = common.spec;
      links_[i].up = common.up;
      links_[i].down = common.down;
      links_[i].classes = common.classes;
      links_[i].mtu = common.mtu;
      links_[i].emulator = common.emulator;
      places_.push_back(&entry.value());
    }
  }

  std::vector<LinkSettings> Finish(const Section& file) {
    NameLinks();
    AssignAddresses(file);
    return std::move(links_);
  }

 private:
  static std::vector<std::string> Names(const std::vector<NodeSettings>& nodes) {
    std::vector<std::string> names;
    names.reserve(nodes.size());
    for (const NodeSettings& node : nodes) names.push_back(node.name);
    return names;
  }

  static std::string ShapeOf(const Section& entry) {
    std::string found;
    for (const char* shape : kShapes) {
      if (!entry.Has(shape)) continue;
      if (!found.empty())
        entry.Fail(shape,
                   fmt::format("this entry already has the key {}; make a separate entry for each",
                               found));
      found = shape;
    }
    if (found.empty()) {
      Fail(entry.value(), fmt::format("{} needs one of {}", entry.shown(),
                                      fmt::join(std::begin(kShapes), std::end(kShapes), ", ")));
    }
    for (const char* key : {"name", "addresses"}) {
      if (!IsOne(found) && entry.Has(key)) {
        entry.Fail(
            key,
            fmt::format("supported only for pair, shared, wifi and interface, not for {}", found));
      }
    }
    if (found != "interface" && entry.Has("node")) {
      entry.Fail("node", fmt::format("supported only with the key interface, not with {}", found));
    }
    return found;
  }

  // Returns whether an entry of `links` with the shape `shape` defines exactly one link.
  static bool IsOne(const std::string& shape) {
    return shape == "pair" || shape == "shared" || shape == "wifi" || shape == "interface";
  }

  // Returns the nodes that the value of `key` lists. `hosts`: whether the value `all` includes the
  // hosts.
  std::vector<std::string> Nodes(const Section& section, const char* key, bool hosts) const {
    const Value* value = section.Find(key);
    std::vector<std::string> list;
    if (!value || value->IsScalar()) {
      for (const NodeSettings& node : settings_) {
        if (hosts || !node.host) list.push_back(node.name);
      }
      return list;
    }
    std::set<std::string> seen;
    for (const std::string& name : section.Texts(key)) {
      section.Located(key, [&] { return nodes_.Check(name); });
      if (!seen.insert(name).second) section.Fail(key, fmt::format("'{}' is given twice", name));
      list.push_back(name);
    }
    return list;
  }

  void Add(std::vector<std::string> nodes, lab::Link::Kind kind = lab::Link::Kind::kPair) {
    LinkSettings link;
    link.kind = kind;
    link.nodes = std::move(nodes);
    links_.push_back(std::move(link));
  }

  // Returns the node into which an interface is moved. Refuses keys that only apply to links
  // between nodes.
  std::vector<std::string> NodeOfInterface(const Section& entry) const {
    entry.Need({"node", "addresses"});
    for (const char* key : {"spec", "up", "down", "classes", "emulator"}) {
      if (entry.Has(key))
        entry.Fail(
            key, "not supported for an interface, whose link is outside the lab; remove this key");
    }
    const std::string name = entry.Text("interface");
    if (name.size() > 15 || name.find_first_of("/ ") != std::string::npos) {
      entry.Fail("interface", fmt::format("'{}' is not a valid interface name", name));
    }
    return {entry.Located("node", [&] { return nodes_.Check(entry.Text("node")); })};
  }

  void ReadOne(const Section& entry, const std::string& shape) {
    std::vector<std::string> nodes =
        shape == "interface" ? NodeOfInterface(entry) : Nodes(entry, shape.c_str(), true);
    if (shape == "pair" && nodes.size() != 2) {
      entry.Fail("pair",
                 fmt::format("{} nodes are listed; a pair needs exactly two", nodes.size()));
    }
    if (shape == "shared" && nodes.size() < 2)
      entry.Fail("shared", "at least two nodes are needed");
    if (shape == "shared" && (entry.Has("up") || entry.Has("down"))) {
      entry.Fail(entry.Has("up") ? "up" : "down",
                 "a shared link has no directions; use the key spec");
    }
    Add(std::move(nodes), shape == "pair" ? lab::Link::Kind::kPair : lab::Link::Kind::kBridge);
    if (shape == "interface") links_.back().interface = entry.Text("interface");
    ReadNameAndAddresses(entry);
  }

  void ReadWifi(const Section& entry) {
    for (const char* key : {"spec", "up", "down", "classes", "emulator"}) {
      if (entry.Has(key))
        entry.Fail(key,
                   "not supported for Wi-Fi, where ns-3's channel determines delay, loss and rate; "
                   "remove this key");
    }
    if (bridged_) {
      entry.Fail("wifi", fmt::format("not supported, because {} needs links that carry any "
                                     "Ethernet frame; use another kind of link",
                                     bridged_->one));
    }
    const Section section = entry.Inner("wifi");
    Add(Nodes(section, "nodes", true), lab::Link::Kind::kBridge);
    LinkSettings& link = links_.back();
    if (link.nodes.size() < 2) section.Fail("nodes", "at least two nodes are needed");
    ReadMembers(section, link.wifi);
    link.wifi.nodes = link.nodes;
    const std::string& access_point = link.wifi.access_point;
    if (!access_point.empty() && std::ranges::find(link.nodes, access_point) == link.nodes.end()) {
      section.Fail("access_point",
                   fmt::format("'{}' is not one of the channel's nodes", access_point));
    }
    ReadNameAndAddresses(entry);
  }

  void ReadNameAndAddresses(const Section& entry) {
    if (entry.Has("name")) {
      links_.back().name = entry.Text("name");
      if (!names_.insert(links_.back().name).second) {
        entry.Fail("name", fmt::format("two links have the name '{}'", links_.back().name));
      }
    }
    ReadAddresses(entry, links_.back());
  }

  void ReadLine(const Section& entry, const std::string& shape) {
    const std::vector<std::string> nodes = Nodes(entry, shape.c_str(), false);
    const size_t least = shape == "ring" ? 3 : 2;
    if (nodes.size() < least) entry.Fail(shape, fmt::format("at least {} nodes are needed", least));
    for (size_t i = 0; i + 1 < nodes.size(); ++i) Add({nodes[i], nodes[i + 1]});
    if (shape == "ring") Add({nodes.back(), nodes.front()});
  }

  void ReadGrid(const Section& grid) {
    grid.Need({"columns", "rows"});
    const int64_t columns = grid.Integer("columns", 1, 1000);
    const int64_t rows = grid.Integer("rows", 1, 1000);
    const std::vector<std::string> nodes = Nodes(grid, "nodes", false);
    if (static_cast<int64_t>(nodes.size()) != columns * rows || nodes.size() < 2) {
      grid.Fail("columns", fmt::format("{} columns x {} rows do not match {} nodes; columns x rows "
                                       "must equal the number of nodes, at least 2",
                                       columns, rows, nodes.size()));
    }
    for (int64_t i = 0; i < columns * rows; ++i) {
      if (i % columns + 1 < columns) Add({nodes[i], nodes[i + 1]});
      if (i + columns < columns * rows) Add({nodes[i], nodes[i + columns]});
    }
  }

  void ReadStar(const Section& star) {
    star.Need({"center"});
    const std::string center = star.Text("center");
    star.Located("center", [&] { return nodes_.Check(center); });
    const Value* leaves = star.Find("leaves");
    size_t count = 0;
    for (const std::string& leaf : Nodes(star, "leaves", true)) {
      if (leaf == center && leaves && leaves->IsList()) {
        star.Fail("leaves", fmt::format("'{}' is the center and cannot be a leaf", leaf));
      }
      if (leaf == center) continue;
      Add({center, leaf});
      ++count;
    }
    if (count == 0) star.Fail("leaves", "there is no node except the center");
  }

  void ReadCommon(const Section& entry, LinkSettings& link) const {
    ReadMembers(entry, link);
    constexpr int kMaxOverWifi = 2296;  // 2304 (IEEE 802.11, 9.2.3) less LLC's and SNAP's headers
    if (entry.Has("wifi") && link.mtu > kMaxOverWifi) {
      entry.Fail("mtu", fmt::format("the maximum over Wi-Fi is {}", kMaxOverWifi));
    }
    if (entry.Has("spec") && link.up && link.down) {
      entry.Fail("spec", "no effect, because both up and down are set; remove the key spec");
    }
    entry.Each("classes", [&](const Section& each) {
      link.classes.push_back(ReadClass(each, link.classes, entry.Has("shared")));
    });
    CheckNat(entry, link);
    link.emulator = entry.Has("emulator") ? entry.Choice<lab::Emulator>("emulator") : emulator_;
    const int most = LinkSettings::kMaxMtu - (bridged_ ? bridged_->overhead : 0);
    if (bridged_ && link.mtu > most) {
      entry.Fail(
          "mtu",
          fmt::format(
              "{} is more than the maximum of {}, because {} makes frames up to {} bytes longer",
              link.mtu, most, bridged_->one, bridged_->overhead));
    }
  }

  // Checks that at most one end of a pair is behind a NAT, and that the NAT applies to a direction
  // and not to a class.
  static void CheckNat(const Section& entry, const LinkSettings& link) {
    for (const LinkClass& each : link.classes) {
      if (!each.spec.nat && !(each.up && each.up->nat) && !(each.down && each.down->nat)) continue;
      entry.Fail("classes", fmt::format("'{}': nat applies to all packets of a direction, not to a "
                                        "class; set nat in the link's up or down",
                                        each.name));
    }
    const bool up = link.up.value_or(link.spec).nat.has_value();
    const bool down = link.down.value_or(link.spec).nat.has_value();
    const char* const key = link.up || link.down ? (down ? "down" : "up") : "spec";
    if ((up || down) && entry.Has("shared")) {
      entry.Fail(key,
                 "nat: a shared link has no side that can be behind a NAT; use links of two nodes");
    }
    if (up && down)
      entry.Fail(
          key,
          "nat: only one direction of a link can have NAT; set nat in up or in down, not in both");
  }

  static LinkClass ReadClass(const Section& entry, const std::vector<LinkClass>& before,
                             bool is_shared) {
    entry.Need({"name", "filter"});
    LinkClass read;
    ReadMembers(entry, read);
    read.name = entry.Text("name");
    if (std::ranges::find(before, read.name, &LinkClass::name) != before.end()) {
      entry.Fail("name", fmt::format("two classes have the name '{}'", read.name));
    }
    entry.Located("filter", [&] {
      if (!sys::PacketFilter::Compile(read.filter).PassesEverything()) return;
      throw UsageError(
          "the filter matches all packets; remove the class and use the spec of the link");
    });
    if (is_shared && (read.up || read.down)) {
      entry.Fail(read.up ? "up" : "down", "a shared link has no directions; use the key spec");
    }
    if (entry.Has("spec") && read.up && read.down) {
      entry.Fail("spec", "no effect, because both up and down are set; remove the key spec");
    }
    return read;
  }

  void ReadAddresses(const Section& entry, LinkSettings& link) {
    for (const std::string& text : entry.Texts("addresses")) {
      entry.Located("addresses", [&] { CheckAddress(text, link); });
    }
    const size_t count = link.addresses.size(), nodes = link.nodes.size();
    if (count == 0) return;
    if (count % nodes != 0) {
      entry.Fail("addresses", fmt::format("{} addresses for {} nodes; each node needs one address, "
                                          "or one IPv4 and one IPv6 address",
                                          count, nodes));
    }
    for (size_t i = 0; i < count; ++i) {
      const wire::IpPrefix &address = link.addresses[i], &first = link.addresses[i / nodes * nodes];
      if (bridged_) {
        CheckBridged(entry, link.nodes[i % nodes], address);
        continue;
      }
      if (address.Network() != first.Network()) {
        entry.Fail("addresses", fmt::format("{} and {} are in different subnets", first.ToString(),
                                            address.ToString()));
      }
      for (size_t k = i / nodes * nodes; k < i; ++k) {
        if (link.addresses[k] == address) {
          entry.Fail("addresses", fmt::format("{} is given twice", address.ToString()));
        }
      }
    }
  }

  bool IsHost(const std::string& name) const {
    return std::ranges::find(settings_, name, &NodeSettings::name)->host;
  }

  // Checks an address in a scenario in which nodes forward frames: hosts need an address, and the
  // nodes that carry their frames must not have one.
  void CheckBridged(const Section& entry, const std::string& node, const wire::IpPrefix& address) {
    const bool has = address != kNoAddress;
    if (has != IsHost(node)) {
      entry.Fail("addresses",
                 has ? fmt::format("'{}' is {}, which has no address; write none for this node",
                                   node, bridged_->one)
                     : fmt::format("the host '{}' needs an address, not none", node));
    }
    if (has && std::ranges::find(given_, address) != given_.end()) {
      entry.Fail("addresses", fmt::format("{} is given twice", address.ToString()));
    }
    if (has) given_.push_back(address);
  }

  void CheckAddress(const std::string& text, LinkSettings& link) const {
    if (bridged_ && text == "none") {
      link.addresses.push_back(kNoAddress);
      return;
    }
    if (text.find('/') == std::string::npos) {
      throw UsageError(fmt::format("'{}' needs a prefix length, as in 10.1.0.1/24", text));
    }
    const wire::IpPrefix address = wire::IpPrefix::Parse(text);
    if (address.address.IsMulticast() || address.address.IsUnspecified()) {
      throw UsageError(fmt::format(
          "'{}' cannot be an interface's address, because it is multicast or all zeros", text));
    }
    link.addresses.push_back(address);
  }

  void NameLinks() {
    int segment = 0, channel = 0;
    for (LinkSettings& link : links_) {
      if (!link.name.empty()) continue;
      const bool shared = link.kind == lab::Link::Kind::kBridge && link.interface.empty();
      const std::string base = BaseName(link);
      int& number = IsWifi(link) ? channel : segment;
      std::string name = shared ? base + std::to_string(number++) : base;
      for (int i = 2; !names_.insert(name).second; ++i) {
        name = shared ? base + std::to_string(number++) : fmt::format("{}-{}", base, i);
      }
      link.name = name;
    }
  }

  static std::string BaseName(const LinkSettings& link) {
    if (link.kind == lab::Link::Kind::kPair) return link.nodes[0] + "-" + link.nodes[1];
    if (IsWifi(link)) return "wlan";
    if (link.interface.empty()) return "lan";
    std::string name = link.interface;
    for (char& c : name) {
      if (!IsName(std::string_view(&c, 1), 1) && c != '-' && c != '_') c = '-';
    }
    return IsName(name, 32) ? name : "if" + name;
  }

  void AssignAddresses(const Section& file) {
    const Section addressing = file.Inner("addressing");
    if (!bridged_) CheckOverlaps();
    const std::vector<wire::IpPrefix> loopbacks = LoopbackPrefixes(file);
    std::vector<bool> automatic;
    for (const LinkSettings& link : links_) automatic.push_back(link.addresses.empty());
    for (const char* family : {"ipv4", "ipv6"}) {
      const std::string text = addressing.Text(family);
      if (text == "none") continue;
      const wire::IpPrefix prefix =
          addressing.Located(family, [&] { return PoolPrefix(family, text); });
      SubnetPool pool(prefix);
      for (const wire::IpPrefix& subnet : given_) pool.Reserve(subnet.Network());
      for (const wire::IpPrefix& own : loopbacks) pool.Reserve(own);
      if (bridged_) {
        addressing.Located(family, [&] { AssignToHosts(pool, prefix.address.family, automatic); });
        continue;
      }
      for (size_t i = 0; i < links_.size(); ++i) {
        if (!automatic[i]) continue;
        addressing.Located(family, [&] { Assign(pool, prefix.address.family, links_[i]); });
      }
    }
    for (size_t i = 0; i < links_.size(); ++i) {
      if (links_[i].addresses.empty()) {
        Fail(*places_[i], fmt::format("link '{}' has no addresses, and the key addressing assigns "
                                      "none; set addresses for the link, or a prefix in addressing",
                                      links_[i].name));
      }
    }
  }

  // Assigns addresses of one subnet to all hosts, in the order of the links.
  void AssignToHosts(SubnetPool& pool, wire::Family family, const std::vector<bool>& automatic) {
    uint32_t hosts = 0;
    for (size_t i = 0; i < links_.size(); ++i) {
      if (automatic[i])
        hosts += static_cast<uint32_t>(
            std::ranges::count_if(links_[i].nodes, [&](const auto& node) { return IsHost(node); }));
    }
    const wire::IpPrefix subnet = pool.Take(LengthFor(family, hosts, 24));
    uint32_t number = 0;
    for (size_t i = 0; i < links_.size(); ++i) {
      if (!automatic[i]) continue;
      for (const std::string& node : links_[i].nodes) {
        links_[i].addresses.push_back(IsHost(node) ? HostAddress(subnet, ++number) : kNoAddress);
      }
    }
  }

  // Returns the prefix length of a subnet for this number of nodes. In IPv4 the network address and
  // the broadcast address belong to no node (RFC 919).
  static int LengthFor(wire::Family family, uint32_t nodes, int usual) {
    if (family == wire::Family::kIpv6) return 64;
    return std::min(usual, 32 - static_cast<int>(std::bit_width(nodes + 1)));
  }

  static wire::IpPrefix PoolPrefix(const std::string& family, const std::string& text) {
    const wire::IpPrefix prefix = wire::IpPrefix::Parse(text);
    const bool ipv4 = prefix.address.family == wire::Family::kIpv4;
    if (ipv4 != (family == "ipv4")) throw UsageError(fmt::format("'{}' is not {}", text, family));
    if (prefix != prefix.Network()) {
      throw UsageError(
          fmt::format("'{}' has host bits set; write {}", text, prefix.Network().ToString()));
    }
    if (prefix.address.IsMulticast())
      throw UsageError(fmt::format("'{}' is a multicast prefix", text));
    return prefix;
  }

  static void Assign(SubnetPool& pool, wire::Family family, LinkSettings& link) {
    const auto nodes = static_cast<uint32_t>(link.nodes.size());
    const int usual = link.kind == lab::Link::Kind::kPair ? 30 : 24;
    const wire::IpPrefix subnet = pool.Take(LengthFor(family, nodes, usual));
    for (size_t i = 0; i < link.nodes.size(); ++i) {
      link.addresses.push_back(HostAddress(subnet, static_cast<uint32_t>(i + 1)));
    }
  }

  void CheckOverlaps() {
    for (size_t i = 0; i < links_.size(); ++i) {
      const LinkSettings& link = links_[i];
      for (size_t k = 0; k < link.addresses.size(); k += link.nodes.size()) {
        const wire::IpPrefix subnet = link.addresses[k].Network();
        for (const wire::IpPrefix& other : given_) {
          if (Overlap(subnet, other)) {
            Fail(*places_[i], fmt::format("link '{}': subnet {} overlaps with {}", link.name,
                                          subnet.ToString(), other.ToString()));
          }
        }
        given_.push_back(subnet);
      }
    }
  }

  const std::vector<NodeSettings>& settings_;
  NameTable nodes_;
  lab::Emulator emulator_;     // the default for links
  const FrameNodes* bridged_;  // null: nodes are routers
  std::vector<LinkSettings> links_;
  std::vector<const Value*> places_;
  std::set<std::string> names_;
  std::vector<wire::IpPrefix> given_;
};

}  // namespace

std::vector<path::TrafficClass> ClassesOf(const LinkSettings& link) {
  const bool has_directions = link.kind == lab::Link::Kind::kPair;
  std::vector<path::TrafficClass> classes;
  classes.reserve(link.classes.size());
  for (const LinkClass& each : link.classes) {
    classes.push_back({each.name, each.filter, each.up.value_or(each.spec),
                       has_directions ? each.down.value_or(each.spec) : path::Spec()});
  }
  return classes;
}

const std::string& NameTable::Check(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return *found;
  throw UsageError(fmt::format("there is no {} '{}'{}", kind_, name, DidYouMean(name, names_)));
}

std::vector<LinkSettings> ReadLinks(const Section& file, const std::vector<NodeSettings>& nodes,
                                    const FrameNodes* bridged) {
  LinkReader reader(nodes, file.Choice<lab::Emulator>("emulator"), bridged);
  file.Each("links", [&](const Section& entry) { reader.Read(entry); });
  return reader.Finish(file);
}

}  // namespace viaduct::scenario
