// Sampling of the state of the nodes' kernel for traces: TCP sockets, queueing disciplines,
// counters.
//
// Sampling takes no virtual time, because none of its system calls fails or reads a clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/fd.h"
#include "guest/agent/state_protocol.h"
#include "guest/inside/nodes.h"
#include "guest/service/agent.h"

namespace viaduct::guest::inside {

class State {
 public:
  // Registers the handlers of the requests about state. The agent and the nodes must outlive this
  // object.
  State(service::Agent& agent, Nodes& nodes);

 private:
  // The sockets and files by which a node is sampled. The netlink socket is opened when the node is
  // created, even if the node is never sampled, so that sampling changes nothing: the kernel's hash
  // tables of netlink sockets grow with the number of sockets (lib/rhashtable.c), and draw random
  // numbers when they grow.
  struct Probe {
    Probe();         // opens the socket in the caller's network namespace
    void Prepare();  // must be called in the same namespace before the first sample
    UniqueFd unused;
    std::optional<sys::NetlinkSocket> sockets;  // the socket of NETLINK_SOCK_DIAG
    std::vector<UniqueFd> files;                // files of counters in /proc
    std::map<int, std::string> names;           // names of devices; key: the ifindex
  };

  void Sample(const agent::Operation& operation);
  void SampleTcp(const agent::Operation& operation, Probe& probe);
  void SampleQdiscs(const agent::Operation& operation, Node& node, Probe& probe);
  void SampleCounters(const agent::Operation& operation, Probe& probe);
  const std::string& NameOf(int ifindex, Node& node, Probe& probe);

  service::Agent& agent_;
  Nodes& nodes_;
  std::map<uint32_t, Probe> probes_;
  std::vector<std::byte> buffer_;
};

}  // namespace viaduct::guest::inside
