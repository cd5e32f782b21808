// Builds a Topology in the kernel, and takes it away again.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "lab/record.h"
#include "lab/topology.h"
#include "sys/network/link.h"

namespace viaduct::lab {

struct LabOptions {
  std::string record_root = kRecordRoot;
  int owner_uid = 0;  // the invoking user, for the record
};

// The device that holds Node::program_addresses, in the node's namespace.
inline constexpr char kProgramDevice[] = "tun0";

std::string NamespaceName(const std::string& lab, const std::string& node);
// The namespace of the lab's bridges and of the engine's ports (lab/hub.h): "LAB.hub". No node may
// be called so.
inline constexpr char kHubNode[] = "hub";

// A lab that exists in the kernel as long as this object does. One thread.
class Lab {
 public:
  // Validates, records and builds; when that fails half-way, removes what was made and throws.
  // UsageError: malformed topology, name taken, physical interface missing, busy or in use by
  // another run. EnvironmentError: no privilege, or a kernel feature that a link needs is missing.
  explicit Lab(Topology topology, const LabOptions& options = {});
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  const Topology& topology() const { return topology_; }
  const std::string& name() const { return topology_.name; }
  // ROOT/LAB, where the broker may keep its socket; removed with the lab.
  const std::string& directory() const;

  // All throw UsageError where the lab has no such node or interface.
  const Node& GetNode(const std::string& node) const;
  const Interface& GetInterface(const Endpoint& endpoint) const;
  int NamespaceFd(const std::string& node) const;  // owned by the lab
  std::string NamespacePath(const std::string& node) const;
  sys::Netlink& NetlinkOf(const std::string& node);  // a session in the node's namespace
  // The hub namespace; throws where the lab has none (NeedsHub()).
  int HubFd() const;
  sys::Netlink& HubNetlink();
  // Whoever emulates the links (HubPairs()) is put in the lab's record.
  void RecordEngine(int pid);
  int IfIndex(const Endpoint& endpoint);  // in the node's namespace
  void SetLinkUp(const Endpoint& endpoint, bool up);
  // Whether this endpoint's transmissions pass a queueing discipline (a SPEC of the kernel's): a
  // packet socket that sends on it must not bypass it (PACKET_QDISC_BYPASS).
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
