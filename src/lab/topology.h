// The description of a lab, before anything exists in the kernel: plain data, derived from an ns-3
// scenario (LabHelper) or a scenario file, sent to the broker as JSON, written to the run's record.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/wire/address.h"
#include "path/spec/spec.h"
#include "path/spec/traffic_class.h"
#include "plane/fib/data_plane.h"

namespace viaduct::lab {

struct Interface {
  std::string name;  // inside the node's namespace, at most 15 characters (IFNAMSIZ)
  wire::MacAddress mac;
  std::vector<wire::IpPrefix> addresses;
  int mtu = 1500;
  // The name of a physical interface of the host, which is moved into the namespace and back.
  std::optional<std::string> physical;
  // The name of the link that a physical interface makes to the network on its cable; empty: the
  // interface is for the node's programs alone, or not a physical one.
  std::string link = {};
};

// The fabric's name among a lab's namespaces ("LAB.fabric", lab/fabric.h), which no node may have.
inline constexpr char kFabricNode[] = "fabric";

struct Node {
  std::string name;
  const fib::DataPlane* data_plane = &fib::kKernelPlane;  // never null
  std::vector<Interface> interfaces;
  // If the data plane supports fib::Feature::kProgramDevice: addresses of the node's programs, on a
  // TUN device whose other end is the simulator (see broker::Client::OpenTun). Empty: no such
  // device.
  std::vector<wire::IpPrefix> program_addresses;
  std::map<std::string, std::string> sysctls;  // "net.ipv4.ip_forward": "1"; applied last
  // Whether a data plane other than the kernel forwards packets (the kernel has a sysctl for that).
  bool forwards_ipv4 = true, forwards_ipv6 = true;
  // The container whose namespace the node gets instead of a new one, as the number of a process or
  // a name (ip netns). The lab only adds interfaces to it.
  std::string container = {};
  // The reason why packets must pass the node hop by hop on any data plane: "link a-b is captured".
  std::string by_hop = {};
  // Addresses of the node itself, on its loopback interface: "10.255.0.1/32". Not for a container.
  std::vector<wire::IpPrefix> loopback = {};
  std::optional<forward::ProgramDescription> program = {};  // for fib::kUserspaceProgram
};

// A node whose programs are on another host, its client: it has no namespace. The far end of its
// link is the client, behind the hub's tunnel (remote/tunnel/client_hub.h).
struct Remote {
  std::string name;
  // If not empty, the client has the programs of this node, which is in the lab, and is at the far
  // end of a pair whose near end is that node's (lab/client.h).
  std::string programs_of = {};
  Interface interface;
  uint32_t vni = 0;                        // VXLAN identifier, unique in the lab
  std::optional<wire::IpAddress> address;  // the client's; absent: that of the claiming host
  bool anyone = false;                     // or that of the first host that sends
};

// A node in another host's part of the lab; this part's hosts file (lab/names.h) lists it, too.
struct OtherNode {
  std::string name;
  std::vector<wire::IpAddress> addresses;  // the name stands for the first of each family
};

// The address, in the broker's network namespace, to which the clients of remote nodes send.
struct HubAddress {
  std::string address;         // empty: every address of the machine
  uint16_t port = 0;           // UDP; 0: any
  std::optional<int> readers;  // tunnel::ClientHub::Options; absent: SuitableReaders()
  std::optional<int> queue;    // frames that wait; absent: tunnel::ClientHub::Options
};

struct Endpoint {
  std::string node;
  std::string interface;
};

// The implementation of a link's SPECs.
enum class Emulator {
  kEngine,  // the path engine, between the link's host ends in the fabric
  kKernel,  // the kernel's own qdiscs on the sending interfaces, where the kernel has them
};
// Returns "engine" or "kernel".
const char* EmulatorName(Emulator emulator);
// The inverse; throws UsageError.
Emulator ParseEmulator(const std::string& text);

// The connection between the end of a link on this host and its end on another host: VXLAN (RFC
// 7348) between the hosts.
struct Tunnel {
  uint32_t vni = 0;   // VXLAN network identifier
  uint16_t port = 0;  // UDP, of both hosts
  wire::IpAddress remote;
  int end = 0;  // the end of the link that is on this host: 0, or 1
};

struct Link {
  // A veth pair; a bridge with a veth pair per endpoint; one end of a link between machines.
  enum class Kind { kPair, kBridge, kTunnel };
  std::string name;
  Kind kind = Kind::kPair;
  std::vector<Endpoint> endpoints;  // two for kPair, one for kTunnel
  // The SPECs of each endpoint's transmissions, in the order of endpoints, or empty (plain wire).
  std::vector<path::Spec> specs;
  Emulator emulator = Emulator::kEngine;
  // The SPECs may change during the run: the engine (only) emulates them even if they do nothing.
  bool live = false;
  std::optional<Tunnel> tunnel = std::nullopt;  // for kTunnel
  // Classes of packets with separate SPECs (kEngine only). `up` is from the first endpoint of a
  // pair to the second; on a bridge it is that of each endpoint's frames, and `down` does nothing.
  // At a tunnel they are the whole link's.
  std::vector<path::TrafficClass> classes = {};

  bool IsPlainWire() const;
};

struct Topology {
  std::string name;             // the lab's, see CheckLabName(); namespaces are named NAME.NODE
  uint64_t seed = 1;            // for the engine's random streams
  std::string directory = "/";  // the base of relative paths in SPECs
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<Remote> remotes = {};  // ends of links, too
  HubAddress hub = {};               // if there are any
  std::vector<OtherNode> others = {};
};

// The remote node of this name; null: there is none.
const Remote* FindRemote(const Topology& topology, const std::string& name);
// Whether an end of the link is a remote node.
bool HasRemote(const Topology& topology, const Link& link);

// Throws UsageError unless `name` can be a lab's.
void CheckLabName(const std::string& name);

// Throws UsageError for: names that are malformed or used twice, endpoints that do not exist,
// an interface used by two links, addresses used twice on one link, names over IFNAMSIZ.
void Validate(const Topology& topology);

void to_json(nlohmann::json& json, const Topology& topology);
// Throws UsageError for members that are missing, unknown, or of the wrong type.
void from_json(const nlohmann::json& json, Topology& topology);

}  // namespace viaduct::lab
