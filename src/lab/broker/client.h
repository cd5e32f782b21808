// The unprivileged side of the broker: sends the requests of a simulator or of the command to the
// privileged process.
//
// The broker is one small process that holds the privileges (CAP_NET_ADMIN, CAP_NET_RAW,
// CAP_SYS_ADMIN), owns one lab at most, and removes the lab when its last client closes the
// connection, on SIGTERM, SIGINT, or `viaduct down`. A request can name only objects of the
// broker's own run. Calls are synchronous and throw Error with the broker's own message and status.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "lab/record.h"
#include "lab/topology.h"
#include "lab/upcalls.h"
#include "plane/fib/route_sink.h"
#include "sys/network/filter.h"
#include "sys/privilege/halves.h"
#include "sys/privilege/spawn.h"

namespace viaduct::broker {

struct PacketSocketOptions {
  std::string node;
  std::string interface;
  uint16_t ether_type = 0x0003;  // the EtherType in host byte order; default: ETH_P_ALL
  sys::PacketFilter filter = {};
  bool promiscuous = true;
};

// A UDP or raw IP socket bound to one interface of one node (control ports).
struct ControlSocketOptions {
  enum class Kind { kUdp, kRawIp };
  std::string node;
  std::string interface;
  wire::Family family = wire::Family::kIpv4;
  Kind kind = Kind::kUdp;
  uint16_t number = 0;  // UDP port, or IP protocol number of a raw socket
};

// A socket in a node's namespace for an application of the simulator, like the socket of a program
// of the node.
struct TransportSocketOptions {
  enum class Kind { kTcp, kUdp };
  std::string node;
  wire::Family family = wire::Family::kIpv4;
  Kind kind = Kind::kUdp;
};

using privilege::ProgramOptions;

// The next hops by which packets for a destination leave a node at present.
struct Passage {
  // The next hops of packets that the node forwards. A next hop with an empty interface means that
  // packets go to the simulator. An empty list means that no packet leaves the node.
  std::vector<fib::NextHop> hops;
  std::vector<fib::NextHop> own_hops;  // the next hops of packets that the node itself sends
  bool is_foreign = false;             // the route was made by a program of the node
};

// A socket created inside a node's namespace, which the socket never leaves: bind(2) and multicast
// joins apply to the node's namespace even if another process calls them. The calls need no
// privilege, only the interface index.
struct NodeSocket {
  UniqueFd fd;      // non-blocking
  int ifindex = 0;  // the interface's index in the node's namespace
  // Whether the interface has a queueing discipline (of a link SPEC): a packet socket must not
  // bypass it (io::RingOptions::qdisc_bypass = false).
  bool has_qdisc = false;
};

// A program running in a node. When it ends, its wait status (waitpid(2)) can be read from
// `exit_status` as one int32_t. Closing the descriptors does not stop the program.
struct Program {
  int pid = 0;
  UniqueFd pid_fd;
  UniqueFd exit_status;
};

// The memory with which a simulator controls a node's forwarding itself (forward::ControlMemory).
struct Tables {
  UniqueFd table;
  size_t table_words = 0;
  UniqueFd events, doorbell;
};

class Client {
 public:
  // Takes over a connection (SOCK_SEQPACKET) to a broker.
  explicit Client(UniqueFd connection);
  explicit Client(privilege::ServiceProcess broker);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Returns a client with the connection that is inherited in VIADUCT_BROKER_FD; if the variable
  // names no connection, starts a separate broker (SpawnBroker()). Throws EnvironmentError if
  // neither is possible.
  static Client ConnectOrSpawn();
  // Connects to the broker of a lab that is up (`viaduct up`). The broker may be stopped or busy:
  // LimitWaiting(kTimeout) applies. Throws UsageError if no such lab is up.
  static Client ConnectToLab(const std::string& lab);
  static constexpr auto kTimeout = Duration::Seconds(60);
  static constexpr auto kGrace = ipc::Caller::kGrace;
  // Limits the time that the client waits for answers, as ipc::Caller::LimitWaiting() does.
  void LimitWaiting(std::optional<Duration> timeout, Duration grace = Duration());

  // Builds the lab. Each object of the lab is recorded under /run/viaduct/NAME before the object is
  // created.
  void CreateLab(const lab::Topology& topology);
  // Takes over the broker's lab, which a failed simulator built from the same topology: the lab's
  // nodes forward by the routes of that simulator until the new one changes them. Sockets and
  // devices must be opened again. Throws UsageError if the broker has no lab, or a lab of another
  // topology.
  void AdoptLab(const lab::Topology& topology);
  void DestroyLab();
  // Must be called before CreateLab(): makes the lab serve the clients of its remote nodes only
  // through the UDP socket `socket`. The socket is in an encrypted network
  // (tunnel::ClientHub::Options). The caller keeps its descriptor of the socket.
  void LendInnerSocket(int socket);

