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

struct tcp_info;  // from linux/tcp.h, which conflicts with netinet/tcp.h

namespace viaduct::guest {

// Counters since the creation of the node, by their nstat(8) names ("IpInReceives",
// "TcpExtTCPLostRetransmit").
using Counters = std::map<std::string, int64_t>;

// The callbacks of Sample(). All are called at the instant of Sample(), `done` last.
struct StateSink {
  // Members of `info` that the guest's kernel is too old for are 0.
  std::function<void(const agent::TcpState& socket, const ::tcp_info& info)> tcp;
  std::function<void(const agent::QdiscState& qdisc)> qdisc;
  std::function<void(const Counters& counters)> counters;
  std::function<void()> done;
};

// Adds the counters of a file: /proc/net/snmp and /proc/net/netstat (a line "Tcp: names", a line
// "Tcp: values") or /proc/net/snmp6 (a name and a value a line). Throws ProtocolError.
void ParseCounters(std::string_view text, Counters& counters);

// One for each agent.
class StateClient {
 public:
  explicit StateClient(AgentClient& agent);
  StateClient(const StateClient&) = delete;
  StateClient& operator=(const StateClient&) = delete;

  // Samples a node now. Requests only what `sink` has a callback for. If the guest cannot answer,
  // the agent's failure handler ends the run.
  void Sample(uint32_t node, StateSink sink);

 private:
  struct Pending {
    StateSink sink;
    Counters counters;
  };
  using Asked = std::map<uint32_t, Pending>;  // key: the request

  AgentClient& agent_;
  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();  // handlers hold it weakly
};

}  // namespace viaduct::guest
