// Sampling the state of the nodes' kernel for traces: TCP sockets, queueing disciplines, counters.
//
// Sampling takes no virtual time, because no system call here fails or reads a clock.
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
  // Registers the requests about state. Agent and nodes must outlive it.
  State(service::Agent& agent, Nodes& nodes);

 private:
  // The sockets and files by which a node is sampled. Its socket is opened with the node, whether
  // the node is ever sampled or not, so that sampling changes nothing: the kernel's tables of
  // netlink sockets grow with their number (lib/rhashtable.c), and consume random numbers when they
  // do.
  struct Probe {
    Probe();         // for the calling thread's namespace
    void Prepare();  // at its first use, in that namespace
    UniqueFd unused;
    std::optional<sys::NetlinkSocket> sockets;  // NETLINK_SOCK_DIAG
    std::vector<UniqueFd> files;                // files of counters
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
