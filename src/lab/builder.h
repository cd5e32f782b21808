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
  sys::WirelessCards* cards = &sys::KernelCards();  // not owned; outlives the lab
};

// The device that holds Node::program_addresses, in the node's namespace.
inline constexpr char kProgramDevice[] = "tun0";

std::string NamespaceName(const std::string& lab, const std::string& node);
// A lab that exists in the kernel as long as this object does. For use by one thread.
class Lab {
 public:
  // Validates, records and builds the lab; when that fails half-way, removes what was created and
  // throws: UsageError for a malformed topology, a name that is taken, a physical interface that is
  // missing, busy, in use by another run, or on a Wi-Fi card of which another node gets a part;
  // EnvironmentError for missing privileges, a missing kernel feature that a link needs, an
  // interface that the kernel moves to no node.
  explicit Lab(Topology topology, const LabOptions& options = {});
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  const Topology& topology() const { return topology_; }
  const std::string& name() const { return topology_.name; }

  // All throw UsageError if the lab has no such node or interface.
  const Node& GetNode(const std::string& node) const;
  const Interface& GetInterface(const Endpoint& endpoint) const;
  int NamespaceFd(const std::string& node) const;  // owned by the lab
  // The path of the run's hosts file with the nodes' names (lab/names.h).
  std::string HostsPath() const;
  std::string NamespacePath(const std::string& node) const;
  sys::Netlink& NetlinkOf(const std::string& node);  // a session in the node's namespace
  // The fabric; throws if the lab has none (NeedsFabric()).
  int FabricFd() const;
  sys::Netlink& FabricNetlink();
  // Records the process that emulates the links (FabricPairs()).
  void RecordEngine(int pid);
  void RecordSimulator(const SimulatorHistory& history);
  void RecordForwarder(const ForwarderHistory& history);
  int IfIndex(const Endpoint& endpoint);  // the index in the node's namespace
  void SetLinkUp(const Endpoint& endpoint, bool up);
  // Sets all ends of a link up or down. When all are up, the kernels have forgotten the MAC
  // addresses that they asked for while one was down: they would ask again only after a second.
  void SetEndsUp(const std::vector<Endpoint>& ends, bool up);
  // Whether this endpoint's transmissions pass a queueing discipline (a SPEC emulated by the
  // kernel, a physical interface), or are seen by captures there alone (to a remote node): a packet
  // socket that sends on it must not bypass it (PACKET_QDISC_BYPASS).
  bool HasQdisc(const Endpoint& endpoint) const;

  // Ends the processes in the namespaces (SIGTERM, then SIGKILL) and removes everything, newest
  // first. Returns what could not be removed, one line each. The destructor does the same.
  std::vector<std::string> Remove();

 private:
  struct State;
  void RemoveQuietly();

  Topology topology_;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::lab
