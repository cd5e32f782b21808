// A scenario: the validated content of the file of `viaduct run FILE.yaml`, with every default
// filled in. The grammar is the table in scenario/keys.cc, from which docs/scenario.md is
// generated, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "base/wire/address.h"
#include "lab/topology.h"
#include "path/spec/spec.h"

namespace viaduct::scenario {

enum class Mode {
  kSimulate,     // everything in ns-3, in virtual time
  kTraditional,  // ns-3's own emulation: RealtimeSimulatorImpl and FdNetDevice (the baseline)
  kEmulate,      // data plane in ns-3 on this project's reactor and ring devices
  kOffload,      // data plane in the kernel, control plane in ns-3
};

// The place of the real kernels of nodes, in mode simulate: separate processes, or the simulator's
// process as far as that is possible.
enum class GuestPlace { kProcess, kEmbedded };

// The hosts that may be the client of a remote node, that is, run the programs of the node.
struct RemoteAccess {
  // The only host that may be the client; absent: any host that has the hub's key may be the
  // client.
  std::optional<wire::IpAddress> address;
  bool anyone = false;  // whether the first host that sends frames may be the client, too
  int64_t vni = 0;      // VXLAN identifier; after reading it is never 0

  // Returns "true", "any", or the address.
  std::string ToString() const;
};

// A machine that runs a part of the lab.
struct Machine {
  std::string name;
  wire::IpAddress address;  // address of the machine for VXLAN from the other hosts
  std::string login;        // destination for mpirun's agent (ssh); empty: `address`
};

// The position of a node at a time, in mode simulate.
struct Waypoint {
  Duration at;                 // time after convergence
  double x = 0, y = 0, z = 0;  // metres
  friend bool operator==(const Waypoint&, const Waypoint&) = default;
};

// The positions of nodes for which the file gives none, and the movement of these nodes.
struct Mobility {
  enum class Layout { kGrid, kLine, kRandom };
  Layout layout = Layout::kGrid;
  int spacing = 50;  // metres between neighbours in a grid or a line
  // The width and height of the area in metres, for random positions and mobility models.
  std::vector<std::string> area;
  std::string model;  // ns-3 TypeId of a MobilityModel; empty: the nodes do not move
  std::map<std::string, std::string> attributes;
  bool is_given = false;  // whether the scenario has the key, or Wi-Fi
};

// A Wi-Fi channel that some nodes share, in mode simulate.
struct Wifi {
  std::vector<std::string> nodes;  // empty: the link is not a Wi-Fi channel
  std::string standard = "80211a";
  std::string access_point;  // the node with which all other nodes associate; empty: ad hoc
  // The ns-3 WifiMode of all data frames; empty: each station adapts its rate.
  std::string rate;
  // The distance in metres within which all frames are received, and beyond which none is; absent:
  // the signal decreases with the logarithm of the distance, and errors depend on the signal.
  std::optional<int> range;
  std::map<std::string, std::string> attributes;  // attributes of ns3::YansWifiPhy
};

struct NodeSettings {
  std::string name;
  // Whether the node is a host. A host runs no routing protocol and forwards no packets: it has a
  // default route to `gateway` (a neighbour), and in every real mode the kernel handles its
  // packets.
  bool host = false;
  std::string gateway;
  // Whether the node is a router that does not run the scenario's protocol: programs in the node
  // make its routes.
  bool routed_by_programs = false;
  // The data plane that replaces the data plane of the mode for this node; null: the node has the
  // data plane of the mode.
  const fib::DataPlane* data_plane = nullptr;
  // The forwarding program of a node that forwards frames, in the form that forward::LoadProgram()
  // accepts; the path of a library is relative to the folder in which the command runs. Empty:
  // none.
  std::string program;
  std::map<std::string, std::string> sysctls;
  // The version of the real kernel that is this node's network stack, in mode simulate ("": the
  // newest kernel that is built; with a slash: the path of the kernel); absent: the stack is
  // ns-3's.
  std::optional<std::string> kernel;
  // Interfaces of the machine ("eth1") that are moved into the node during the run.
  std::vector<std::string> physical_interfaces;
  // The container whose namespace the node uses: its name, a name of ip netns, or a pid. Such a
  // node is a host. Empty: none.
  std::string container;
  // The client of a remote node, whose programs are on another host, for `viaduct hub`. The node is
  // a host or a router (IsRemoteRouter()).
  std::optional<RemoteAccess> remote;
  // The host of this node, in a lab on several hosts; empty: the host is chosen automatically.
  std::string on_machine;
  // The addresses on the node's loopback interface: at most one of each family, IPv4 first.
  std::vector<wire::IpPrefix> loopback;
  // The position of the node in mode simulate, if it does not move (one waypoint), or the points
  // between which it moves on straight lines; empty: Scenario::mobility determines the position.
  std::vector<Waypoint> waypoints;
};

// The value in place of an address for a node that has no address.
inline constexpr wire::IpPrefix kNoAddress{};

// A class of packets on a link, with separate SPECs; a packet belongs to the first class that
// matches it.
struct LinkClass {
  std::string name, filter;            // filter: pcap-filter(7)
  path::Spec spec;                     // SPEC of every direction that `up` or `down` does not set
  std::optional<path::Spec> up, down;  // SPECs of directions, as in LinkSettings
};

struct LinkSettings {
  std::string name;  // default: "A-B", "lan0", or the name of the interface
  // An interface of the machine ("eth1") that is moved into the only node in `nodes` during the
  // run; empty: the link connects nodes.
  std::string interface;
  lab::Link::Kind kind = lab::Link::Kind::kPair;
  std::vector<std::string> nodes;
  Wifi wifi;                           // used if `kind` is kBridge
  path::Spec spec;                     // SPEC of every direction that `up` or `down` does not set
  std::optional<path::Spec> up, down;  // for pairs: first to second node, second to first
  std::vector<LinkClass> classes;
  // The maximum MTU of a link: the maximum of a veth device, ETH_MAX_MTU minus the headers.
  static constexpr int kMaxMtu = 65521;
  int mtu = 1500;
  lab::Emulator emulator = lab::Emulator::kEngine;  // implementation of the SPEC in real modes
  // The addresses after automatic assignment: one per node, in the order of the nodes; if both IPv4
  // and IPv6 are used, followed by one IPv6 address per node. Nodes that forward frames have
  // kNoAddress.
  std::vector<wire::IpPrefix> addresses;
};

// Returns the classes with the SPEC of each direction; classes of a shared link only have `up`.
std::vector<path::TrafficClass> ClassesOf(const LinkSettings& link);

inline bool IsWifi(const LinkSettings& link) { return !link.wifi.nodes.empty(); }

struct Routing {
  // The ns-3 TypeId of the protocol, "static" for StaticRoutes(), or kNoProtocol.
  std::string protocol = "ns3::olsr::RoutingProtocol";
  std::map<std::string, std::string> attributes;
  std::optional<Duration>
      sample;  // interval at which the next hops of all nodes are recorded; absent: never
};

struct Flow {
  enum class Kind { kUdp, kTcp, kPing };
  Kind kind = Kind::kUdp;
  std::string name;  // default: "udp n0->n4"
  std::string from, to;
  // The address of the receiver as the file selects it; empty: its first address.
  std::string address;
  // For UDP: the multicast address in place of the receiver's address, and the sender's link. Flows
  // of one sender to one group consist of the same packets (StreamOf()).
  std::string group, link;
  int size = 160;               // bytes of payload, for UDP and ping
  std::optional<int64_t> rate;  // bit/s of payload; absent, for UDP: as fast as possible
  Duration interval = Duration::Milliseconds(100);  // the interval between the requests of a ping
  Duration start, duration;                         // `start`: time since routes have converged
};

// Returns the receiver's port of the flow with this index, which is the same in every mode; a ping
// has no port.
constexpr uint16_t PortOf(const Flow& flow, size_t index) {
  constexpr uint16_t kFirstUdp = 5001;
  constexpr uint16_t kFirstTcp = 5201;  // the default port of iperf3
  return static_cast<uint16_t>((flow.kind == Flow::Kind::kTcp ? kFirstTcp : kFirstUdp) + index);
}

// A static route of a node to a multicast group: the node sends packets of this source that arrive
// on the link `from` to the links `to`.
struct MulticastRoute {
  std::string node, source, group;  // `source` and `group` are addresses
  std::string from;                 // the name of a link
  std::vector<std::string> to;
};

struct Program {
  std::string name, node;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  Duration start;                   // time since routes have converged
  std::optional<Duration> timeout;  // after this time the program is killed and reported as failed
  bool background = false;          // stopped at the end of the run; its exit status is ignored
  // Whether set-uid bits and capabilities of files count for the programs that this program
  // executes (sys::ProgramOptions::new_privileges).
  bool new_privileges = false;
  int expect = 0;  // expected exit status
};

// A change of a link during the run ("link n1-n2 down at 5s").
struct LinkEvent {
  enum class Kind { kState, kSpec, kCapture };
  Kind kind = Kind::kState;
  std::string link;
  bool on = true;  // for kState: whether the link is up; for kCapture: whether it is captured
  // For kSpec: the keys that change (path::ChangeSpec()), either in every direction (`set`) or in
  // one direction of a pair (`up`, `down`); and the SPECs after the change (`up_spec`,
  // `down_spec`). On a shared link, both SPECs are the SPEC of the link.
  std::string set, up, down;
  path::Spec up_spec, down_spec;
  Duration at;        // time since routes have converged
  std::string where;  // place in the file, for messages: "FILE:LINE: events[0]"
};

struct Scenario {
  std::string name, file, hash;  // `hash`: SHA-256 of the effective scenario, hex
  uint64_t seed = 1;
  Duration duration = Duration::Seconds(10);
  Mode mode = Mode::kOffload;
  std::optional<GuestPlace> guests;  // absent: embedded, or process if there are programs
  std::vector<NodeSettings> nodes;
  std::vector<LinkSettings> links;
  Mobility mobility;
  Routing routing;
  std::vector<MulticastRoute> multicast;
  std::vector<Flow> flows;
  std::vector<Program> programs;
  std::vector<LinkEvent> link_events;
  std::vector<std::string> captures;  // names of links that are captured from the start
  std::vector<std::string> state;     // names of nodes whose kernels' states are recorded
  Duration state_interval = Duration::Milliseconds(10);
  Duration convergence_timeout = Duration::Seconds(60);
  bool convergence_required = true;
  std::vector<Machine> machines;  // machines of a lab on several machines; empty: this machine
  // The limit for the 99th percentile (p99) of the lateness of events. If the p99 is above the
  // limit, the run is VOID.
  std::optional<Duration> lateness_limit;
  std::optional<int> kernel_memory;  // MiB for each guest kernel; absent: the guest's default
  // The number of the hub's threads that read (tunnel::ClientHub::Options); absent: depends on the
  // machine.
  std::optional<int> hub_readers;
  // The maximum number of waiting frames of the hub; absent: as in tunnel::ClientHub::Options.
  std::optional<int> hub_queue;
};

// Returns the name of the file in a report that contains the output of the program with that name.
// No two programs of a scenario have the same file.
std::string OutputFileOf(std::string program);
// Returns "simulate", "traditional", "emulate" or "offload".
const char* ModeName(Mode mode);
// Returns "process" or "embedded".
const char* GuestPlaceName(GuestPlace place);
// Returns "udp", "tcp" or "ping".
const char* KindName(Flow::Kind kind);
// Returns the number of requests that a ping sends: one at its start and after each interval until
// its end.
uint64_t PingsOf(const Flow& flow);

// Reads and checks a file; `overrides` are "dotted.key=value" from the command line.
// `default_mode`: the mode if neither the file nor an override sets one. Throws UsageError:
// "FILE:LINE: what is wrong; what is accepted".
Scenario Load(const std::string& file, const std::vector<std::string>& overrides = {},
              Mode default_mode = Mode::kOffload);
// Reads and checks a scenario from text; `file` is its name in messages.
Scenario Parse(const std::string& text, const std::string& file,
               const std::vector<std::string>& overrides = {}, Mode default_mode = Mode::kOffload);
// Replaces the names of containers by pids (sys/machine/container.h). Throws UsageError.
void ResolveContainers(Scenario* scenario);
// Returns the effective scenario as YAML, with every default filled in; Load() reads it back
// unchanged.
std::string Print(const Scenario& scenario);
// Returns the SHA-256 of Print(scenario), in hexadecimal digits.
std::string Hash(const Scenario& scenario);

}  // namespace viaduct::scenario
