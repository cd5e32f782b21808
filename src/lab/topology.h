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
  // interface is only for the node's programs, or is not a physical interface.
  std::string link = {};
};

// The fabric's name among a lab's namespaces ("LAB.fabric", lab/fabric.h), which no node may have.
inline constexpr char kFabricNode[] = "fabric";

struct Node {
  std::string name;
  const fib::DataPlane* data_plane = &fib::kKernelPlane;  // never null
  std::vector<Interface> interfaces;
  // Addresses of the node's programs if the data plane supports fib::Feature::kProgramDevice. The
  // addresses are on a TUN device whose other end is the simulator (see broker::Client::OpenTun).
  // Empty: the node has no such device.
  std::vector<wire::IpPrefix> program_addresses;
  std::map<std::string, std::string> sysctls;  // "net.ipv4.ip_forward": "1"; applied last
  // Whether a data plane other than the kernel forwards IPv4 packets and IPv6 packets of the node.
  // (For the kernel a sysctl decides.)
  bool forwards_ipv4 = true, forwards_ipv6 = true;
  // The container whose namespace the node gets instead of a new one, as the number of a process or
  // a name (ip netns). The lab only adds interfaces to it.
  std::string container = {};
  // The reason why packets must pass the node hop by hop on any data plane: "link a-b is captured".
  std::string by_hop = {};
  // Addresses of the node itself, on its loopback interface: "10.255.0.1/32". Empty for a
  // container.
  std::vector<wire::IpPrefix> loopback = {};
  // The node's forwarding program, for the data plane fib::kUserspaceProgram.
  std::optional<forward::ProgramDescription> program = {};
};

// A remote node: a node without a namespace, whose programs run on another host, its client. The
// far end of its link is the client, behind the hub's tunnel (remote/tunnel/client_hub.h).
struct Remote {
  std::string name;
  // If not empty, the client runs the programs of the lab's node with this name. In that case the
  // client is the far end of a pair link whose near end is the node (lab/client.h).
  std::string programs_of = {};
  Interface interface;
  uint32_t vni = 0;                        // VXLAN identifier, unique in the lab
  std::optional<wire::IpAddress> address;  // the client's address; absent: the claiming host's
  bool anyone = false;                     // whether the first host that sends becomes the client
};

// A node in the part of the lab that is on another host. The hosts file (lab/names.h) of this part
// lists it, too.
struct OtherNode {
  std::string name;
  std::vector<wire::IpAddress> addresses;  // the name stands for the first address of each family
};

// The address, in the broker's network namespace, to which the clients of remote nodes send.
struct HubAddress {
  std::string address;         // empty: every address of the machine
  uint16_t port = 0;           // UDP; 0: any
  std::optional<int> readers;  // the number of reading threads; absent: tunnel::SuitableReaders()
  std::optional<int> queue;  // maximum of waiting frames; absent: the default of tunnel::ClientHub
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
// Parses "engine" or "kernel". Throws UsageError for any other text.
Emulator ParseEmulator(const std::string& text);

// The connection between the end of a link on this host and its end on another host: VXLAN (RFC
// 7348) between the hosts.
struct Tunnel {
  uint32_t vni = 0;   // VXLAN network identifier
  uint16_t port = 0;  // the UDP port of both hosts
  wire::IpAddress remote;
  int end = 0;  // the end of the link that is on this host: 0, or 1
};

struct Link {
  // The kinds of links: a veth pair; a bridge with a veth pair for each endpoint; this host's end
  // of a link between hosts.
  enum class Kind { kPair, kBridge, kTunnel };
  std::string name;
  Kind kind = Kind::kPair;
  std::vector<Endpoint> endpoints;  // two for kPair, one for kTunnel
  // The SPECs of each endpoint's transmissions, in the order of endpoints, or empty (plain wire).
  std::vector<path::Spec> specs;
  Emulator emulator = Emulator::kEngine;
  // Whether the SPECs may change during the run. If true, the engine emulates the link even if its
  // SPECs do nothing (kEngine only).
  bool live = false;
  std::optional<Tunnel> tunnel = std::nullopt;  // set for kTunnel only
  // Classes of packets with separate SPECs (kEngine only). The SPEC `up` is for frames from the
  // first endpoint of a pair to the second; on a bridge it is for the frames that each endpoint
  // sends, and `down` does nothing. For kTunnel, `up` and `down` are the directions of the complete
  // link, on both hosts.
  std::vector<path::TrafficClass> classes = {};

  bool IsPlainWire() const;
};

struct Topology {
  std::string name;  // the lab's name, see CheckLabName(); namespaces are named NAME.NODE
  // The seed of the path engine's random streams.
  uint64_t seed = 1;
  std::string directory = "/";  // the base of relative paths in SPECs
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<Remote> remotes = {};  // remote nodes, which are also ends of links
  HubAddress hub = {};               // used only if there are remote nodes
  std::vector<OtherNode> others = {};
};

// Returns the remote node with this name; null if there is none.
const Remote* FindRemote(const Topology& topology, const std::string& name);
// Whether an end of the link is a remote node.
bool HasRemote(const Topology& topology, const Link& link);

// Throws UsageError if `name` cannot be the name of a lab.
void CheckLabName(const std::string& name);

// Checks a topology. Throws UsageError for: names that are malformed or used twice, endpoints that
// do not exist, an interface used by two links, addresses used twice on one link, names over
// IFNAMSIZ.
void Validate(const Topology& topology);

void to_json(nlohmann::json& json, const Topology& topology);
// Converts JSON to a topology. Throws UsageError for members that are missing, unknown, or of the
// wrong type.
void from_json(const nlohmann::json& json, Topology& topology);

}  // namespace viaduct::lab
