#include "scenario/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/edit_distance.h"
#include "base/units.h"
#include "scenario/words.h"

namespace viaduct::scenario {
namespace {

constexpr Key kKeys[] = {
    {"name", Type::kName, "", "Name of the lab; default: the file's name without .yaml.", "mesh"},
    {"seed", Type::kInteger, "1", "Seed of every random stream.", "7"},
    {"duration", Type::kDuration, "10s",
     "How long the run lasts after routes have converged. A run with flows or programs ends as "
     "soon as they all have.",
     "30s"},
    {"mode", Type::kChoice, "offload",
     "`simulate`: everything in ns-3, virtual time. `traditional`: ns-3's own emulation. "
     "`emulate`: "
     "real packets, data plane in the simulator. `offload`: real packets, data plane in the "
     "kernel, "
     "the protocol in the simulator.",
     "emulate", "simulate traditional emulate offload"},
    {"stack", Type::kText, "ns3",
     "The nodes' network stack in mode `simulate`: `ns3`, or a real Linux kernel in virtual time, "
     "`kernel` (the newest that `viaduct kernel list` shows) or `kernel:VERSION` (or the path of "
     "an "
     "executable). Mode `offload` "
     "takes `kernel` too: there it is the host's.",
     "kernel:6.12"},

    {"nodes", Type::kNodeSet, "",
     "The nodes: a number (`5` makes n0 to n4), a list of names, or a map from names to settings, "
     "which may also hold `count`.",
     "[a, b, c]"},
    {"nodes.count", Type::kInteger, "", "Makes nodes n0, n1, ... besides the named ones.", "5"},
    {"nodes.NAME", Type::kSection, "", "Settings of one node; may be empty.", "{host: true}"},
    {"nodes.NAME.host", Type::kBoolean, "false",
     "A host runs no routing protocol; it has a default route to `gateway`.", "true"},
    {"nodes.NAME.gateway", Type::kNode, "",
     "The neighbour a host sends to. May be left out where the host has one neighbour.", "n0"},
    {"nodes.NAME.data_plane", Type::kChoice, "",
     "Where this node's packets are forwarded; default: what `mode` says.", "kernel",
     "kernel simulator"},
    {"nodes.NAME.stack", Type::kText, "", "This node's network stack; default: what `stack` says.",
     "kernel"},
    {"nodes.NAME.sysctls", Type::kTable, "", "Kernel settings of the node's namespace, set last.",
     "{net.ipv4.tcp_congestion_control: reno}"},
    {"nodes.NAME.interfaces", Type::kTexts, "",
     "Interfaces of this machine, moved into the node for the time of the run.", "[enp3s0]"},

    {"links", Type::kSections, "",
     "What connects the nodes. Each entry has exactly one of `pair`, `line`, `ring`, `grid`, "
     "`star`, `shared`.",
     "[{line: all}]"},
    {"links[].pair", Type::kNodes, "", "A point-to-point link between two nodes.", "[n0, n1]"},
    {"links[].line", Type::kNodes, "",
     "Point-to-point links from each node to the next. `all`: every node that is not a host.",
     "all"},
    {"links[].ring", Type::kNodes, "", "A line whose last node is linked to the first.",
     "[n0, n1, n2]"},
    {"links[].grid", Type::kSection, "",
     "A grid, filled row by row, linked to the right and below.", "{columns: 3, rows: 2}"},
    {"links[].grid.columns", Type::kInteger, "", "Nodes in a row.", "3"},
    {"links[].grid.rows", Type::kInteger, "", "Rows.", "2"},
    {"links[].grid.nodes", Type::kNodes, "all", "The nodes, row by row.", "all"},
    {"links[].star", Type::kSection, "", "Point-to-point links from one node to others.",
     "{center: n0, leaves: [n1, n2]}"},
    {"links[].star.center", Type::kNode, "", "The node in the middle.", "n0"},
    {"links[].star.leaves", Type::kNodes, "all", "The others. `all`: every other node, hosts too.",
     "[n1, n2]"},
    {"links[].shared", Type::kNodes, "", "One Ethernet (a bridge) that all these nodes are on.",
     "[n0, n1, n2]"},
    {"links[].spec", Type::kSpec, "",
     "What the link does to frames, each direction: delay, jitter, dist, loss, dup, reorder, ber, "
     "rate, queue, aqm. Empty: a plain wire (mode `simulate`: 100 Mbit/s).",
     "delay=20ms rate=10Mbit"},
    {"links[].up", Type::kSpec, "", "Instead of `spec`, from the first node to the second.",
     "rate=1Mbit"},
    {"links[].down", Type::kSpec, "", "Instead of `spec`, from the second node to the first.",
     "rate=16Mbit"},
    {"links[].emulator", Type::kChoice, "",
     "Who makes the SPEC true in the real modes; default: `emulator` of the file.", "kernel",
     "engine kernel"},
    {"links[].mtu", Type::kInteger, "1500", "Largest IP packet, bytes.", "9000"},
    {"links[].name", Type::kName, "",
     "Name of the link (`pair` and `shared`); default `A-B`, or `lan0`, `lan1`, ...", "backbone"},
    {"links[].addresses", Type::kTexts, "",
     "Addresses (`pair` and `shared`), one a node in their order; a second round of them for IPv6. "
     "Default: subnets from `addressing`, in the order of the links.",
     "[10.1.0.1/24, 10.1.0.2/24]"},

    {"emulator", Type::kChoice, "engine",
     "Who makes the links' SPECs true in the real modes: `engine`, Viaduct's path emulator, as in "
     "mode `simulate`; `kernel`, the kernel's own queueing disciplines (netem, tbf, codel...) "
     "where "
     "it has them, with their own models and random numbers.",
     "kernel", "engine kernel"},

    {"addressing", Type::kSection, "", "Where automatic addresses come from.",
     "{ipv4: 192.168.0.0/16}"},
    {"addressing.ipv4", Type::kPrefix, "10.0.0.0/8",
     "IPv4: a /30 for each point-to-point link, a /24 (or what is needed) for each shared one; or "
     "`none`.",
     "none"},
    {"addressing.ipv6", Type::kPrefix, "none", "IPv6: a /64 for each link; or `none`.",
     "fd00::/48"},

    {"routing", Type::kSection, "", "The routing protocol of every node that is not a host.",
     "{protocol: ns3::Rip}"},
    {"routing.protocol", Type::kText, "ns3::olsr::RoutingProtocol",
     "ns-3 TypeId of an Ipv4RoutingProtocol or Ipv6RoutingProtocol, or `static`: shortest paths, "
     "computed once.",
     "ns3::Rip"},
    {"routing.attributes", Type::kTable, "", "Attributes of that TypeId.", "{HelloInterval: 1s}"},

    {"flows", Type::kSections, "", "Measured traffic.", "[{type: udp, from: n0, to: n4}]"},
    {"flows[].type", Type::kChoice, "udp", "What is sent.", "tcp", "udp tcp ping"},
    {"flows[].name", Type::kText, "", "Name in tables; default `udp n0->n4`.", "video"},
    {"flows[].from", Type::kNode, "", "The sender.", "n0"},
    {"flows[].to", Type::kNode, "", "The receiver.", "n4"},
    {"flows[].size", Type::kInteger, "160", "Payload of a UDP or ping packet, bytes.", "1470"},
    {"flows[].rate", Type::kRate, "",
     "Payload sent, UDP and TCP; default: as fast as the network takes it (mode `simulate`, UDP: "
     "what the sender's link carries).",
     "2Mbit"},
    {"flows[].interval", Type::kDuration, "100ms", "Time between two pings.", "10ms"},
    {"flows[].start", Type::kDuration, "0s", "When, after convergence.", "2s"},
    {"flows[].duration", Type::kDuration, "",
     "How long (TCP: whole seconds); default: until the end of the run.", "5s"},
    {"traffic", Type::kAlias, "flows", "Another name of `flows`.", ""},

    {"programs", Type::kSections, "",
     "Programs run in nodes. Mode `simulate`: in nodes whose `stack` is a kernel.",
     "[{node: n0, command: ping -c 3 10.0.0.2}]"},
    {"programs[].node", Type::kNode, "", "Where.", "n0"},
    {"programs[].command", Type::kWords, "",
     "A program and its arguments, split as a shell would but run without one; or a list. "
     "`{n4}` stands for the first address of node n4.",
     "curl -s http://{n4}/"},
    {"programs[].name", Type::kText, "", "Name in tables; default: the command's first word.",
     "web server"},
    {"programs[].start", Type::kDuration, "0s", "When, after convergence.", "1s"},
    {"programs[].timeout", Type::kDuration, "",
     "It is stopped and has failed if it runs longer; default: until the end of the run.", "5s"},
    {"programs[].background", Type::kBoolean, "false",
     "The run does not wait for it: it is stopped at the end, its status does not count.", "true"},
    {"programs[].expect", Type::kInteger, "0", "The exit status that means success.", "22"},
    {"programs[].environment", Type::kTable, "", "Added to the environment.", "{LANG: C}"},

    {"events", Type::kSections, "", "Changes while the run is on.",
     "[{at: 3s, link: n1-n2, state: down}]"},
    {"events[].at", Type::kDuration, "", "When, after convergence.", "3s"},
    {"events[].link", Type::kLink, "", "The link.", "n1-n2"},
    {"events[].state", Type::kChoice, "", "What becomes of it.", "down", "up down"},

    {"captures", Type::kLinks, "", "Links whose packets are written to a pcap file each.",
     "[n0-n1]"},

    {"state", Type::kSection, "",
     "Has the state of nodes whose `stack` is a kernel written to CSV files beside the captures: "
     "`NODE-tcp.csv` (TCP_INFO of each socket), `NODE-qdisc.csv`, `NODE-nstat.csv` (counters that "
     "have changed).",
     "{interval: 10ms}"},
    {"state.nodes", Type::kNodes, "all", "Which nodes. `all`: every one that has a kernel.",
     "[n0, n2]"},
    {"state.interval", Type::kDuration, "10ms", "From one look to the next.", "1ms"},

    {"convergence", Type::kSection, "", "Waiting for routes.", "{timeout: 30s}"},
    {"convergence.timeout", Type::kDuration, "60s", "How long to wait for all pairs to reach.",
     "2min"},
    {"convergence.required", Type::kBoolean, "true",
     "Whether the run fails if some pair does not reach by then.", "false"},

    {"timing", Type::kSection, "", "What the run demands of its own timing.",
     "{lateness_limit: 1ms}"},
    {"timing.lateness_limit", Type::kDuration, "",
     "The run is VOID (exit status 4) if 1% of the simulator's events, or of the packets of links "
     "with a SPEC, were later than this.",
     "1ms"},
};

bool HasShape(Type type, const Value& value) {
  switch (type) {
    case Type::kNodes:
    case Type::kLinks:
      return value.IsList() || (value.IsScalar() && value.text == "all");
    case Type::kTexts:
      return value.IsList();
    case Type::kWords:
      return value.IsList() || value.IsScalar();
    case Type::kTable:
    case Type::kSection:
      return value.IsMap();
    case Type::kSections:
    case Type::kAlias:
      return value.IsList();
    case Type::kNodeSet:
      return true;
    default:
      return value.IsScalar();
  }
}

// "prefix.key".
std::string Join(const std::string& prefix, std::string_view key) {
  return prefix.empty() ? std::string(key) : fmt::format("{}.{}", prefix, key);
}

}  // namespace

std::span<const Key> Keys() { return kKeys; }

const Key& FindKey(std::string_view path) {
  for (const Key& key : kKeys) {
    if (path == key.path) return key;
  }
  throw std::logic_error(fmt::format("no scenario key '{}'", path));
}

std::string DescribeType(const Key& key) {
  switch (key.type) {
    case Type::kText:
      return "text";
    case Type::kName:
      return "a name (letters, digits, - and _)";
    case Type::kChoice: {
      std::string words = key.choices;
      for (size_t at = 0; (at = words.find(' ', at)) != std::string::npos; at += 2) {
        words.replace(at, 1, ", ");
      }
      return "one of " + words;
    }
    case Type::kBoolean:
      return "true or false";
    case Type::kInteger:
      return "a whole number";
    case Type::kDuration:
      return "a duration such as 10s or 200ms";
    case Type::kRate:
      return "a rate such as 2Mbit";
    case Type::kSpec:
      return "a link SPEC such as delay=20ms rate=10Mbit";
    case Type::kPrefix:
      return "a prefix such as 10.0.0.0/8, or none";
    case Type::kNode:
      return "a node's name";
    case Type::kNodes:
      return "a list of nodes, or all";
    case Type::kLink:
      return "a link's name";
    case Type::kLinks:
      return "a list of links, or all";
    case Type::kTexts:
      return "a list";
    case Type::kWords:
      return "a command";
    case Type::kTable:
      return "a map from names to values";
    case Type::kSection:
      return "a map";
    case Type::kSections:
      return "a list of maps";
    case Type::kNodeSet:
      return "a number, a list of names, or a map";
    case Type::kAlias:
      return "a list of maps";
  }
  return "";
}

std::string Nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  size_t distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t d = EditDistance(word.substr(0, 64), candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best;
}

Section::Section(const Value& value, std::string path, std::string shown, bool free_names)
    : value_(value), path_(std::move(path)), shown_(std::move(shown)) {
  if (value.kind == Value::Kind::kNull) return;
  if (!value.IsMap()) {
    scenario::Fail(value, fmt::format("{} is {}; it must be a map",
                                      shown_.empty() ? "the file" : shown_, value.Describe()));
  }
  if (free_names) return;
  for (const auto& [name, member] : value.members) CheckMember(name, member);
}

std::string Section::PathOf(std::string_view key) const { return Join(path_, key); }

const Key* Section::KeyFor(std::string_view key) const {
  const std::string path = PathOf(key);
  for (const Key& candidate : kKeys) {
    if (path == candidate.path && key != "NAME") return &candidate;
  }
  return nullptr;
}

void Section::CheckMember(const std::string& name, const Value& member) const {
  const Key* key = KeyFor(name);
  if (!key) FailUnknown(name, member);
  if (member.kind != Value::Kind::kNull && !HasShape(key->type, member)) {
    Fail(name, fmt::format("{} where {} is expected", member.Describe(), DescribeType(*key)));
  }
}

void Section::FailUnknown(const std::string& name, const Value& member) const {
  std::vector<std::string> known;
  const std::string prefix = path_.empty() ? "" : path_ + ".";
  for (const Key& key : kKeys) {
    const std::string_view path = key.path;
    if (!path.starts_with(prefix)) continue;
    const std::string_view rest = path.substr(prefix.size());
    if (rest.find_first_of(".[") == std::string_view::npos) known.emplace_back(rest);
  }
  const std::string nearest = Nearest(name, known);
  const std::string hint = nearest.empty() ? ";" : "; did you mean '" + nearest + "'?";
  scenario::Fail(member,
                 fmt::format("unknown key '{}'{}{} known: {}", name,
                             shown_.empty() ? "" : " in " + shown_, hint, fmt::join(known, ", ")));
}

const Value* Section::Find(std::string_view key) const {
  FindKey(PathOf(key));
  const Value* member = value_.Find(key);
  return member && member->kind != Value::Kind::kNull ? member : nullptr;
}

const Value& Section::At(std::string_view key) const {
  const Value* member = value_.Find(key);
  return member ? *member : value_;
}

void Section::Fail(std::string_view key, const std::string& message) const {
  scenario::Fail(At(key), fmt::format("{}: {}", Join(shown_, key), message));
}

std::string Section::Text(std::string_view key) const {
  const Key& known = FindKey(PathOf(key));
  const Value* member = Find(key);
  const std::string text = member ? member->text : known.fallback;
  if (member && known.type == Type::kChoice) {
    const std::string choices = fmt::format(" {} ", known.choices);
    if (text.find(' ') != std::string::npos || text.empty() ||
        choices.find(" " + text + " ") == std::string::npos) {
      Fail(key, fmt::format("'{}' is not {}", text, DescribeType(known)));
    }
  }
  if (member && known.type == Type::kName) {
    const bool well_formed = !text.empty() && text.size() <= 63 && (std::isalnum(text[0]) != 0) &&
                             std::all_of(text.begin(), text.end(), [](unsigned char c) {
                               return std::isalnum(c) || c == '-' || c == '_';
                             });
    if (!well_formed) {
      Fail(key, fmt::format("'{}' is not a name (letters, digits, - and _; at most 63)", text));
    }
  }
  return text;
}

bool Section::Boolean(std::string_view key) const {
  const std::string text = Text(key);
  if (text != "true" && text != "false") {
    Fail(key, fmt::format("'{}' is not true or false", text));
  }
  return text == "true";
}

int64_t Section::Integer(std::string_view key, int64_t low, int64_t high) const {
  return Located(key, [&] { return ParseInteger(Text(key), low, high); });
}

viaduct::Duration Section::Duration(std::string_view key) const {
  return Located(key, [&] { return ParseDuration(Text(key)); });
}

int64_t Section::Rate(std::string_view key) const {
  return Located(key, [&] { return ParseRate(Text(key)); });
}

std::vector<std::string> Section::Texts(std::string_view key) const {
  const Value* member = Find(key);
  if (!member) return {};
  if (member->IsScalar()) {
    if (FindKey(PathOf(key)).type != Type::kWords) return {member->text};
    return Located(key, [&] { return SplitWords(member->text); });
  }
  std::vector<std::string> texts;
  for (const Value& item : member->items) {
    if (!item.IsScalar()) {
      scenario::Fail(item,
                     fmt::format("{}: {} in a list of texts", Join(shown_, key), item.Describe()));
    }
    texts.push_back(item.text);
  }
  return texts;
}

std::vector<std::pair<std::string, std::string>> Section::Table(std::string_view key) const {
  std::vector<std::pair<std::string, std::string>> table;
  const Value* member = Find(key);
  if (!member) return table;
  for (const auto& [name, value] : member->members) {
    if (!value.IsScalar()) {
      scenario::Fail(value, fmt::format("{}.{}: {} where text is expected", Join(shown_, key), name,
                                        value.Describe()));
    }
    table.emplace_back(name, value.text);
  }
  return table;
}

}  // namespace viaduct::scenario
