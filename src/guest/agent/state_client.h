// The simulator's side of sampling the state of a guest's nodes: TCP sockets, queueing disciplines,
// counters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "guest/agent/agent_client.h"
#include "guest/agent/state_protocol.h"

struct tcp_info;  // declared here because linux/tcp.h conflicts with netinet/tcp.h

namespace viaduct::guest {

// The counters of a node since its creation, by their nstat(8) names ("IpInReceives",
// "TcpExtTCPLostRetransmit").
using Counters = std::map<std::string, int64_t>;

// The callbacks of Sample(). All callbacks are called at the instant of Sample(), `done` as the
// last.
struct StateSink {
  // Called for each TCP socket. Members of `info` that the guest's kernel does not have are 0.
  std::function<void(const agent::TcpState& socket, const ::tcp_info& info)> tcp;
  std::function<void(const agent::QdiscState& qdisc)> qdisc;
  std::function<void(const Counters& counters)> counters;
  std::function<void()> done;
};

// Adds the counters from the text of a file: /proc/net/snmp or /proc/net/netstat (pairs of a line
// of names and a line of values) or /proc/net/snmp6 (a name and a value in each line). Throws
// ProtocolError if the text is malformed.
void ParseCounters(std::string_view text, Counters& counters);

// Samples the state of a guest's nodes; each agent has one StateClient.
class StateClient {
 public:
  explicit StateClient(AgentClient& agent);
  StateClient(const StateClient&) = delete;
  StateClient& operator=(const StateClient&) = delete;

  // Samples a node at the present instant. Requests only the parts of the state for which `sink`
  // has a callback. If the guest cannot answer, the agent's failure handler ends the run.
  void Sample(uint32_t node, StateSink sink);

 private:
  struct Pending {
    StateSink sink;
    Counters counters;
  };
  using Asked = std::map<uint32_t, Pending>;  // key: the number of the request

  AgentClient& agent_;
  // The pending requests; the handlers hold a weak pointer to the map.
  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();
};

}  // namespace viaduct::guest
