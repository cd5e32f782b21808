// A scenario: the validated content of the file of `viaduct run FILE.yaml`, with every default
// filled in. The grammar is the table in scenario/keys.cc, from which docs/scenario.md is generated
// too.
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
  kSimulate,     // everything in ns-3, virtual time
  kTraditional,  // ns-3's own emulation: RealtimeSimulatorImpl and FdNetDevice (the baseline)
  kEmulate,      // data plane in ns-3 on our reactor and ring devices
  kOffload,      // data plane in the kernel, control plane in ns-3
};

// Mode simulate: the place of nodes' real kernels: separate processes, or the simulator's process
// as far as that is possible.
enum class GuestPlace { kProcess, kEmbedded };

// The client of a node whose programs are on another host: who may be it.
struct RemoteAccess {
  std::optional<wire::IpAddress> address;  // this host; absent: who has the key
  bool anyone = false;                     // or the first host that sends
  int64_t vni = 0;                         // VXLAN identifier; after reading never 0

  // "true", "any", or the address.
  std::string ToString() const;
};

// A machine that runs a part of the lab.
struct Machine {
  std::string name;
  wire::IpAddress address;  // VXLAN address for the other machines
  std::string login;        // destination for mpirun's agent (ssh); empty: the address
};

// A position of a node at a time, in mode simulate.
struct Waypoint {
  Duration at;                 // after convergence
  double x = 0, y = 0, z = 0;  // m
  friend bool operator==(const Waypoint&, const Waypoint&) = default;
};

// The places of nodes that give none, and how these nodes move.
struct Mobility {
  enum class Layout { kGrid, kLine, kRandom };
  Layout layout = Layout::kGrid;
  int spacing = 50;               // m, of a grid's or a line's neighbours
  std::vector<std::string> area;  // m: width and height, of random places and of models
  std::string model;              // ns-3 TypeId of a MobilityModel; empty: they stay
  std::map<std::string, std::string> attributes;
  bool is_given = false;  // the scenario has the key, or Wi-Fi
};

// A Wi-Fi channel that some nodes share, in mode simulate.
struct Wifi {
  std::vector<std::string> nodes;  // empty: the link is no such channel
  std::string standard = "80211a";
  std::string access_point;  // the node to which the others associate; empty: ad hoc
  std::string rate;          // ns-3 WifiMode of all data frames; empty: each station adapts its own
  std::optional<int> range;  // m within which everything is received, and beyond which nothing is;
                             // absent: as the logarithm of the distance, and errors by the signal
  std::map<std::string, std::string> attributes;  // attributes of ns3::YansWifiPhy
};

struct NodeSettings {
  std::string name;
  // A host runs no routing protocol and forwards nothing: it has a default route to `gateway` (a
  // neighbour), and in every real mode the kernel handles its packets.
  bool host = false;
  std::string gateway;
  // A router that does not run the scenario's protocol: its routes are made by programs in it.
  bool routed_by_programs = false;
  // Overrides the data plane that the mode would give this node; null: not overridden.
  const fib::DataPlane* data_plane = nullptr;
  // The forwarding program of a node that forwards frames, as forward::LoadProgram() takes it, its
  // library's path relative to the folder that the command runs in; empty: it has none.
  std::string program;
  std::map<std::string, std::string> sysctls;
  // Mode simulate: the version of the real kernel that is this node's network stack ("": the newest
  // that is built; with a slash: the file); absent: the stack is ns-3's own.
  std::optional<std::string> kernel;
  // Interfaces of the machine ("eth1") that are moved into the node during the run.
  std::vector<std::string> physical_interfaces;
  // The container whose namespace the node has: its name, a name of ip netns, or a pid. Such a node
  // is a host. Empty: none.
  std::string container;
  // `viaduct hub`: its programs are on another host. Such a node is a host.
  std::optional<RemoteAccess> remote;
  // The machine that has this node, in a lab on several machines; empty: the best one is chosen.
  std::string on_machine;
  // Addresses on the node's loopback interface: at most one of each family, the IPv4 one first.
  std::vector<wire::IpPrefix> loopback;
  // Mode simulate: the place of the node, if it does not move (one), or the points between which it
  // moves on straight lines; empty: by Scenario::mobility.
  std::vector<Waypoint> waypoints;
};

// The placeholder for the address that a node does not have.
inline constexpr wire::IpPrefix kNoAddress{};

// A class of a link's packets with separate SPECs; the first class that matches takes a packet.
struct LinkClass {
  std::string name, filter;            // pcap-filter(7)
  path::Spec spec;                     // every direction, unless:
  std::optional<path::Spec> up, down;  // directions as in LinkSettings
};

struct LinkSettings {
  std::string name;  // default "A-B", "lan0", the interface
  // An interface of the machine ("eth1") that is moved into the only one of `nodes` during the run;
  // empty: the link connects nodes.
  std::string interface;
  lab::Link::Kind kind = lab::Link::Kind::kPair;
  std::vector<std::string> nodes;
  Wifi wifi;                           // used with kind kBridge
  path::Spec spec;                     // every direction, unless:
  std::optional<path::Spec> up, down;  // pairs: first to second node, second to first
  std::vector<LinkClass> classes;
  static constexpr int kMaxMtu = 65521;  // a veth device takes: ETH_MAX_MTU less the headers
  int mtu = 1500;
  lab::Emulator emulator = lab::Emulator::kEngine;  // real modes: what implements the SPEC
  // After automatic assignment: one per node, in their order; if both IPv4 and IPv6 are used,
  // followed by one IPv6 address per node. Nodes of a protocol that bridges have kNoAddress.
  std::vector<wire::IpPrefix> addresses;
};

