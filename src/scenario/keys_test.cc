#include "scenario/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/units.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {
namespace {

using testing::HasSubstr;

TEST(KeysTest, DocumentationListsEveryKey) {
  const std::string text = DocumentKeys();
  for (const Key& key : Keys()) EXPECT_THAT(text, HasSubstr(std::string("| `") + key.path + "` |"));
}

TEST(KeysTest, EveryKeyHasAUseByEveryCommand) {
  for (const Key& key : Keys()) {
    EXPECT_EQ(std::string_view(key.uses).size(), std::size(kCommands)) << key.path;
    EXPECT_EQ(std::string_view(key.uses).find_first_not_of("yrn-"), std::string_view::npos)
        << key.path;
  }
}

// A test of one key: the key, the overrides that the scenario needs for it (one per line), and an
// override that changes the key's value.
struct KeyChange {
  const char *key, *with, *change;
};

constexpr char kOnOneLink[] =
    "links=[{line: all}, {pair: [h, n1]}]\n"
    "nodes.h={host: true, remote: true}";

constexpr char kOfFrames[] =
    "nodes.h={host: true}\nflows=[]\nprograms=[]\ndata_plane={program: bridge}";

constexpr char kRouteToGroup[] =
    "mode=offload\n"
    "multicast=[{node: n0, source: n1, group: 239.1.1.1, from: n0-n1, to: [h-n0]}]";

constexpr char kWifi[] = "links.2={wifi: {nodes: all}}\nflows.0.rate=1Mbit";

constexpr char kClasses[] =
    "links.1.classes=[{name: dns, filter: udp port 53, spec: loss=1%}]\nflows.0.rate=1Mbit";

constexpr char kMobility[] =
    "links.2={wifi: {nodes: all}}\nflows.0.rate=1Mbit\n"
    "mobility={layout: random, area: [500, 300], model: 'ns3::RandomWaypointMobilityModel'}";

constexpr char kTwoMachines[] =
    "mode=offload\nmachines={a: {address: 192.0.2.1}, b: {address: 192.0.2.2}}";

const std::vector<KeyChange> kKeyChanges = {
    {"name", "", "name=other"},
    {"seed", "", "seed=5"},
    {"duration", "", "duration=20s"},
    {"mode", "", "mode=offload"},
    {"data_plane", "", "data_plane=ebpf"},
    {"data_plane.program", kOfFrames, "data_plane.program=hub"},
    {"stack", "", "stack=kernel:6.12"},
    {"guests", "", "guests=embedded"},
    {"routing", "", "routing={protocol: static}"},
    {"routing.protocol", "", "routing.protocol=ns3::Rip"},
    {"kernel_memory", "", "kernel_memory=256"},
    {"routing.sample", "", "routing.sample=1s"},
    {"routing.attributes", "", "routing.attributes={HelloInterval: 1s}"},
    {"convergence", "", "convergence={timeout: 1s}"},
    {"convergence.timeout", "", "convergence.timeout=1s"},
    {"convergence.required", "", "convergence.required=false"},
    {"timing", "", "timing={lateness_limit: 1ms}"},
    {"timing.lateness_limit", "", "timing.lateness_limit=1ms"},
    {"hub", "", "hub={readers: 2}"},
    {"hub.readers", "", "hub.readers=3"},
    {"hub.queue", "", "hub.queue=5000"},
    {"nodes", "nodes=[n0, n1, h]", "nodes=[n0, n1, n2, h]"},
    {"nodes.count", "", "nodes.count=4"},
    {"nodes.NAME", "", "nodes.n1={stack: ns3}"},
    {"nodes.NAME.host", "", "nodes.h={host: false}"},
    {"nodes.NAME.gateway", "nodes.h={host: true, gateway: n0}", "nodes.h.gateway=n1"},
    {"nodes.NAME.routing", "", "nodes.n1.routing=none"},
    {"nodes.NAME.data_plane", "", "nodes.n1.data_plane=kernel"},
    {"nodes.NAME.data_plane.program", kOfFrames, "nodes.n1.data_plane={program: hub}"},
    {"nodes.NAME.stack", "", "nodes.n1.stack=kernel:6.1"},
    {"nodes.NAME.sysctls", "", "nodes.n1.sysctls={a: b}"},
    {"nodes.NAME.interfaces", "mode=offload", "nodes.n1.interfaces=[eno1]"},
    {"nodes.NAME.container", "mode=offload", "nodes.h.container=web"},
    {"nodes.NAME.remote", kOnOneLink, "nodes.h.remote=any"},
    {"nodes.NAME.vni", kOnOneLink, "nodes.h.vni=9"},
    {"nodes.NAME.loopback", "", "nodes.n1.loopback=10.255.0.9"},
    {"nodes.NAME.on_machine", kTwoMachines, "nodes.h.on_machine=b"},
    {"nodes.NAME.on_host", kTwoMachines, "nodes.h.on_host=b"},
    {"nodes.NAME.position", kWifi, "nodes.n1.position=[30, 5.5, 2]"},
    {"nodes.NAME.waypoints", kWifi, "nodes.n1.waypoints=[0s 0 0, 1500ms 10.5 -3 2]"},
    {"mobility", kWifi, "mobility={layout: line}"},
    {"mobility.layout", kWifi, "mobility.layout=line"},
    {"mobility.spacing", kWifi, "mobility.spacing=80"},
    {"mobility.area", kMobility, "mobility.area=[500, 301]"},
    {"mobility.model", kMobility, "mobility.model=ns3::RandomWalk2dMobilityModel"},
    {"mobility.attributes", kMobility, "mobility.attributes={A: b}"},
    {"machines", kTwoMachines, "machines={a: {address: 192.0.2.1}}"},
    {"hosts", kTwoMachines, "hosts={a: {address: 192.0.2.1}}"},
    {"machines.NAME", kTwoMachines, "machines.a={address: 192.0.2.9}"},
    {"machines.NAME.address", kTwoMachines, "machines.a.address=192.0.2.9"},
    {"machines.NAME.login", kTwoMachines, "machines.a.login=me@a.example"},
    {"links", "", "links=[{line: all}, {pair: [h, n1]}]"},
    {"links[].pair", "", "links.2.pair=[h, n2]"},
    {"links[].line", "links.2={line: all}", "links.2.line=[n1, n0]"},
    {"links[].ring", "links.2={ring: [n0, n1, h]}", "links.2.ring=[n1, n0, h]"},
    {"links[].grid", "links.2={grid: {columns: 2, rows: 1, nodes: [n0, n1]}}",
     "links.2.grid={columns: 1, rows: 2, nodes: [n1, n0]}"},
    {"links[].grid.columns", "links.2={grid: {columns: 4, rows: 1, nodes: [n0, n1, h, n2]}}",
     "links.2.grid={columns: 2, rows: 2, nodes: [n0, n1, h, n2]}"},
    {"links[].grid.rows", "links.2={grid: {columns: 4, rows: 1, nodes: [n0, n1, h, n2]}}",
     "links.2.grid={columns: 2, rows: 2, nodes: [n0, n1, h, n2]}"},
    {"links[].grid.nodes", "links.2={grid: {columns: 2, rows: 1, nodes: [n0, n1]}}",
     "links.2.grid.nodes=[n1, n0]"},
    {"links[].star", "", "links.0={star: {center: n0}}"},
    {"links[].star.center", "links.2={star: {center: n0}}", "links.2.star.center=n1"},
    {"links[].star.leaves", "links.2={star: {center: n0}}", "links.2.star.leaves=[n1]"},
    {"links[].shared", "links.2={shared: all}", "links.2.shared=[n0, n1]"},
    {"links[].wifi", "flows.0.rate=1Mbit", "links.2={wifi: {nodes: all}}"},
    {"links[].wifi.nodes", kWifi, "links.2.wifi.nodes=[n0, h]"},
    {"links[].wifi.standard", kWifi, "links.2.wifi.standard=80211n"},
    {"links[].wifi.access_point", kWifi, "links.2.wifi.access_point=n1"},
    {"links[].wifi.rate", kWifi, "links.2.wifi.rate=OfdmRate6Mbps"},
    {"links[].wifi.range", kWifi, "links.2.wifi.range=100"},
    {"links[].wifi.attributes", kWifi, "links.2.wifi.attributes={TxPowerStart: 20}"},
    {"links[].name", "", "links.1.name=uplink"},
    {"links[].classes", "", "links.1.classes=[{name: dns, filter: udp}]"},
    {"links[].classes[].name", kClasses, "links.1.classes.0.name=names"},
    {"links[].classes[].filter", kClasses, "links.1.classes.0.filter=tcp"},
    {"links[].classes[].spec", kClasses, "links.1.classes.0.spec=loss=2%"},
    {"links[].classes[].up", kClasses, "links.1.classes.0.up=loss=2%"},
    {"links[].classes[].down", kClasses, "links.1.classes.0.down=loss=2%"},
    {"links[].spec", "", "links.0.spec=delay=1ms"},
    {"links[].up", "", "links.0.up=delay=1ms"},
    {"links[].down", "", "links.0.down=delay=1ms"},
    {"links[].emulator", "", "links.0.emulator=kernel"},
    {"links[].mtu", "", "links.0.mtu=9000"},
    {"links[].interface", "mode=offload",
     "links.2={interface: eno1, node: h, addresses: [10.9.1.1/24]}"},
    {"links[].node", "mode=offload",
     "links.2={interface: eno1, node: n2, addresses: [10.9.1.1/24]}"},
    {"links[].addresses", "", "links.1.addresses=[10.9.0.1/24, 10.9.0.2/24]"},
    {"emulator", "", "emulator=kernel"},
    {"addressing", "", "addressing={ipv4: 172.16.0.0/12}"},
    {"addressing.ipv4", "", "addressing.ipv4=172.16.0.0/12"},
    {"addressing.ipv6", "", "addressing.ipv6=fd00::/48"},
    {"addressing.loopback", "", "addressing.loopback=10.255.0.0/16"},
    {"flows", "", "flows=[]"},
    {"flows[].type", "", "flows.0.type=tcp"},
    {"flows[].name", "", "flows.0.name=video"},
    {"flows[].from", "", "flows.0.from=h"},
    {"flows[].to", "", "flows.0.to=h"},
    {"flows[].address", "", "flows.0.address=ipv4"},
    {"flows[].group", "mode=offload", "flows.0.group=239.1.1.1"},
    {"flows[].link", "mode=offload\nflows=[{from: n0, to: n1, group: 239.1.1.1}]",
     "flows.0.link=h-n0"},
    {"flows[].size", "", "flows.0.size=1000"},
    {"flows[].rate", "", "flows.0.rate=1Mbit"},
    {"flows[].interval", "", "flows.1.interval=10ms"},
    {"flows[].start", "", "flows.0.start=1s"},
    {"flows[].duration", "", "flows.0.duration=1s"},
    {"traffic", "flows=", "traffic=[{from: n0, to: h}]"},
    {"multicast", kRouteToGroup, "multicast=[]"},
    {"multicast[].node", kRouteToGroup,
     "multicast=[{node: n1, source: n1, group: 239.1.1.1, from: n0-n1, to: [h-n1]}]"},
    {"multicast[].source", kRouteToGroup, "multicast.0.source=10.9.9.9"},
    {"multicast[].group", kRouteToGroup, "multicast.0.group=239.1.1.2"},
    {"multicast[].from", kRouteToGroup,
     "multicast.0={node: n1, source: n0, group: 239.1.1.1, from: "
     "h-n1, to: [n0-n1]}"},
    {"multicast[].to", kRouteToGroup,
     "multicast=[{node: n1, source: n1, group: 239.1.1.1, from: n0-n1, to: all}]"},
    {"programs", "", "programs=[]"},
    {"programs[].name", "", "programs.0.name=list"},
    {"programs[].node", "", "programs.0.node=n1"},
    {"programs[].command", "", "programs.0.command=ls -l"},
    {"programs[].start", "", "programs.0.start=1s"},
    {"programs[].timeout", "", "programs.0.timeout=1s"},
    {"programs[].background", "", "programs.0.background=true"},
    {"programs[].expect", "", "programs.0.expect=1"},
    {"programs[].new_privileges", "", "programs.0.new_privileges=true"},
    {"programs[].environment", "", "programs.0.environment={A: b}"},
    {"events", "", "events=[]"},
    {"events[].at", "", "events.0.at=2s"},
    {"events[].link", "", "events.0.link=h-n1"},
    {"events[].state", "", "events.0.state=up"},
    {"events[].set", "events=[{at: 1s, link: n0-n1, set: delay=1ms}]", "events.0.set=delay=2ms"},
    {"events[].up", "events=[{at: 1s, link: n0-n1, up: delay=1ms}]", "events.0.up=delay=2ms"},
    {"events[].down", "events=[{at: 1s, link: n0-n1, down: delay=1ms}]", "events.0.down=loss=2%"},
    {"events[].capture", "events=[{at: 1s, link: n0-n1, capture: stop}]",
     "events=[{at: 1s, link: h-n1, capture: start}]"},
    {"captures", "", "captures=all"},
    {"state", "", "state={interval: 1ms}"},
    {"state.nodes", "state={nodes: all}", "state.nodes=[n0]"},
    {"state.interval", "state={nodes: all}", "state.interval=1ms"}};

// Checks that each key changes the printed scenario, so that no key is lost on the way to the
// simulator, which reads the printed scenario.
TEST(KeysTest, EveryKeyChangesWhatIsPrinted) {
  const std::string base =
      "mode: simulate\nstack: kernel\nnodes: {count: 3, n1: {}, h: {host: true, gateway: n1}}\n"
      "links: [{line: all}, {pair: [h, n1]}, {pair: [h, n0]}]\n"
      "flows: [{from: n0, to: n1}, {type: ping, from: n0, to: n1}]\n"
      "programs: [{node: n0, command: ls}]\nevents: [{at: 1s, link: n0-n1, state: down}]\n"
      "captures: [n0-n1]\n";
  for (const Key& key : Keys()) {
    const auto found =
        std::find_if(kKeyChanges.begin(), kKeyChanges.end(),
                     [&](const KeyChange& each) { return key.path == std::string(each.key); });
    ASSERT_NE(found, kKeyChanges.end()) << key.path << ": add a change of it to kKeyChanges";
    SCOPED_TRACE(std::string(found->with) + ", then " + found->change);
    std::vector<std::string> overrides;
    std::istringstream with(found->with);
    for (std::string line; std::getline(with, line);) overrides.push_back(line);
    const Scenario before = Parse(base, "f.yaml", overrides);
    overrides.emplace_back(found->change);
    const Scenario after = Parse(base, "f.yaml", overrides);
    EXPECT_NE(before.hash, after.hash);
    EXPECT_EQ(Parse(Print(after), "f.yaml").hash, after.hash) << "reads back unchanged";
  }
}

TEST(KeysTest, EveryDefaultAndExampleIsWhatItsTypeSays) {
  for (const Key& key : Keys()) {
    for (const std::string& text : {key.Default(), std::string(key.example)}) {
      if (text.empty()) continue;
      SCOPED_TRACE(key.path);
      if (key.type == Type::kDuration) {
        EXPECT_NO_THROW(ParseDuration(text));
      }
      if (key.type == Type::kRate) {
        EXPECT_NO_THROW(ParseRate(text));
      }
      if (key.type == Type::kInteger) {
        EXPECT_NO_THROW(ParseInteger(text, 0, 1 << 30));
      }
      if (key.type == Type::kSpec) {
        EXPECT_NO_THROW(path::ParseSpec(text));
      }
      if (key.type == Type::kBoolean) {
        EXPECT_TRUE(text == "true" || text == "false");
      }
    }
  }
}

}  // namespace
}  // namespace viaduct::scenario