  // Opens an AF_PACKET SOCK_RAW socket with filter, PACKET_IGNORE_OUTGOING, promiscuity and large
  // buffers set. It is NOT bound (protocol 0: it receives nothing yet), because a PACKET_RX_RING
  // must exist before the first frame: io::RingPort creates the ring, then binds to `ifindex` and
  // the EtherType.
  NodeSocket OpenPacketSocket(const PacketSocketOptions& options);
  // Opens a control socket. kUdp: with SO_BINDTODEVICE, SO_REUSEADDR, SO_BROADCAST, bound to (any,
  // number). kRawIp: SOCK_RAW of the IP protocol `number`, with SO_BINDTODEVICE. IPv6 sockets are
  // IPV6_V6ONLY.
  NodeSocket OpenControlSocket(const ControlSocketOptions& options);
  // Opens a non-blocking socket, neither bound nor connected.
  UniqueFd OpenTransportSocket(const TransportSocketOptions& options);
  // Opens the simulator's end of the node's TUN device (lab::Node::program_addresses), IFF_NO_PI,
  // non-blocking. The device (lab::kProgramDevice) is up and has the namespace's default route.
  UniqueFd OpenTun(const std::string& node);

  // Passes changes of the node's routes to its data plane (the kernel data plane uses its own
  // protocol number and touches only its own routes). Throws fib::RouteError naming the routes that
  // the data plane refuses; all others are applied. The broker remembers the routes and installs
  // them again after a link that went down is back.
  void ApplyRoutes(const std::string& node, const fib::RouteChanges& changes);
  // Returns the routes that any client has applied to the node and none has removed.
  fib::RouteTable ReadRoutes(const std::string& node);
  // Returns, for each destination, the next hops from the table in use, which is the table of the
  // node's kernel or of its forwarder. Returns nothing for a node that does not forward packets by
  // routes.
  std::vector<std::optional<Passage>> LookUp(const std::string& node,
                                             const std::vector<wire::IpAddress>& destinations);
  // Returns the index of an interface in its node's namespace.
  int IfIndex(const lab::Endpoint& endpoint);
  // Sets a link of the lab up or down at one endpoint.
  void SetLinkUp(const lab::Endpoint& endpoint, bool up) { SetEndsUp({endpoint}, up); }
  // Sets all ends of a link up or down. When all ends are up, the kernels resolve neighbours again
  // (lab::Lab::SetEndsUp()).
  void SetEndsUp(const std::vector<lab::Endpoint>& ends, bool up);

  // Replaces the addresses of the interface, except IPv6 link-local addresses, which the kernel
  // makes itself.
  void SetAddresses(const lab::Endpoint& endpoint, const std::vector<wire::IpPrefix>& addresses);
  // Opens a netlink socket on which the states of the node's links arrive (sys::LinkMonitor). The
  // socket cannot be used to change the node's network: the kernel also checks the privileges of
  // the process that writes to the socket.
  UniqueFd OpenLinkMonitor(const std::string& node);

  // Opens the tables of a node that forwards frames outside of the simulator: an RBridge, or a node
  // with a forwarding program. Throws UsageError for other nodes.
  Tables OpenTables(const std::string& node);

  // If the data plane of the node is the kernel, calls lab::OpenUpcalls() for the node. Returns the
  // simulator's end of the TUN device.
  UniqueFd OpenUpcalls(const std::string& node, const std::set<wire::Family>& families);
  // Makes packets to `neighbours` wait, or sends the waiting packets (lab::HoldNeighbours()).
  void SetNeighbours(const std::string& node, const std::vector<lab::Neighbour>& neighbours,
                     bool held);
  // Opens the node's table of multicast routes among `interfaces` (sys::OpenMulticastRouting()).
  // The table lasts as long as the lab. A node has one descriptor per family; after AdoptLab() a
  // call returns another descriptor of the same table.
  UniqueFd OpenMulticast(const std::string& node, wire::Family family,
                         const std::vector<std::string>& interfaces);

  // Starts a program in the node's namespace as the invoking user.
  Program Spawn(const ProgramOptions& options);
  void Kill(int pid, int signal);

  // Throws Error if the broker has ended, which also ends the lab. Sends nothing.
  void CheckAlive() const;

  // Records the history of the lab's simulator, for `ls` and Describe().
  void NoteSimulator(const lab::SimulatorHistory& history);
  // Returns the lab as built: topology, run facts (namespace paths, broker pid), for `ls --json`.
  nlohmann::json Describe();
  // Makes the lab outlive the connection, until DestroyLab() (`viaduct up`). The DestroyLab() of a
  // client whose connection is from NewConnection() does nothing.
  void Detach();
  // Opens a further connection to the same broker, for a process that the caller starts. That
  // process inherits the descriptor, whose number must be in VIADUCT_BROKER_FD. Close-on-exec is
  // set.
  UniqueFd NewConnection();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A RouteSink that changes the routes of one node.
class NodeRoutes final : public fib::RouteSink {
 public:
  NodeRoutes(std::shared_ptr<Client> client, std::string node)
      : client_(std::move(client)), node_(std::move(node)) {}

 private:
  void DoApply(const fib::RouteChanges& changes) override { client_->ApplyRoutes(node_, changes); }

  std::shared_ptr<Client> client_;
  std::string node_;
};

}  // namespace viaduct::broker