// The classes with the SPEC of each direction; those of a shared link have none but `up`.
std::vector<path::TrafficClass> ClassesOf(const LinkSettings& link);

inline bool IsWifi(const LinkSettings& link) { return !link.wifi.nodes.empty(); }

struct Routing {
  std::string protocol = "ns3::olsr::RoutingProtocol";  // ns-3 TypeId; "static": StaticRoutes();
                                                        // kNoProtocol
  std::map<std::string, std::string> attributes;
  std::optional<Duration>
      sample;  // interval at which every node's next hops are recorded; absent: never
};

struct Flow {
  enum class Kind { kUdp, kTcp, kPing };
  Kind kind = Kind::kUdp;
  std::string name;  // default "udp n0->n4"
  std::string from, to;
  std::string address;  // one of the receiver's addresses, as given; empty: its first
  // UDP: the multicast address that replaces the receiver's, and the sender's link. Flows of one
  // sender to one group are the same packets (StreamOf()).
  std::string group, link;
  int size = 160;               // UDP and ping payload, bytes
  std::optional<int64_t> rate;  // bit/s of payload; UDP: absent means as fast as it can
  Duration interval = Duration::Milliseconds(100);  // ping
  Duration start, duration;                         // since routes converged
};

// The receiver's port of the flow with this index, the same in every mode; a ping has none.
constexpr uint16_t PortOf(const Flow& flow, size_t index) {
  constexpr uint16_t kFirstUdp = 5001;
  constexpr uint16_t kFirstTcp = 5201;  // iperf3's own
  return static_cast<uint16_t>((flow.kind == Flow::Kind::kTcp ? kFirstTcp : kFirstUdp) + index);
}

// A static route of a node to a multicast group: packets of this source that arrive by a link leave
// by others.
struct MulticastRoute {
  std::string node, source, group;  // source and group: addresses
  std::string from;                 // links
  std::vector<std::string> to;
};

struct Program {
  std::string name, node;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  Duration start;                   // since routes converged
  std::optional<Duration> timeout;  // killed and reported as failed after this long
  bool background = false;          // stopped at the end of the run; its status does not count
  bool new_privileges = false;      // sys::ProgramOptions
  int expect = 0;                   // exit status
};

// A change of a link during the run ("link n1-n2 down at 5s").
struct LinkEvent {
  enum class Kind { kState, kSpec, kCapture };
  Kind kind = Kind::kState;
  std::string link;
  bool on = true;  // kState: it is up; kCapture: it is captured
  // kSpec: the keys that change (path::ChangeSpec()), of every direction (`set`) or of one of a
  // pair's, and the SPECs that they have then (shared links: both are the link's).
  std::string set, up, down;
  path::Spec up_spec, down_spec;
  Duration at;        // since routes converged
  std::string where;  // place in the file, for messages: "FILE:LINE: events[0]"
};

struct Scenario {
  std::string name, file, hash;  // hash: SHA-256 of the effective scenario, hex
  uint64_t seed = 1;
  Duration duration = Duration::Seconds(10);
  Mode mode = Mode::kOffload;
  std::optional<GuestPlace> guests;  // absent: embedded; with programs: process
  std::vector<NodeSettings> nodes;
  std::vector<LinkSettings> links;
  Mobility mobility;
  Routing routing;
  std::vector<MulticastRoute> multicast;
  std::vector<Flow> flows;
  std::vector<Program> programs;
  std::vector<LinkEvent> link_events;
  std::vector<std::string> captures;  // names of links that are captured from the start
  std::vector<std::string> state;     // names of nodes whose kernel's state is written
  Duration state_interval = Duration::Milliseconds(10);
  Duration convergence_timeout = Duration::Seconds(60);
  bool convergence_required = true;
  std::vector<Machine> machines;           // the machines of a lab on several; else empty
  std::optional<Duration> lateness_limit;  // p99 of event lateness; above it the run is VOID
  std::optional<int> kernel_memory;        // MiB, of each guest kernel; absent: the guest's default
  std::optional<int> hub_readers;  // tunnel::ClientHub::Options; absent: by machine capacity
  std::optional<int> hub_queue;    // frames; absent: tunnel::ClientHub::Options
};

// The name of the file, among those of a report, that holds what the program of that name has
// written. No two programs of a scenario share one.
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
// `default_mode`: the mode if neither sets one. Throws UsageError: "FILE:LINE: what is wrong; what
// is accepted".
Scenario Load(const std::string& file, const std::vector<std::string>& overrides = {},
              Mode default_mode = Mode::kOffload);
// Reads and checks a scenario from text; `file` is its name in messages.
Scenario Parse(const std::string& text, const std::string& file,
               const std::vector<std::string>& overrides = {}, Mode default_mode = Mode::kOffload);
// Puts pids in the place of the names of containers (sys/machine/container.h). Throws UsageError.
void ResolveContainers(Scenario* scenario);
// The effective scenario as YAML: every default filled in; Load() reads it back unchanged.
std::string Print(const Scenario& scenario);
// SHA-256 of Print(scenario), hex.
std::string Hash(const Scenario& scenario);

}  // namespace viaduct::scenario
