// Builds a Topology in the kernel, and removes it.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "lab/record.h"
#include "lab/topology.h"
#include "sys/card/wireless_cards.h"
#include "sys/network/link.h"

namespace viaduct::lab {

struct LabOptions {
  std::string record_root = sys::kRunFolder;
  uint32_t owner_uid = 0;                           // the invoking user, for the record
  sys::WirelessCards* cards = &sys::KernelCards();  // not owned; must outlive the lab
};

// The device that holds Node::program_addresses, in the node's namespace.
inline constexpr char kProgramDevice[] = "tun0";

std::string NamespaceName(const std::string& lab, const std::string& node);
// A lab that exists in the kernel as long as this object does. For use by one thread.
class Lab {
 public:
  // Validates, records and builds the lab. If that fails half-way, removes the created objects and
  // throws: UsageError for a malformed topology, a name that is taken, a physical interface that is
  // missing, busy, in use by another run, or on a Wi-Fi card of which another node gets a part;
  // EnvironmentError for missing privileges, a missing kernel feature that a link needs, or an
  // interface that the kernel cannot move into a node.
  explicit Lab(Topology topology, const LabOptions& options = {});
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  const Topology& topology() const { return topology_; }
  const std::string& name() const { return topology_.name; }

  // The functions below throw UsageError if the lab has no such node or interface.
  const Node& GetNode(const std::string& node) const;
  const Interface& GetInterface(const Endpoint& endpoint) const;
  int NamespaceFd(const std::string& node) const;  // a descriptor that the lab owns
  // Returns the path of the run's hosts file with the nodes' names (lab/names.h).
  std::string HostsPath() const;
  std::string NamespacePath(const std::string& node) const;
  sys::Netlink& NetlinkOf(const std::string& node);  // a session in the node's namespace
  // Return the fabric's namespace and a session in it. Throw UsageError if the lab has no fabric
  // (NeedsFabric()).
  int FabricFd() const;
  sys::Netlink& FabricNetlink();
  // Records the process of the path engine, which emulates links (FabricPairs()).
  void RecordEngine(int pid);
  void RecordSimulator(const SimulatorHistory& history);
  void RecordForwarder(const ForwarderHistory& history);
  int IfIndex(const Endpoint& endpoint);  // the index in the node's namespace
  void SetLinkUp(const Endpoint& endpoint, bool up);
  // Sets all ends of a link up or down. When all ends are up, the kernels' unresolved neighbours
  // are deleted: a kernel that requested a MAC address while an end was down would repeat the
  // request only after a second.
  void SetEndsUp(const std::vector<Endpoint>& ends, bool up);
  // Whether frames that this endpoint sends pass a queueing discipline (of a SPEC emulated by the
  // kernel, or of a physical interface), or are captured only at this endpoint (on a link to a
  // remote node). A packet socket that sends on the endpoint must not bypass the queueing
  // discipline (PACKET_QDISC_BYPASS).
  bool HasQdisc(const Endpoint& endpoint) const;

  // Ends the processes in the lab's namespaces (SIGTERM, then SIGKILL) and removes the lab's
  // objects, the newest first. Returns one line for each object that could not be removed. The
  // destructor does the same.
  std::vector<std::string> Remove();

 private:
  struct State;
  void RemoveQuietly();

  Topology topology_;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::lab
