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
    // The seed may be from 1 to the maximum seed of ns-3's random generator (MRG32k3a, L'Ecuyer
    // 1999).
    {"seed", Type::kInteger, PlainMember<&Scenario::seed>().From(1, 4294944442),
     "Seed of every random stream.", "7"},
    {"duration", Type::kDuration, PlainMember<&Scenario::duration>(),
     R"(The duration of the run after convergence of the routes. A run with flows or programs ends
     as soon as all flows and programs have ended.)",
     "30s"},
    {"mode", Type::kChoice, PlainMember<&Scenario::mode>(),
     R"(`simulate`: everything in ns-3, in virtual time. The other modes use real interfaces: in
     `traditional`, ns-3's own emulation forwards packets; in `emulate`, Viaduct's ns-3 simulator;
     in `offload`, the kernel or another `data_plane`, by the routes of the protocol in ns-3.)",
     "emulate", "simulate traditional emulate offload"},
    {"data_plane", Type::kPlane, Custom<Scenario, PrintSharedPlane>(),
     R"(What forwards nodes' packets, by the same routes in each case, in all modes except
     `simulate`: `kernel`, the node's kernel; `ebpf`, on links without a SPEC an eBPF program, which
     bypasses the kernel's IP stack, otherwise the kernel; `joined`, an eBPF program as in `ebpf`,
     which forwards a packet over several links without a SPEC in one step; `userspace`, a process
     without privileges; `simulator`, ns-3; `auto`, for each node the fastest of `joined`, `ebpf`
     and `kernel` that this machine supports, that makes a difference at the node and that is right
     for the scenario (the results and the command report the choice and the reason). The default
     depends on `mode`. With `WMRP`: `userspace` (the default in mode `offload`), `ebpf`,
     `simulator`, or `auto`, which is `ebpf` if this machine supports eBPF. Or a map, `{program:
     NAME}`, for nodes that forward frames.)",
     "ebpf", "", "-yyyyyy"},
    {"data_plane.program", Type::kText, Elsewhere(),
     R"(The program with which the nodes that are not hosts forward the hosts' Ethernet frames, in
     every mode: `bridge` (a learning bridge), `hub` (a repeater), or a shared library (`FILE.so`)
     with a class of your own ([layer 2](howto/layer2.md)). All hosts are on one network. In mode
     `offload` the program runs in a process without privileges, in the other modes in the
     simulator. `routing.protocol` is then `none`, the default, or the TypeId of an ns3::Object of
     your own, which is aggregated to these nodes and writes the program's table.)",
     "libmesh.so", "", "yyyyyyr"},
    {"stack", Type::kText, Elsewhere([] { return std::string("ns3"); }),
     R"(The nodes' network stack in mode `simulate`: `ns3`, or a real Linux kernel in virtual time:
     `kernel` (the newest that `viaduct kernel list` shows) or `kernel:VERSION` (VERSION may be the
     path of an executable). Mode `offload` accepts `kernel`, too, which means this machine's kernel
     there.)",
     "kernel:6.12", "", "yrryyyy"},
    {"kernel_memory", Type::kInteger, PlainPrinted<&Scenario::kernel_memory>().From(16, 65536),
     R"(Memory in MiB of the guest in which the kernels in virtual time run (mode `simulate`, with
     `stack: kernel`; nodes with one version share a guest). If absent: the amount that the guest
     needs for its nodes. The memory also determines TCP's windows, as on any machine: two runs with
     different values are two different experiments.)",
     "256", "", "yrrrryr"},
    {"guests", Type::kChoice, PlainPrinted<&Scenario::guests>(),
     R"(Where the kernels of `stack: kernel` run in mode `simulate`: `embedded`, in the simulator's
     process, which is faster and gives the same results (kernels that cannot run there have
     separate processes); `process`, each in a separate process. The default is `embedded`; with
     `programs` the default is `process` ([what that
     means](kernel.md#kernels-in-the-simulators-process)).)",
     "process", "process embedded", "y----y-"},
    {"routing", Type::kProtocol, Inner<&Scenario::routing>(),
     R"(The routing protocol of every node that is not a host: a map, or only the protocol
     (`routing: none`).)",
     "{protocol: ns3::Rip}"},
    {"routing.protocol", Type::kText, PlainMember<&Routing::protocol>(),
     R"(`OLSR`, `RIP`, `RIPng`, `DSDV` or `AODV` (in any letter case); the ns-3 TypeId of an
     Ipv4RoutingProtocol or Ipv6RoutingProtocol; or `static`: shortest paths, computed once. The run
     does not wait for a protocol that finds routes on demand (AODV); the first packets wait
     instead. Or `WMRP`: the nodes that are not hosts are RBridges, which carry the hosts' Ethernet
     frames ([WMRP](wmrp.md)). Or `none`: nodes have only routes to the networks of their own links
     (a host: to its gateway); other routes are made by programs that run in the nodes, and the run
     does not wait for these routes ([routing daemons](howto/daemons.md)).)",
     "AODV"},
    {"routing.attributes", Type::kTable, PlainPrinted<&Routing::attributes>(),
     "ns-3 attributes of the routing protocol.", "{HelloInterval: 1s}"},
    {"routing.sample", Type::kDuration, PlainPrinted<&Routing::sample>(),
     R"(The interval between samples of the routes, from convergence on (`route_samples` in the
     results): each sample contains, for each node, the next hop that the node's protocol gives for
     each other node. Default: no samples. Not supported with `WMRP`, with several `machines`, or
     with protocols that find routes on demand.)",
     "1s", "", "yyyynnr"},
    {"convergence", Type::kSection, Group<Scenario>(),
     "Settings for the convergence of the routes.", "{timeout: 30s}"},
    {"convergence.timeout", Type::kDuration, PlainMember<&Scenario::convergence_timeout>(),
     R"(The maximum time to wait until all pairs of nodes can reach each other; the run does not
     wait if the protocol finds routes on demand.)",
     "2min"},
    {"convergence.required", Type::kBoolean, PlainMember<&Scenario::convergence_required>(),
     "Whether the run fails if some nodes cannot reach each other when `timeout` has passed.",
     "false"},
    {"timing", Type::kSection, Group<Scenario, HasTiming>(),
     "How accurate the run's own timing must be.", "{lateness_limit: 1ms}", "", "-yyy-yy"},
    {"timing.lateness_limit", Type::kDuration, PlainPrinted<&Scenario::lateness_limit>(),
     R"(The limit of lateness (delay after the planned time): the run is VOID (exit status 4) if
     more than 1% of the simulator's events, packets of links with a SPEC, or changes in `events`
     exceed it.)",
     "1ms", "", "-yyy-yy"},
    {"hub", Type::kSection, Group<Scenario, HasHub>(), "Settings of `viaduct hub`.", "{readers: 2}",
     "", "-----y-"},
    {"hub.readers", Type::kInteger, PlainPrinted<&Scenario::hub_readers>().From(0, 64),
     R"(The number of threads that receive the clients' datagrams, each from a separate UDP socket,
     to which the kernel assigns a share of the clients. 0: the simulator, or the lab's path engine,
     receives. If absent: one less than the number of processors for the hub, at most 8.)",
     "4", "", "-----y-"},
    {"hub.queue", Type::kInteger, PlainPrinted<&Scenario::hub_queue>().From(256, 1 << 20),
     R"(The maximum number of frames from clients that wait for the simulation or for the lab's
     links, all clients together. While several clients have queued frames, each client is limited
     to its share. With a larger queue, more frames survive a long stall of the machine, but frames
     wait longer when clients flood the hub. Each place in the queue needs memory for the longest
     frame of any link. If absent: 4096.)",
     "65536", "", "-----y-"},

    {"machines", Type::kNodeSet, Custom<Scenario, PrintMachines>(),
     R"(Runs the lab on these machines together ([several machines](machines.md)), in the modes `emulate`
     and `offload`: a map from the machines' names to their settings.)",
     "{h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}}", "", "rryyrry"},
    {"hosts", Type::kAlias, Elsewhere(), "The former name of `machines`.", "", "machines",
     "rryyrry"},
    {"machines.NAME", Type::kSection, Elsewhere(), "Settings of one machine.",
     "{address: 192.0.2.3}", "", "rryyrry"},
    {"machines.NAME.address", Type::kText, Custom<Machine, PrintAddress>(),
     "The machine's address, IPv4 or IPv6, to which the other machines send the packets of links "
     "between machines.",
     "192.0.2.3", "", "rryyrry"},
    {"machines.NAME.login", Type::kText, PlainPrinted<&Machine::login>(),
     "The name with which `mpirun` reaches the machine by ssh; default: the address.",
     "user@h3.example", "", "rryyrry"},

    {"nodes", Type::kNodeSet, Custom<Scenario, PrintNodes>(),
     R"(The nodes: a number (`5` creates n0 to n4), a list of names, or a map from names to
     settings, which may also contain `count`.)",
     "[a, b, c]"},
    {"nodes.count", Type::kInteger, Elsewhere(), "How many nodes n0, n1, ... to add.", "5"},
    {"nodes.NAME", Type::kSection, Elsewhere(), "Settings of one node; may be empty.",
     "{host: true}"},
    {"nodes.NAME.host", Type::kBoolean, PlainMember<&NodeSettings::host>(),
     R"(Whether the node is a host, which runs no routing protocol and forwards nothing; it has a
     default route to `gateway`. With `WMRP`: all hosts are on one network and have no gateway.)",
     "true"},
    {"nodes.NAME.gateway", Type::kNode, PlainPrinted<&NodeSettings::gateway>(),
     "The neighbour to which a host sends its packets. May be omitted if the host has only one "
     "neighbour.",
     "n0"},
    {"nodes.NAME.routing", Type::kChoice, Custom<NodeSettings, PrintNodeRouting>(),
     R"(`none`: this node, a router, does not run the protocol of `routing`. Programs that run in
     the node make its routes ([routing daemons](howto/daemons.md)); the run waits for
     convergence only between nodes that are connected without this node. In mode `emulate` the
     node's `data_plane` is `kernel` unless it is set. Not supported with `WMRP` or with several
     `machines`.)",
     "none", "none", "yyyyyyr"},
    {"nodes.NAME.data_plane", Type::kPlane, Custom<NodeSettings, PrintPlane>(),
     "Where this node's packets are forwarded; default: the top-level `data_plane`.", "kernel", "",
     "-yyyyyy"},
    {"nodes.NAME.data_plane.program", Type::kText, Elsewhere(),
     "The program that forwards this node's frames; default: the top-level `data_plane.program`.",
     "hub", "", "yyyyyyr"},
    {"nodes.NAME.stack", Type::kText, Custom<NodeSettings, PrintStack>(),
     "This node's network stack; default: the top-level `stack`.", "kernel", "", "yrryyyy"},
    {"nodes.NAME.sysctls", Type::kTable, PlainPrinted<&NodeSettings::sysctls>(),
     R"(Kernel settings (sysctls) of the node's network namespace, set after Viaduct's own settings.
     Settings of the neighbour table (`net.ipv4.neigh.eth0.*`) also apply in ns-3.)",
     "{net.ipv4.tcp_congestion_control: reno}"},
    {"nodes.NAME.interfaces", Type::kTexts, PlainPrinted<&NodeSettings::physical_interfaces>(),
     R"(Interfaces of this machine that are moved into the node during the run, only for the node's
     kernel and programs; with `links[].interface` the routing protocol uses the interface, too. All
     interfaces of a Wi-Fi card are moved to the same node.)",
     "[enp3s0]", "", "ryyyyyy"},
    {"nodes.NAME.container", Type::kText, PlainPrinted<&NodeSettings::container>(),
     R"(The container that is the node: a running container of docker or podman, by its name; or a
     network namespace, by its name (`ip netns`) or a process's pid. The container gets the node's
     interfaces, addresses and routes while the lab is up, and is left as it was before. It must
     have no `eth0` and no default route (`--network none`), and must belong to you, unless root
     itself runs the command. Such a node is a host; it runs its own programs, but no flows or
     programs of the scenario. Not supported in mode `simulate`.)",
     "web", "", "ryyyyyr"},
    {"nodes.NAME.remote", Type::kText, Custom<NodeSettings, PrintRemote>(),
     R"(For `viaduct hub`: the node's programs run on another machine, its client. `true`: the
     machine that claims the node with the hub's key (`viaduct join`); an address: the machine with
     this address, which uses a VXLAN interface of its kernel; `any`: the first machine that sends a
     frame for the node. Such a node is a host, on one link; with AODV, DSDV, or `host: false`, it
     is a router ([remote nodes](remote.md)). Other commands treat the node as an ordinary node.)",
     "192.0.2.7", "", "-----y-"},
    {"nodes.NAME.vni", Type::kInteger, Custom<NodeSettings, PrintVni>().From(1, 0xffffff),
     "With `remote`: the node's VXLAN network identifier (VNI); default: the lowest free VNI.",
     "17", "", "-----y-"},

    {"nodes.NAME.loopback", Type::kWords, Printed<&NodeSettings::loopback>(),
     R"(The node's own addresses (one IPv4 address, one IPv6 address, or both), on its loopback
     interface; default: from `addressing.loopback`. Not supported for a host.)",
     "10.255.0.7 fd00:255::7"},
    {"nodes.NAME.on_machine", Type::kText, PlainPrinted<&NodeSettings::on_machine>(),
     R"(With `machines`: the machine on which this node runs. Nodes without this key are placed so that
     the links between machines carry as little traffic as possible.)",
     "h1", "", "rryyrry"},
    {"nodes.NAME.on_host", Type::kAlias, Elsewhere(), "The former name of `on_machine`.", "",
     "nodes.NAME.on_machine", "rryyrry"},

    {"nodes.NAME.position", Type::kTexts, Custom<NodeSettings, PrintPosition>(),
     R"(The node's position in metres: x, y and, optionally, the height. `wifi` links use the
     position, and in every mode protocols that query the MobilityModel of their ns-3 node. Default:
     from `mobility`.)",
     "[30, 0]"},
    {"nodes.NAME.waypoints", Type::kTexts, Custom<NodeSettings, PrintWaypoints>(),
     R"(The node's positions over time: each entry is a time after convergence, 0s in the first, and
     the position at that time in metres. Before convergence the node is at the first position; it
     moves on straight lines between the positions, and stays at the last.)",
     "[0s 0 0, 10s 100 0]"},
    {"mobility", Type::kSection, Inner<&Scenario::mobility, HasMobility>(),
     R"(The positions and movement of nodes that have no `position` or `waypoints`: of the nodes of
     `wifi` links, or of all nodes if there is no such link.)",
     "{layout: line, spacing: 80}"},
    {"mobility.layout", Type::kChoice, PlainMember<&Mobility::layout>(),
     R"(The arrangement of the nodes: `grid`: as square as possible, row by row; `line`; `random`:
     uniformly in `area`, by the scenario's seed.)",
     "random", "grid line random"},
    {"mobility.spacing", Type::kInteger,
     PlainMember<&Mobility::spacing, HasSpacing>().From(0, 1'000'000),
     "The distance in metres between neighbours in a grid or a line.", "100"},
    {"mobility.area", Type::kTexts, PlainPrinted<&Mobility::area>(),
     R"(Width and height in metres of the area for random positions, and for the movement of nodes
     by a model that needs an area.)",
     "[500, 300]"},
    {"mobility.model", Type::kText, PlainPrinted<&Mobility::model>(),
     R"(The ns-3 TypeId of a MobilityModel, with which the nodes move from the simulation's start
     on: `ns3::RandomWaypointMobilityModel`, `ns3::SteadyStateRandomWaypointMobilityModel` (which
     chooses the first positions itself), `ns3::RandomWalk2dMobilityModel`,
     `ns3::RandomDirection2dMobilityModel` and `ns3::GaussMarkovMobilityModel` stay in `area`.
     Default: the nodes do not move.)",
     "ns3::RandomWaypointMobilityModel"},
    {"mobility.attributes", Type::kTable, PlainPrinted<&Mobility::attributes>(),
     "ns-3 attributes of the mobility model.",
     "{Speed: 'ns3::ConstantRandomVariable[Constant=2]'}"},

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
     "A grid, filled row by row, in which each node is linked to its right and lower neighbours.",
     "{columns: 3, rows: 2}"},
    {"links[].grid.columns", Type::kInteger, Elsewhere(), "The number of nodes in a row.", "3"},
    {"links[].grid.rows", Type::kInteger, Elsewhere(), "The number of rows.", "2"},
    {"links[].grid.nodes", Type::kNodes, Elsewhere(All), "The nodes, row by row.", "all"},
    {"links[].star", Type::kSection, Elsewhere(), "Point-to-point links from one node to others.",
     "{center: n0, leaves: [n1, n2]}"},
    {"links[].star.center", Type::kNode, Elsewhere(), "The node in the middle.", "n0"},
    {"links[].star.leaves", Type::kNodes, Elsewhere(All),
     "The other nodes. `all`: every other node, including hosts.", "[n1, n2]"},
    {"links[].shared", Type::kNodes, Printed<&LinkSettings::nodes, IsShared>(),
     "One Ethernet (a bridge) that connects all these nodes.", "[n0, n1, n2]"},
    {"links[].wifi", Type::kSection, Inner<&LinkSettings::wifi, IsWifi>(),
     R"(A Wi-Fi channel of ns-3 that these nodes share, only in mode `simulate`, because real
     interfaces have no such channel. The nodes' positions are set by `nodes.NAME.position`,
     `nodes.NAME.waypoints` or `mobility`. Channels do not disturb each other.)",
     "{nodes: all, standard: 80211n}", "", "yrrrryr"},
    {"links[].wifi.nodes", Type::kNodes, Printed<&Wifi::nodes>(All),
     "The nodes. `all`: every node, including hosts.", "[n0, n1, n2]", "", "yrrrryr"},
    {"links[].wifi.standard", Type::kChoice, PlainMember<&Wifi::standard>(),
     "The IEEE 802.11 standard, as ns-3 names it.", "80211n",
     "80211a 80211b 80211g 80211n 80211ac 80211ax", "yrrrryr"},
    {"links[].wifi.access_point", Type::kNode, PlainPrinted<&Wifi::access_point>(),
     "The node with which the other nodes associate; if absent, all nodes are stations of an ad "
     "hoc network.",
     "n0", "", "yrrrryr"},
    {"links[].wifi.rate", Type::kText, PlainPrinted<&Wifi::rate>(),
     R"(The ns-3 WifiMode of all unicast data frames (`ns3::ConstantRateWifiManager`). If absent,
     each station adapts its rate to the signal that the other station receives
     (`ns3::IdealWifiManager`, the default of ns-3's own helper).)",
     "OfdmRate6Mbps", "", "yrrrryr"},
    {"links[].wifi.range", Type::kInteger, PlainPrinted<&Wifi::range>().From(1, 1'000'000),
     R"(The distance in metres within which a signal is received at full strength, and beyond
     which it is not received at all. If absent, the signal gets weaker with the logarithm of the
     distance (`ns3::LogDistancePropagationLossModel`), and frames are lost because of the
     resulting errors.)",
     "120", "", "yrrrryr"},
    {"links[].wifi.attributes", Type::kTable, PlainPrinted<&Wifi::attributes>(),
     "Attributes of ns3::YansWifiPhy.", "{TxPowerStart: 20, TxPowerEnd: 20}", "", "yrrrryr"},
    {"links[].interface", Type::kText, Printed<&LinkSettings::interface>(),
     R"(An interface of this machine that is moved into `node` during the run (not in mode
     `simulate`): over this interface the node's routing protocol communicates with the devices on
     its network. If a Wi-Fi card has other interfaces, these are moved, too, as with
     `nodes.NAME.interfaces`.)",
     "enp3s0", "", "ryyyyyy"},
    {"links[].node", Type::kNode, Custom<LinkSettings, PrintNode>(),
     "With `interface`: the node that gets the interface.", "n0", "", "ryyyyyy"},
    {"links[].name", Type::kName, Printed<&LinkSettings::name>().From(1, 80),
     R"(Name of the link (`pair`, `shared`, `wifi`, `interface`); default: `A-B`, or `lan0`, `lan1`,
     ..., `wlan0`, ..., or the name of the interface.)",
     "backbone"},
    {"links[].spec", Type::kSpec, PlainPrinted<&LinkSettings::spec>(),
     R"(What the link does to frames in each direction: delay, jitter, dist, loss, dup, reorder,
     ber, rate, queue, aqm. Empty: nothing (but in mode `simulate` the rate is 100 Mbit/s).)",
     "delay=20ms rate=10Mbit"},
    {"links[].up", Type::kSpec, PlainPrinted<&LinkSettings::up>(),
     "The SPEC from the first node to the second, instead of `spec`.", "rate=1Mbit"},
    {"links[].down", Type::kSpec, PlainPrinted<&LinkSettings::down>(),
     "The SPEC from the second node to the first, instead of `spec`.", "rate=16Mbit"},
    {"links[].classes", Type::kSections, Each<&LinkSettings::classes>(),
     R"(Classes of packets with separate SPECs, as with `--class` of [`viaduct
     path`](path.md#classes). A packet belongs to the first class that matches, and then bypasses
     the link's rate, queue and delay; packet numbers in a class's SPEC (`loss=list:2,4`) count only
     the packets of the class. Not supported with `emulator: kernel`.)",
     "[{name: dns, filter: udp port 53, spec: loss=5%}]"},
    {"links[].classes[].name", Type::kName, Printed<&LinkClass::name>().From(1, 32),
     "The name of the class, in results and for `viaduct path set`.", "dns"},
    {"links[].classes[].filter", Type::kText, PlainPrinted<&LinkClass::filter>(),
     "The filter that selects the packets of the class, in tcpdump's syntax (pcap-filter(7)).",
     "udp port 53"},
    {"links[].classes[].spec", Type::kSpec, PlainPrinted<&LinkClass::spec>(),
     "What the link does to the packets of the class in each direction. Empty: nothing.",
     "loss=list:2,4"},
    {"links[].classes[].up", Type::kSpec, PlainPrinted<&LinkClass::up>(),
     "The SPEC of the class from the first node to the second, instead of `spec`.", "loss=5%"},
    {"links[].classes[].down", Type::kSpec, PlainPrinted<&LinkClass::down>(),
     "The SPEC of the class from the second node to the first, instead of `spec`.", "delay=20ms"},
    {"links[].emulator", Type::kChoice, Printed<&LinkSettings::emulator, ConnectsNodes>(),
     "What implements the SPEC in all modes except `simulate`; default: the top-level `emulator`.",
     "kernel", "engine kernel", "-yyyyyy"},
    // The minimum MTU, 68 bytes, is from RFC 791.
    {"links[].mtu", Type::kInteger,
     PlainMember<&LinkSettings::mtu>().From(68, LinkSettings::kMaxMtu), "Largest IP packet, bytes.",
     "9000"},
    {"links[].addresses", Type::kTexts, Printed<&LinkSettings::addresses>(),
     R"(Addresses (`pair`, `shared`, `wifi`, `interface`): one per node in the nodes' order, then
     optionally one IPv6 address per node. Default: subnets from `addressing`, in the order of the
     links; the addresses of an `interface` must be set. With `WMRP`: `none` for RBridges; by
     default all hosts are in one subnet.)",
     "[10.1.0.1/24, 10.1.0.2/24]"},

    {"emulator", Type::kChoice, Elsewhere(DefaultOf<&LinkSettings::emulator>),
     R"(What implements the links' SPECs in all modes except `simulate`: `engine`, Viaduct's path
     emulator (as in mode `simulate`); `kernel`, the kernel's queueing disciplines (netem, tbf,
     codel...), as far as they support the SPEC, with their own models and random numbers.)",
     "kernel", "engine kernel", "-yyyyyy"},
    {"addressing", Type::kSection, Elsewhere(), "Prefixes for automatic addresses.",
     "{ipv4: 192.168.0.0/16}"},
    {"addressing.ipv4", Type::kPrefix, Elsewhere([] { return std::string("10.0.0.0/8"); }),
     R"(The prefix for IPv4 addresses: a /30 for each point-to-point link, a /24 (or a larger
     subnet, if necessary) for each shared link; or `none`.)",
     "none"},
    {"addressing.ipv6", Type::kPrefix, Elsewhere([] { return std::string("none"); }),
     "The prefix for IPv6 addresses: a /64 for each link; or `none`.", "fd00::/48"},
    {"addressing.loopback", Type::kWords, Elsewhere([] { return std::string("none"); }),
     R"(The prefixes (one IPv4 prefix, one IPv6 prefix, or both) from which each node that is not a
     host gets an address of its own, in addition to the addresses of its links. The routing
     protocol announces this address (OLSR, RIP, RIPng, `static`). Flows and pings to a node, its
     name and `{n4}` use this address, which stays reachable while any of the node's links is up.)",
     "10.255.0.0/16"},

    {"multicast", Type::kSections, Each<&Scenario::multicast>(),
     R"(Static routes to multicast groups, by ns-3's static routing (modes `simulate` and `offload`;
     in mode `offload` the routes are in the kernels' tables with every data plane).)",
     "[{node: n1, source: n0, group: 239.1.1.1, from: n0-n1, to: [n1-n2]}]", "", "yrryyyy"},
    {"multicast[].node", Type::kNode, PlainPrinted<&MulticastRoute::node>(),
     "The node that has the route.", "n1", "", "yrryyyy"},
    {"multicast[].source", Type::kText, PlainPrinted<&MulticastRoute::source>(),
     "The source of the packets: a node (its first address of the group's family) or an address.",
     "n0", "", "yrryyyy"},
    {"multicast[].group", Type::kText, PlainPrinted<&MulticastRoute::group>(),
     "The group, an IPv4 or IPv6 multicast address.", "239.1.1.1", "", "yrryyyy"},
    {"multicast[].from", Type::kLink, PlainPrinted<&MulticastRoute::from>(),
     "The link on which the packets must arrive.", "n0-n1", "", "yrryyyy"},
    {"multicast[].to", Type::kLinks, Printed<&MulticastRoute::to>(),
     "The links on which the packets leave. `all`: the node's other links.", "[n1-n2, n1-n3]", "",
     "yrryyyy"},

    {"flows", Type::kSections, Each<&Scenario::flows>(), "Measured traffic.",
     "[{type: udp, from: n0, to: n4}]", "", "yyyynyy"},
    {"flows[].type", Type::kChoice, PlainMember<&Flow::kind>(), "The kind of traffic.", "tcp",
     "udp tcp ping", "yyyynyy"},
    {"flows[].name", Type::kText, Printed<&Flow::name>(), "Name in tables; default: `udp n0->n4`.",
     "video", "", "yyyynyy"},
    {"flows[].from", Type::kNode, Printed<&Flow::from>(), "The sender.", "n0", "", "yyyynyy"},
    {"flows[].to", Type::kNode, Printed<&Flow::to>(), "The receiver.", "n4", "", "yyyynyy"},
    {"flows[].address", Type::kText, PlainPrinted<&Flow::address>(),
     R"(The receiver's address to use: `ipv4`, `ipv6`, the name of a link (the first address on the
     link), both (`n3-n4/ipv6`), or the address itself; default: the receiver's first address, IPv4
     before IPv6.)",
     "ipv6", "", "yyyynyy"},
    {"flows[].group", Type::kText, PlainPrinted<&Flow::group>(),
     R"(UDP in modes `simulate` and `offload`: the multicast group to which the packets are sent and
     which the receiver joins (TTL 64). Flows from one sender to one group are the same packets,
     sent once, with a result for each receiver; the routes are those of the protocol or of
     `multicast`.)",
     "239.1.1.1", "", "yrrynyy"},
    {"flows[].link", Type::kLink, PlainPrinted<&Flow::link>(),
     "With `group`: the sender's link on which the packets are sent; default: the sender's first "
     "link with an address of the group's family.",
     "n0-n1", "", "yrrynyy"},
    {"flows[].size", Type::kInteger, Member<&Flow::size, HasPackets>(),
     "Payload of a UDP or ping packet, bytes.", "1470", "", "yyyynyy"},
    {"flows[].rate", Type::kRate, PlainPrinted<&Flow::rate>(),
     R"(The rate of the payload, for UDP and TCP; default: as fast as possible (UDP in mode
     `simulate`: the rate of the sender's link).)",
     "2Mbit", "", "yyyynyy"},
    {"flows[].interval", Type::kDuration, PlainMember<&Flow::interval, IsPing>(),
     "Time between two pings, 100us or more.", "10ms", "", "yyyynyy"},
    {"flows[].start", Type::kDuration, Member<&Flow::start>(),
     "The start of the flow, after convergence.", "2s", "", "yyyynyy"},
    {"flows[].duration", Type::kDuration, Printed<&Flow::duration>(),
     "The duration of the flow (TCP: whole seconds, at most a day); default: until the end of the "
     "run.",
     "5s", "", "yyyynyy"},
    {"traffic", Type::kAlias, Elsewhere(), "Another name of `flows`.", "", "flows", "yyyynyy"},

    {"programs", Type::kSections, Each<&Scenario::programs>(),
     "Programs that run in nodes (in mode `simulate`: in nodes whose `stack` is a kernel).",
     "[{node: n0, command: ping -c 3 10.0.0.2}]", "", "yyyynyy"},
    {"programs[].name", Type::kText, Printed<&Program::name>(),
     "Name in tables; default: the command's first word.", "web server", "", "yyyynyy"},
    {"programs[].node", Type::kNode, Printed<&Program::node>(),
     "The node in which the program runs.", "n0", "", "yyyynyy"},
    {"programs[].command", Type::kWords, Printed<&Program::command>(),
     R"(A program and its arguments: a text, split as a shell would but run without a shell; or a
     list. `{n4}` stands for the first address of node n4.)",
     "curl -s http://{n4}/", "", "yyyynyy"},
    {"programs[].start", Type::kDuration, Member<&Program::start>(),
     "The start of the program, after convergence.", "1s", "", "yyyynyy"},
    {"programs[].timeout", Type::kDuration, Printed<&Program::timeout>(),
     "The maximum running time: a program that runs longer is stopped and has failed; default: "
     "until the end of the run.",
     "5s", "", "yyyynyy"},
    {"programs[].background", Type::kBoolean, PlainMember<&Program::background>(),
     "The run does not wait for the program, stops it at the end, and ignores its exit status.",
     "true", "", "yyyynyy"},
    {"programs[].expect", Type::kInteger, PlainMember<&Program::expect, IsAwaited>().From(0, 255),
     "The exit status that means success.", "22", "", "yyyynyy"},
    {"programs[].new_privileges", Type::kBoolean, PlainMember<&Program::new_privileges>(),
     R"(Whether set-uid bits and file capabilities take effect for the program and its child
     processes (such as sudo, dumpcap). Root must allow this (docs/security.md). The program then
     has the machine's host name, not the node's.)",
     "true", "", "-yyynyy"},
    {"programs[].environment", Type::kTable, PlainPrinted<&Program::environment>(),
     "Variables added to the environment.", "{LANG: C}", "", "yyyynyy"},

    {"events", Type::kSections, Each<&Scenario::link_events>(),
     R"(Changes during the run. Each event has exactly one of: `state`; `capture`; a change of the
     SPEC (`set`, or `up`, `down` or both).)",
     "[{at: 3s, link: n1-n2, state: down}]", "", "yyyynyy"},
    {"events[].at", Type::kDuration, Printed<&LinkEvent::at>(),
     "The time of the change, after convergence.", "3s", "", "yyyynyy"},
    {"events[].link", Type::kLink, Printed<&LinkEvent::link>(), "The link to change.", "n1-n2", "",
     "yyyynyy"},
    {"events[].state", Type::kChoice, Custom<LinkEvent, PrintState>(), "The new state of the link.",
     "down", "up down", "yyyynyy"},
    {"events[].set", Type::kText, PlainPrinted<&LinkEvent::set>(),
     R"(The keys of the link's SPEC that change, in every direction, as in `viaduct path set`: the
     other keys stay, `KEY=none` removes a key. Not supported with `emulator: kernel`.)",
     "delay=50ms loss=1%", "", "yyyynyy"},
    {"events[].up", Type::kText, PlainPrinted<&LinkEvent::up>(),
     "Like `set`, but only for the direction from the first node of `pair` to the second.",
     "rate=none", "", "yyyynyy"},
    {"events[].down", Type::kText, PlainPrinted<&LinkEvent::down>(),
     "Like `set`, but only for the direction from the second node of `pair` to the first.",
     "loss=5%", "", "yyyynyy"},
    {"events[].capture", Type::kChoice, Custom<LinkEvent, PrintCapture>(),
     "Starts or stops the capture of the link's packets.", "start", "start stop", "yyyynyy"},
    {"captures", Type::kLinks, Printed<&Scenario::captures>(),
     R"(Links whose packets are captured from the start, each in a separate pcap file; `events` may
     start and stop captures. In mode `simulate` the packets that the first node sends (before the
     SPEC) and receives (after the SPEC) are captured; in the other modes the packets that arrive at
     each end, after the SPEC has lost and delayed packets. For an interface of the machine both
     directions are captured. Frames are recorded as on a wire: if a node's kernel leaves
     segmentation and checksums to its interface, the capture has the segments, with equal times,
     and complete checksums.)",
     "[n0-n1]", "", "yyyynyy"},
    {"state", Type::kSection, Group<Scenario, HasState>(),
     R"(Writes the state of nodes whose `stack` is a kernel to CSV files next to the captures:
     `NODE-tcp.csv` (TCP_INFO of each socket), `NODE-qdisc.csv`, `NODE-nstat.csv` (counters that
     have changed).)",
     "{interval: 10ms}", "", "yrrrryr"},
    {"state.nodes", Type::kNodes, Printed<&Scenario::state>(All),
     "The nodes whose state is written. `all`: every node that has a kernel.", "[n0, n2]", "",
     "yrrrryr"},
    {"state.interval", Type::kDuration, PlainMember<&Scenario::state_interval>(),
     "The time between two samples.", "1ms", "", "yrrrryr"},
};

}  // namespace

std::span<const Key> Keys() { return kKeys; }

}  // namespace viaduct::scenario
