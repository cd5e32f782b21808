#include "scenario/sample.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text/edit_distance.h"
#include "base/units.h"
#include "base/within.h"
#include "scenario/nodes.h"

namespace viaduct::scenario {
namespace {

constexpr const char* kSampleSpec = "delay=1ms rate=100Mbit";

constexpr const char* kAnyMode =
    R"(# mode: offload   # real packets, forwarded by this machine's kernel (the default); simulate:
                  # everything in ns-3, in virtual time, without root;
                  # emulate, traditional: forwarded by ns-3
)";
constexpr const char* kWires =
    "# spec: what a link does to packets (viaduct docs path-spec); without a spec, nothing.\n";

struct Shape {
  int64_t nodes;
  std::string links, meaning;
  std::string event = R"(link: n0-n1, set: "loss=10%")";
  std::string mode = kAnyMode, of_links = kWires;
};

std::string LinkOf(const std::string& ends) {
  return fmt::format("  - {}\n    spec: {}\n", ends, kSampleSpec);
}

Shape Line(int64_t nodes) {
  return {nodes, LinkOf("line: all"), fmt::format("A line of {} routers", nodes)};
}
Shape Ring(int64_t nodes) {
  return {nodes, LinkOf("ring: all"), fmt::format("A ring of {} routers", nodes)};
}
Shape Star(int64_t nodes) {
  return {nodes, LinkOf("star: {center: n0}"),
          fmt::format("A star: n0 in the middle, {} routers around it", nodes - 1)};
}
Shape Tree(int64_t nodes) {
  std::string links;
  for (int64_t node = 1; node < nodes; ++node) {
    links += LinkOf(fmt::format("pair: [n{}, n{}]", (node - 1) / 2, node));
  }
  return {nodes, links, fmt::format("A binary tree of {} routers with n0 at its root", nodes)};
}

Shape Wifi(int64_t nodes) {
  return {
      nodes,
      R"(  - wifi: {nodes: all, standard: 80211g}   # access_point: n0 makes other nodes stations
mobility: {layout: line, spacing: 40}   # m; a node may have a position: [x, y], or waypoints
)",
      fmt::format("An ad hoc Wi-Fi network of {} routers in a line", nodes),
      "link: wlan0, state: down",
      "mode: simulate    # needed for Wi-Fi: everything in ns-3, in virtual time, without root\n",
      "# Without a range the signal gets weaker with the distance: it reaches about 50 m.\n"};
}

Shape Grid(const std::string& size) {
  const size_t by = size.find('x');
  if (by == std::string::npos)
    throw UsageError(fmt::format("\"{}\": expected COLUMNSxROWS, such as 4x4", size));
  const int64_t columns = ParseInteger(size.substr(0, by), 1, kMaxNodes);
  const int64_t rows = ParseInteger(size.substr(by + 1), 1, kMaxNodes);
  if (columns * rows < 2 || columns * rows > kMaxNodes) {
    throw UsageError(
        fmt::format("\"{}\": {} nodes; expected 2 to {}", size, columns * rows, kMaxNodes));
  }
  return {columns * rows, LinkOf(fmt::format("grid: {{columns: {}, rows: {}}}", columns, rows)),
          fmt::format("A grid of {} by {} routers", columns, rows)};
}

struct Topology {
  const char* kind;
  const char* size;  // the default size
  int64_t least;     // minimum number of nodes
  Shape (*make)(int64_t nodes);
};

constexpr Topology kTopologies[] = {{"line", "5", 2, Line},      {"ring", "6", 3, Ring},
                                    {"grid", "4x4", 0, nullptr}, {"star", "6", 2, Star},
                                    {"tree", "7", 2, Tree},      {"wifi", "4", 2, Wifi}};

const Topology& FindTopology(const std::string& kind) {
  for (const Topology& each : kTopologies) {
    if (kind == each.kind) return each;
  }
  const std::vector<std::string> known = SampleTopologies();
  const std::string hint = DidYouMean(kind, known);
  throw UsageError(fmt::format("there is no topology '{}'{} available: {}", kind,
                               hint.empty() ? ";" : hint, fmt::join(known, ", ")));
}

}  // namespace

std::vector<std::string> SampleTopologies() {
  std::vector<std::string> kinds;
  for (const Topology& each : kTopologies) kinds.emplace_back(each.kind);
  return kinds;
}

std::string SampleScenario(const std::string& topology, const std::string& protocol,
                           const std::string& head) {
  const size_t comma = topology.find(',');
  const std::string name = topology.substr(0, comma);
  const Topology& kind = FindTopology(name);
  const Shape shape = Within(topology, [&] {
    const std::string size = comma == std::string::npos ? kind.size : topology.substr(comma + 1);
    return kind.make ? kind.make(ParseInteger(size, kind.least, kMaxNodes)) : Grid(size);
  });
  const std::string last = fmt::format("n{}", shape.nodes - 1);
  return head + fmt::format(R"(# {0}, with traffic from n0 to {1}. Every key: viaduct docs scenario
name: {2}
seed: 1           # for all random numbers
duration: 10s     # counted from when all nodes can reach each other
{6}
nodes: {3}
{7}links:
{4}routing: {{protocol: {5}}}   # OLSR, RIP, RIPng, DSDV, AODV, static, none, or a TypeId of ns-3

flows:
  - {{type: ping, from: n0, to: {1}, interval: 100ms}}
  - {{type: udp, from: n0, to: {1}, size: 1000, rate: 1Mbit}}

# events:         # changes during the run
#   - {{at: 3s, {8}}}
# programs:       # programs of this machine, run in a node (in mode simulate with stack: kernel)
#   - {{node: n0, command: "traceroute -n {{{1}}}"}}
)",
                            shape.meaning, last, kind.kind, shape.nodes, shape.links, protocol,
                            shape.mode, shape.of_links, shape.event);
}

}  // namespace viaduct::scenario
