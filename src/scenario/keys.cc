#include "scenario/keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenario/binding.h"
#include "scenario/node_printers.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {
namespace {

std::string All() { return "all"; }
bool HasTiming(const Scenario& scenario) { return scenario.lateness_limit.has_value(); }
bool HasHub(const Scenario& scenario) { return scenario.hub_readers || scenario.hub_queue; }
bool HasState(const Scenario& scenario) { return !scenario.state.empty(); }
bool IsPair(const LinkSettings& link) { return link.kind == lab::Link::Kind::kPair; }
bool IsShared(const LinkSettings& link) {
  return link.kind == lab::Link::Kind::kBridge && link.interface.empty() && !IsWifi(link);
}
bool HasSpacing(const Mobility& mobility) { return mobility.layout != Mobility::Layout::kRandom; }
bool HasMobility(const Scenario& scenario) { return scenario.mobility.is_given; }
bool ConnectsNodes(const LinkSettings& link) { return link.interface.empty() && !IsWifi(link); }
bool HasPackets(const Flow& flow) { return flow.kind != Flow::Kind::kTcp; }
bool IsPing(const Flow& flow) { return flow.kind == Flow::Kind::kPing; }
bool IsAwaited(const Program& program) { return !program.background; }

void PrintNode(YAML::Emitter& out, const Key& key, const LinkSettings& link) {
  if (!link.interface.empty()) PrintPair(out, key, link.nodes.front());
}

void PrintState(YAML::Emitter& out, const Key& key, const LinkEvent& event) {
  if (event.kind == LinkEvent::Kind::kState) PrintPair(out, key, event.on ? "up" : "down");
}

void PrintCapture(YAML::Emitter& out, const Key& key, const LinkEvent& event) {
  if (event.kind == LinkEvent::Kind::kCapture) PrintPair(out, key, event.on ? "start" : "stop");
}

constexpr Key kKeys[] = {
    {"name", Type::kName, Printed<&Scenario::name>().From(1, 32),
     "Name of the lab; default: the file's name without .yaml.", "mesh"},
    // From 1 to the maximum seed of ns-3's random generator (MRG32k3a, L'Ecuyer 1999).
    {"seed", Type::kInteger, PlainMember<&Scenario::seed>().From(1, 4294944442),
     "Seed of every random stream.", "7"},
    {"duration", Type::kDuration, PlainMember<&Scenario::duration>(),
     R"(How long the run lasts after routes have converged. A run with flows or programs ends as
     soon as all of them have ended.)",
     "30s"},
    {"mode", Type::kChoice, PlainMember<&Scenario::mode>(),
     R"(`simulate`: everything in ns-3, virtual time. `traditional`: ns-3's own emulation. `emulate`:
     real packets, data plane in the simulator. `offload`: real packets, data plane in the kernel,
     the protocol in the simulator.)",
     "emulate", "simulate traditional emulate offload"},
    {"data_plane", Type::kPlane, Custom<Scenario, PrintSharedPlane>(),
     R"(Where nodes' packets are forwarded in the real modes: `kernel`, the kernel's own forwarding;
     `ebpf`, the same routes by an eBPF program that passes packets from node to node without their
     stacks, where plain wires connect them, and leaves all others to the kernel; `joined`, the same routes,
     all hops over plain wires in one step; `userspace`, the same routes by a process without privileges; `auto`,
     for each node the fastest of `joined`, `ebpf` and `kernel` that this machine has, that does something there and
     that is right for the scenario, which the results and the command name with the reason; `simulator`. The
     default depends on `mode`. With `WMRP`: `userspace` (the default in mode `offload`), `ebpf`, `simulator`, or
     `auto`, which is `ebpf` where this machine has it. Or a map, `{program: NAME}`, of nodes that forward frames.)",
     "ebpf", "", "-yyyyyy"},
    {"data_plane.program", Type::kText, Elsewhere(),
     R"(The nodes that are not hosts forward the hosts' Ethernet frames by this program, in every mode: `bridge`, which
     learns, `hub`, or a shared library (`FILE.so`) with a class of your own ([layer 2](howto/layer2.md)). All hosts
     are on one network. In mode `offload` the program runs in a process without privileges, in the others in the
     simulator. `routing.protocol` is then `none`, the default, or the TypeId of an ns3::Object of your own, which is
     aggregated to these nodes and writes the program's table.)",
     "libmesh.so", "", "yyyyyyr"},
    {"stack", Type::kText, Elsewhere([] { return std::string("ns3"); }),
     R"(The nodes' network stack in mode `simulate`: `ns3`, or a real Linux kernel in virtual time,
     `kernel` (the newest that `viaduct kernel list` shows) or `kernel:VERSION` (or the path of an
     executable). Mode `offload` accepts `kernel` too: there it is the host's.)",
     "kernel:6.12", "", "yrryyyy"},
    {"kernel_memory", Type::kInteger, PlainPrinted<&Scenario::kernel_memory>().From(16, 65536),
     R"(Memory of the guest in which the kernels in virtual time run, MiB (mode `simulate`, with `stack: kernel`;
     nodes with one version share a guest). If absent: what it needs for its nodes. It sets TCP's windows, too, as
     on any machine: two runs with other values are two experiments.)",
     "256", "", "yrrrryr"},
    {"guests", Type::kChoice, PlainPrinted<&Scenario::guests>(),
     R"(Where the kernels of `stack: kernel` are in mode `simulate`: `embedded`, in the simulator's process, which is faster
     and gives the same results (those that cannot be there have processes); `process`, each in a process of its
     own. The default is `embedded`, with `programs` it is `process` ([what that means](kernel.md#kernels-in-the-simulators-process)).)",
     "process", "process embedded", "y----y-"},
    {"routing", Type::kProtocol, Inner<&Scenario::routing>(),
     R"(The routing protocol of every node that is not a host: a map, or only the protocol
     (`routing: none`).)",
     "{protocol: ns3::Rip}"},
    {"routing.protocol", Type::kText, PlainMember<&Routing::protocol>(),
     R"(`OLSR`, `RIP`, `RIPng`, `DSDV` or `AODV` (in any letter case); the ns-3 TypeId of an
     Ipv4RoutingProtocol or Ipv6RoutingProtocol; or `static`: shortest paths, computed once. One
     that finds routes on demand (AODV) is not waited for: its first packets are. Or `WMRP`: the
     nodes that are not hosts are RBridges, which carry the hosts' Ethernet frames
     ([WMRP](wmrp.md)). Or `none`: nodes have routes to the networks of their own links only (a host
     to its gateway), further ones are made by programs that run in them, and nothing is waited for
     ([routing daemons](howto/daemons.md)).)",
     "AODV"},
    {"routing.attributes", Type::kTable, PlainPrinted<&Routing::attributes>(),
     "Attributes of that TypeId.", "{HelloInterval: 1s}"},
    {"routing.sample", Type::kDuration, PlainPrinted<&Routing::sample>(),
     R"(Writes to the results, from convergence on and each so long, to which neighbour each node sends what is for
     each other one, as its protocol says then (`route_samples`); default: not at all. Not with `WMRP`, nor with
     several `machines`, nor with protocols that find routes on demand.)",
     "1s", "", "yyyynnr"},
    {"convergence", Type::kSection, Group<Scenario>(), "Waiting for routes.", "{timeout: 30s}"},
    {"convergence.timeout", Type::kDuration, PlainMember<&Scenario::convergence_timeout>(),
     R"(How long to wait until all pairs of nodes can reach each other; not if the protocol finds
     routes on demand.)",
     "2min"},
    {"convergence.required", Type::kBoolean, PlainMember<&Scenario::convergence_required>(),
     "Whether the run fails if some pair cannot by then.", "false"},
    {"timing", Type::kSection, Group<Scenario, HasTiming>(),
     "Requirements on the run's own timing.", "{lateness_limit: 1ms}", "", "-yyy-yy"},
    {"timing.lateness_limit", Type::kDuration, PlainPrinted<&Scenario::lateness_limit>(),
     R"(The run is VOID (exit status 4) if 1% of the simulator's events, of the packets of links
     with a SPEC, or of the scenario's `events`, were later than this.)",
     "1ms", "", "-yyy-yy"},
    {"hub", Type::kSection, Group<Scenario, HasHub>(), "Of `viaduct hub`.", "{readers: 2}", "",
     "-----y-"},
    {"hub.readers", Type::kInteger, PlainPrinted<&Scenario::hub_readers>().From(0, 64),
     R"(Threads that read what clients send, each from a UDP socket of its own, to which the kernel
     gives its share of the clients; 0: the simulator, or the lab's path engine, reads by itself.
     If absent: as many as this machine has processors for, beside that one, at most 8.)",
     "4", "", "-----y-"},
    {"hub.queue", Type::kInteger, PlainPrinted<&Scenario::hub_queue>().From(256, 1 << 20),
     R"(Frames from clients that may wait for the simulation or for the lab's links, all clients'. While
     several wait, a client may have its share of them: more of them survive a longer stall of the
     machine, and wait longer when clients flood. Each needs memory for a frame of the longest link.
     If absent: 4096.)",
     "65536", "", "-----y-"},

    {"machines", Type::kNodeSet, Custom<Scenario, PrintMachines>(),
     R"(Runs the lab on these machines together ([several machines](machines.md)), in the modes `emulate` and `offload`:
     a map from names to settings.)",
     "{h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}}", "", "rryyrry"},
    {"hosts", Type::kAlias, Elsewhere(), "The former name of `machines`.", "", "machines",
     "rryyrry"},
    {"machines.NAME", Type::kSection, Elsewhere(), "One machine.", "{address: 192.0.2.3}", "",
     "rryyrry"},
    {"machines.NAME.address", Type::kText, Custom<Machine, PrintAddress>(),
     "Its address, IPv4 or IPv6, to which the other machines send the packets of links between "
     "machines.",
     "192.0.2.3", "", "rryyrry"},
    {"machines.NAME.login", Type::kText, PlainPrinted<&Machine::login>(),
     "How `mpirun` reaches it by ssh; default: the address.", "user@h3.example", "", "rryyrry"},

    {"nodes", Type::kNodeSet, Custom<Scenario, PrintNodes>(),
     R"(The nodes: a number (`5` makes n0 to n4), a list of names, or a map from names to settings,
     which may also hold `count`.)",
     "[a, b, c]"},
    {"nodes.count", Type::kInteger, Elsewhere(), "Adds nodes n0, n1, ... to the named ones.", "5"},
    {"nodes.NAME", Type::kSection, Elsewhere(), "Settings of one node; may be empty.",
     "{host: true}"},
    {"nodes.NAME.host", Type::kBoolean, PlainMember<&NodeSettings::host>(),
     R"(A host runs no routing protocol and forwards nothing; it has a default route to `gateway`.
     With `WMRP`: hosts are on one network, and have no gateway.)",
     "true"},
    {"nodes.NAME.gateway", Type::kNode, PlainPrinted<&NodeSettings::gateway>(),
     "The neighbour to which a host sends. May be omitted if the host has only one.", "n0"},
    {"nodes.NAME.routing", Type::kChoice, Custom<NodeSettings, PrintNodeRouting>(),
     R"(`none`: this node, a router, does not run the protocol of `routing`. Programs that run in it make its routes
     ([routing daemons](howto/daemons.md)); convergence is waited for between those nodes that are connected
     without it. In mode `emulate` its `data_plane` is `kernel` unless it says otherwise. Not with `WMRP`, nor with
     several `machines`.)",
     "none", "none", "yyyyyyr"},
    {"nodes.NAME.data_plane", Type::kPlane, Custom<NodeSettings, PrintPlane>(),
     "Where this node's packets are forwarded; default: `data_plane`.", "kernel", "", "-yyyyyy"},
    {"nodes.NAME.data_plane.program", Type::kText, Elsewhere(),
     "The program that forwards this node's frames; default: `data_plane.program`.", "hub", "",
     "yyyyyyr"},
    {"nodes.NAME.stack", Type::kText, Custom<NodeSettings, PrintStack>(),
     "This node's network stack; default: `stack`.", "kernel", "", "yrryyyy"},
    {"nodes.NAME.sysctls", Type::kTable, PlainPrinted<&NodeSettings::sysctls>(),
     R"(Kernel settings of the node's namespace, set last. Those of neighbours (`net.ipv4.neigh.eth0.*`) count for ns-3, too.)",
     "{net.ipv4.tcp_congestion_control: reno}"},
    {"nodes.NAME.interfaces", Type::kTexts, PlainPrinted<&NodeSettings::physical_interfaces>(),
     R"(Interfaces of this machine that are moved into the node during the run, for its kernel and
     programs alone; with `links[].interface` the routing protocol speaks over them too. A Wi-Fi card
     moves with all of its interfaces, to one node.)",
     "[enp3s0]", "", "ryyyyyy"},
    {"nodes.NAME.container", Type::kText, PlainPrinted<&NodeSettings::container>(),
     R"(The node is a container that runs already, of docker or podman, by its name; or a network
     namespace by its name (`ip netns`) or a process's pid. It gets the node's interfaces, addresses
     and routes as long as the lab lives, and is left as it was. It must have no `eth0` and no default
     route (`--network none`), and belong to you, unless root itself runs the command. Such a node is a
     host; it runs its own programs, no flows or programs of the scenario. Not in mode simulate.)",
     "web", "", "ryyyyyr"},
    {"nodes.NAME.remote", Type::kText, Custom<NodeSettings, PrintRemote>(),
     R"(For `viaduct hub`: the node's programs are on another host, its client. `true`: the host that
     claims the node with the hub's key (`viaduct join`); an address: the host that has it, by a VXLAN
     interface of its kernel; `any`: the first one that sends. Such a node is a host, on one link; with AODV, DSDV, or
     `host: false`, a router ([remote nodes](remote.md)). Other commands take it for one of their own.)",
     "192.0.2.7", "", "-----y-"},
    {"nodes.NAME.vni", Type::kInteger, Custom<NodeSettings, PrintVni>().From(1, 0xffffff),
     "With `remote`: its VXLAN network identifier; default: the lowest that is free.", "17", "",
     "-----y-"},

    {"nodes.NAME.loopback", Type::kWords, Printed<&NodeSettings::loopback>(),
     R"(The node's own addresses (one of IPv4, one of IPv6), on its loopback interface; default: from
     `addressing.loopback`. Not of a host.)",
     "10.255.0.7 fd00:255::7"},
    {"nodes.NAME.on_machine", Type::kText, PlainPrinted<&NodeSettings::on_machine>(),
     R"(With `machines`: the one that has this node. Nodes without it are placed so that the links between machines carry as
     little as possible.)",
     "h1", "", "rryyrry"},
    {"nodes.NAME.on_host", Type::kAlias, Elsewhere(), "The former name of `on_machine`.", "",
     "nodes.NAME.on_machine", "rryyrry"},

    {"nodes.NAME.position", Type::kTexts, Custom<NodeSettings, PrintPosition>(),
     R"(Where the node is, metres (a third is its height): with `wifi`, and for a protocol that asks its ns-3 node for its
     MobilityModel, in every mode. Default: by `mobility`.)",
     "[30, 0]"},
    {"nodes.NAME.waypoints", Type::kTexts, Custom<NodeSettings, PrintWaypoints>(),
     R"(Times after convergence, the first of which is 0s, and where the node is then, metres. It is at the first
     place before, moves on straight lines between them, and stays at the last.)",
     "[0s 0 0, 10s 100 0]"},
    {"mobility", Type::kSection, Inner<&Scenario::mobility, HasMobility>(),
     R"(Where the nodes are that say nothing of it themselves, and how they move: those of `wifi` links, or without such a
     link all.)",
     "{layout: line, spacing: 80}"},
    {"mobility.layout", Type::kChoice, PlainMember<&Mobility::layout>(),
     R"(`grid`: as square as possible, row by row; `line`; `random`: uniformly in `area`, by the scenario's seed.)",
     "random", "grid line random"},
    {"mobility.spacing", Type::kInteger,
     PlainMember<&Mobility::spacing, HasSpacing>().From(0, 1'000'000),
     "Metres between neighbours of a grid or a line.", "100"},
    {"mobility.area", Type::kTexts, PlainPrinted<&Mobility::area>(),
     R"(Width and height, metres: of random places, and where the nodes of a model that needs it move.)",
     "[500, 300]"},
    {"mobility.model", Type::kText, PlainPrinted<&Mobility::model>(),
     R"(The ns-3 TypeId of a MobilityModel, by which they move from the simulation's start on: `ns3::RandomWaypointMobilityModel`,
     `ns3::SteadyStateRandomWaypointMobilityModel` (which chooses where they begin), `ns3::RandomWalk2dMobilityModel`,
     `ns3::RandomDirection2dMobilityModel` and `ns3::GaussMarkovMobilityModel` stay in `area`. Default: they stay where they are.)",
     "ns3::RandomWaypointMobilityModel"},
    {"mobility.attributes", Type::kTable, PlainPrinted<&Mobility::attributes>(),
     "Attributes of that TypeId.", "{Speed: 'ns3::ConstantRandomVariable[Constant=2]'}"},

    {"links", Type::kSections, Each<&Scenario::links>(),
     R"(What connects the nodes. Each entry has exactly one of `pair`, `line`, `ring`, `grid`, `star`,
     `shared`, `wifi`, `interface`.)",
     "[{line: all}]"},
    {"links[].pair", Type::kNodes, Printed<&LinkSettings::nodes, IsPair>(),
     "A point-to-point link between two nodes.", "[n0, n1]"},
    {"links[].line", Type::kNodes, Elsewhere(),
     "Point-to-point links from each node to the next. `all`: every node that is not a host.",
     "all"},
    {"links[].ring", Type::kNodes, Elsewhere(), "A line whose last node is linked to the first.",
     "[n0, n1, n2]"},
    {"links[].grid", Type::kSection, Elsewhere(),
     "A grid, filled row by row, linked to the right and below.", "{columns: 3, rows: 2}"},
    {"links[].grid.columns", Type::kInteger, Elsewhere(), "Nodes in a row.", "3"},
    {"links[].grid.rows", Type::kInteger, Elsewhere(), "Rows.", "2"},
    {"links[].grid.nodes", Type::kNodes, Elsewhere(All), "The nodes, row by row.", "all"},
    {"links[].star", Type::kSection, Elsewhere(), "Point-to-point links from one node to others.",
     "{center: n0, leaves: [n1, n2]}"},
    {"links[].star.center", Type::kNode, Elsewhere(), "The node in the middle.", "n0"},
    {"links[].star.leaves", Type::kNodes, Elsewhere(All),
     "The other nodes. `all`: every other node, including hosts.", "[n1, n2]"},
    {"links[].shared", Type::kNodes, Printed<&LinkSettings::nodes, IsShared>(),
     "One Ethernet (a bridge) that connects all these nodes.", "[n0, n1, n2]"},
    {"links[].wifi", Type::kSection, Inner<&LinkSettings::wifi, IsWifi>(),
     R"(A Wi-Fi channel of ns-3 that these nodes share, in mode `simulate` alone: real interfaces have none. Where
     the nodes are is said by `nodes.NAME.position`, `nodes.NAME.waypoints` or `mobility`. Channels do not disturb each other.)",
     "{nodes: all, standard: 80211n}", "", "yrrrryr"},
    {"links[].wifi.nodes", Type::kNodes, Printed<&Wifi::nodes>(All),
     "The nodes. `all`: every node, including hosts.", "[n0, n1, n2]", "", "yrrrryr"},
    {"links[].wifi.standard", Type::kChoice, PlainMember<&Wifi::standard>(),
     "The IEEE 802.11 standard, as ns-3 names it.", "80211n",
     "80211a 80211b 80211g 80211n 80211ac 80211ax", "yrrrryr"},
    {"links[].wifi.access_point", Type::kNode, PlainPrinted<&Wifi::access_point>(),
     "The node to which the others associate; if absent all are stations of an ad hoc network.",
     "n0", "", "yrrrryr"},
    {"links[].wifi.rate", Type::kText, PlainPrinted<&Wifi::rate>(),
     R"(The ns-3 WifiMode of all data frames to one station (`ns3::ConstantRateWifiManager`). If absent each station adapts its rate
     by what the other hears (`ns3::IdealWifiManager`, the default of ns-3's own helper).)",
     "OfdmRate6Mbps", "", "yrrrryr"},
    {"links[].wifi.range", Type::kInteger, PlainPrinted<&Wifi::range>().From(1, 1'000'000),
     R"(Metres within which a signal is received at full strength, and beyond which not at all. If absent it gets weaker
     with the logarithm of the distance (`ns3::LogDistancePropagationLossModel`), and frames are lost by the errors
     that it then has.)",
     "120", "", "yrrrryr"},
    {"links[].wifi.attributes", Type::kTable, PlainPrinted<&Wifi::attributes>(),
     "Attributes of ns3::YansWifiPhy.", "{TxPowerStart: 20, TxPowerEnd: 20}", "", "yrrrryr"},
    {"links[].interface", Type::kText, Printed<&LinkSettings::interface>(),
     R"(An interface of this machine that is moved into `node` during the run (not in mode
     `simulate`): the node's routing protocol speaks over it with what is on its network. One of a
     Wi-Fi card takes the card's others along, as `nodes.NAME.interfaces` does.)",
     "enp3s0", "", "ryyyyyy"},
    {"links[].node", Type::kNode, Custom<LinkSettings, PrintNode>(),
     "With `interface`: whose it is.", "n0", "", "ryyyyyy"},
    {"links[].name", Type::kName, Printed<&LinkSettings::name>().From(1, 80),
     R"(Name of the link (`pair`, `shared`, `wifi`, `interface`); default `A-B`, or `lan0`, `lan1`, ..., `wlan0`, ..., or
     that of the interface.)",
     "backbone"},
    {"links[].spec", Type::kSpec, PlainPrinted<&LinkSettings::spec>(),
     R"(What the link does to frames in each direction: delay, jitter, dist, loss, dup, reorder, ber,
     rate, queue, aqm. Empty: a plain wire (mode `simulate`: 100 Mbit/s).)",
     "delay=20ms rate=10Mbit"},
    {"links[].up", Type::kSpec, PlainPrinted<&LinkSettings::up>(),
     "Instead of `spec`, from the first node to the second.", "rate=1Mbit"},
    {"links[].down", Type::kSpec, PlainPrinted<&LinkSettings::down>(),
     "Instead of `spec`, from the second node to the first.", "rate=16Mbit"},
    {"links[].classes", Type::kSections, Each<&LinkSettings::classes>(),
     R"(Classes of packets with SPECs of their own, as `--class` of [`viaduct path`](path.md#classes). A packet belongs to the
     first that matches, and then bypasses the link's rate, queue and delay; a class counts its own packets
     (`loss=list:2,4`). Not for `emulator: kernel`.)",
     "[{name: dns, filter: udp port 53, spec: loss=5%}]"},
    {"links[].classes[].name", Type::kName, Printed<&LinkClass::name>().From(1, 32),
     "Its name, in results and for `viaduct path set`.", "dns"},
    {"links[].classes[].filter", Type::kText, PlainPrinted<&LinkClass::filter>(),
     "Which packets: tcpdump's syntax (pcap-filter(7)).", "udp port 53"},
    {"links[].classes[].spec", Type::kSpec, PlainPrinted<&LinkClass::spec>(),
     "What the link does to them in each direction. Empty: a plain wire.", "loss=list:2,4"},
    {"links[].classes[].up", Type::kSpec, PlainPrinted<&LinkClass::up>(),
     "Instead of `spec`, from the first node to the second.", "loss=5%"},
    {"links[].classes[].down", Type::kSpec, PlainPrinted<&LinkClass::down>(),
     "Instead of `spec`, from the second node to the first.", "delay=20ms"},
    {"links[].emulator", Type::kChoice, Printed<&LinkSettings::emulator, ConnectsNodes>(),
     "What implements the SPEC in the real modes; default: `emulator` of the file.", "kernel",
     "engine kernel", "-yyyyyy"},
    // The minimum of 68 bytes is from RFC 791.
    {"links[].mtu", Type::kInteger,
     PlainMember<&LinkSettings::mtu>().From(68, LinkSettings::kMaxMtu), "Largest IP packet, bytes.",
     "9000"},
    {"links[].addresses", Type::kTexts, Printed<&LinkSettings::addresses>(),
     R"(Addresses (`pair`, `shared`, `wifi`, `interface`), one per node in their order; then optionally one
     IPv6 address per node. Default: subnets from `addressing`, in the order of the links; those of
     an `interface` must be given. With `WMRP`: `none` for RBridges, and by default one subnet for
     all hosts.)",
     "[10.1.0.1/24, 10.1.0.2/24]"},

    {"emulator", Type::kChoice, Elsewhere(DefaultOf<&LinkSettings::emulator>),
     R"(What implements the links' SPECs in the real modes: `engine`, Viaduct's path emulator, as in
     mode `simulate`; `kernel`, the kernel's own queueing disciplines (netem, tbf, codel...), as far
     as it has them, with their own models and random numbers.)",
     "kernel", "engine kernel", "-yyyyyy"},
    {"addressing", Type::kSection, Elsewhere(), "The source of automatic addresses.",
     "{ipv4: 192.168.0.0/16}"},
    {"addressing.ipv4", Type::kPrefix, Elsewhere([] { return std::string("10.0.0.0/8"); }),
     R"(IPv4: a /30 for each point-to-point link, a /24 (or what is needed) for each shared one; or
     `none`.)",
     "none"},
    {"addressing.ipv6", Type::kPrefix, Elsewhere([] { return std::string("none"); }),
     "IPv6: a /64 for each link; or `none`.", "fd00::/48"},
    {"addressing.loopback", Type::kWords, Elsewhere([] { return std::string("none"); }),
     R"(Gives each node that is not a host an address of its own, beside those of its links, from this prefix
     (one of IPv4, one of IPv6, or both), which the routing protocol announces (OLSR, RIP, RIPng, `static`). Flows
     and pings to a node, its name and `{n4}` mean that address, which stays reachable while any of the node's links
     is up.)",
     "10.255.0.0/16"},

    {"multicast", Type::kSections, Each<&Scenario::multicast>(),
     R"(Static routes to multicast groups, of ns-3's static routing (modes `simulate` and `offload`,
     there in the kernels' tables with every data plane).)",
     "[{node: n1, source: n0, group: 239.1.1.1, from: n0-n1, to: [n1-n2]}]", "", "yrryyyy"},
    {"multicast[].node", Type::kNode, PlainPrinted<&MulticastRoute::node>(), "Whose route it is.",
     "n1", "", "yrryyyy"},
    {"multicast[].source", Type::kText, PlainPrinted<&MulticastRoute::source>(),
     "Whose packets: a node (its first address of the group's family) or an address.", "n0", "",
     "yrryyyy"},
    {"multicast[].group", Type::kText, PlainPrinted<&MulticastRoute::group>(),
     "The group, an IPv4 or IPv6 multicast address.", "239.1.1.1", "", "yrryyyy"},
    {"multicast[].from", Type::kLink, PlainPrinted<&MulticastRoute::from>(),
     "The link that they must come in by.", "n0-n1", "", "yrryyyy"},
    {"multicast[].to", Type::kLinks, Printed<&MulticastRoute::to>(),
     "The links that they leave by. `all`: the node's other links.", "[n1-n2, n1-n3]", "",
     "yrryyyy"},

    {"flows", Type::kSections, Each<&Scenario::flows>(), "Measured traffic.",
     "[{type: udp, from: n0, to: n4}]", "", "yyyynyy"},
    {"flows[].type", Type::kChoice, PlainMember<&Flow::kind>(), "The kind of traffic.", "tcp",
     "udp tcp ping", "yyyynyy"},
    {"flows[].name", Type::kText, Printed<&Flow::name>(), "Name in tables; default `udp n0->n4`.",
     "video", "", "yyyynyy"},
    {"flows[].from", Type::kNode, Printed<&Flow::from>(), "The sender.", "n0", "", "yyyynyy"},
    {"flows[].to", Type::kNode, Printed<&Flow::to>(), "The receiver.", "n4", "", "yyyynyy"},
    {"flows[].address", Type::kText, PlainPrinted<&Flow::address>(),
     R"(Which of the receiver's addresses: `ipv4`, `ipv6`, the name of a link (the first one on it),
     both (`n3-n4/ipv6`), or the address itself; default: its first, IPv4 before IPv6.)",
     "ipv6", "", "yyyynyy"},
    {"flows[].group", Type::kText, PlainPrinted<&Flow::group>(),
     R"(UDP in modes `simulate` and `offload`: the multicast group that the packets go to and the
     receiver joins (TTL 64). Flows of one sender to one group are the same packets, sent once, with
     a result for each receiver; routes are the protocol's or those of `multicast`.)",
     "239.1.1.1", "", "yrrynyy"},
    {"flows[].link", Type::kLink, PlainPrinted<&Flow::link>(),
     "With `group`: the sender's link that they are sent by; default: its first with an address of "
     "the group's family.",
     "n0-n1", "", "yrrynyy"},
    {"flows[].size", Type::kInteger, Member<&Flow::size, HasPackets>(),
     "Payload of a UDP or ping packet, bytes.", "1470", "", "yyyynyy"},
    {"flows[].rate", Type::kRate, PlainPrinted<&Flow::rate>(),
     R"(Payload sent, UDP and TCP; default: as fast as possible (mode `simulate`, UDP: the rate of
     the sender's link).)",
     "2Mbit", "", "yyyynyy"},
    {"flows[].interval", Type::kDuration, PlainMember<&Flow::interval, IsPing>(),
     "Time between two pings, 100us or more.", "10ms", "", "yyyynyy"},
    {"flows[].start", Type::kDuration, Member<&Flow::start>(), "When, after convergence.", "2s", "",
     "yyyynyy"},
    {"flows[].duration", Type::kDuration, Printed<&Flow::duration>(),
     "How long (TCP: whole seconds, a day at most); default: until the end of the run.", "5s", "",
     "yyyynyy"},
    {"traffic", Type::kAlias, Elsewhere(), "Another name of `flows`.", "", "flows", "yyyynyy"},

    {"programs", Type::kSections, Each<&Scenario::programs>(),
     "Programs that run in nodes (in mode `simulate`: in nodes whose `stack` is a kernel).",
     "[{node: n0, command: ping -c 3 10.0.0.2}]", "", "yyyynyy"},
    {"programs[].name", Type::kText, Printed<&Program::name>(),
     "Name in tables; default: the command's first word.", "web server", "", "yyyynyy"},
    {"programs[].node", Type::kNode, Printed<&Program::node>(), "Where.", "n0", "", "yyyynyy"},
    {"programs[].command", Type::kWords, Printed<&Program::command>(),
     R"(A program and its arguments, split as a shell would but run without one; or a list. `{n4}`
     stands for the first address of node n4.)",
     "curl -s http://{n4}/", "", "yyyynyy"},
    {"programs[].start", Type::kDuration, Member<&Program::start>(), "When, after convergence.",
     "1s", "", "yyyynyy"},
    {"programs[].timeout", Type::kDuration, Printed<&Program::timeout>(),
     "If it runs longer, it is stopped and has failed; default: until the end of the run.", "5s",
     "", "yyyynyy"},
    {"programs[].background", Type::kBoolean, PlainMember<&Program::background>(),
     "The run does not wait for it: it is stopped at the end, and its status is ignored.", "true",
     "", "yyyynyy"},
    {"programs[].expect", Type::kInteger, PlainMember<&Program::expect, IsAwaited>().From(0, 255),
     "The exit status that means success.", "22", "", "yyyynyy"},
    {"programs[].new_privileges", Type::kBoolean, PlainMember<&Program::new_privileges>(),
     R"(Set-uid bits and capabilities of files count for it and what it starts (sudo, dumpcap), which
     root must allow; it has the machine's host name then. See docs/security.md.)",
     "true", "", "-yyynyy"},
    {"programs[].environment", Type::kTable, PlainPrinted<&Program::environment>(),
     "Variables added to the environment.", "{LANG: C}", "", "yyyynyy"},

    {"events", Type::kSections, Each<&Scenario::link_events>(),
     R"(Changes during the run. Each has exactly one of `state`, `set` (or `up`, `down`),
     `capture`.)",
     "[{at: 3s, link: n1-n2, state: down}]", "", "yyyynyy"},
    {"events[].at", Type::kDuration, Printed<&LinkEvent::at>(), "When, after convergence.", "3s",
     "", "yyyynyy"},
    {"events[].link", Type::kLink, Printed<&LinkEvent::link>(), "The link.", "n1-n2", "",
     "yyyynyy"},
    {"events[].state", Type::kChoice, Custom<LinkEvent, PrintState>(), "Its new state.", "down",
     "up down", "yyyynyy"},
    {"events[].set", Type::kText, PlainPrinted<&LinkEvent::set>(),
     R"(The keys of its SPEC that change, in every direction, as in `viaduct path set`: the others
     stay, `KEY=none` removes one. Not with `emulator: kernel`.)",
     "delay=50ms loss=1%", "", "yyyynyy"},
    {"events[].up", Type::kText, PlainPrinted<&LinkEvent::up>(),
     "Instead of `set`, from the first node to the second (`pair`).", "rate=none", "", "yyyynyy"},
    {"events[].down", Type::kText, PlainPrinted<&LinkEvent::down>(),
     "Instead of `set`, from the second node to the first.", "loss=5%", "", "yyyynyy"},
    {"events[].capture", Type::kChoice, Custom<LinkEvent, PrintCapture>(),
     "Starts or stops the capture of its packets.", "start", "start stop", "yyyynyy"},
    {"captures", Type::kLinks, Printed<&Scenario::captures>(),
     R"(Links whose packets are captured from the start, each in a pcap file of its own; `events` may
     start and stop captures. In the real modes each end's arrivals are captured, after the SPEC
     has lost and delayed packets; in mode `simulate` what the first node sends (before it) and
     gets (after it). Of an interface of the machine both directions are captured. Frames are as on
     a wire: what a node's kernel leaves to its interface to cut is cut, into frames of one time, and
     checksums are finished.)",
     "[n0-n1]", "", "yyyynyy"},
    {"state", Type::kSection, Group<Scenario, HasState>(),
     R"(Writes the state of nodes whose `stack` is a kernel to CSV files beside the captures:
     `NODE-tcp.csv` (TCP_INFO of each socket), `NODE-qdisc.csv`, `NODE-nstat.csv` (counters that
     have changed).)",
     "{interval: 10ms}", "", "yrrrryr"},
    {"state.nodes", Type::kNodes, Printed<&Scenario::state>(All),
     "The nodes. `all`: every node that has a kernel.", "[n0, n2]", "", "yrrrryr"},
    {"state.interval", Type::kDuration, PlainMember<&Scenario::state_interval>(),
     "The time between two samples.", "1ms", "", "yrrrryr"},
};

}  // namespace

std::span<const Key> Keys() { return kKeys; }

const Key& FindKey(std::string_view path) {
  for (const Key& key : kKeys) {
    if (path == key.path) return key;
  }
  throw std::logic_error(fmt::format("no scenario key '{}'", path));
}

std::string_view Key::Name() const {
  const std::string_view whole = path;
  return whole.substr(whole.rfind('.') + 1);
}

std::string_view Key::Section() const {
  const std::string_view whole = path;
  return whole.substr(0, whole.size() - std::min(Name().size() + 1, whole.size()));
}

}  // namespace viaduct::scenario
