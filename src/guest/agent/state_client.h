// The simulator's side of looking at the state of a guest's nodes: TCP sockets, queueing
// disciplines, counters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "guest/agent/agent_client.h"
#include "guest/agent/state_protocol.h"

struct tcp_info;  // of linux/tcp.h, which does not go with netinet/tcp.h

namespace viaduct::guest {

// Counters by the names nstat(8) gives them ("IpInReceives", "TcpExtTCPLostRetransmit"); since the
// node was made.
using Counters = std::map<std::string, int64_t>;

// What Sample() finds. All are called at one instant, that of Sample(), `done` last.
struct StateSink {
  // Members of `info` that the guest's kernel is too old for are 0.
  std::function<void(const agent::TcpState& socket, const ::tcp_info& info)> tcp;
  std::function<void(const agent::QdiscState& qdisc)> qdisc;
  std::function<void(const Counters& counters)> counters;
  std::function<void()> done;
};

// Adds what a file of counters says: /proc/net/snmp and /proc/net/netstat (a line "Tcp: names", a
// line "Tcp: values") or /proc/net/snmp6 (a name and a value a line). Throws ProtocolError.
void ParseCounters(std::string_view text, Counters& counters);

// One for each agent.
class StateClient {
 public:
  explicit StateClient(AgentClient& agent);
  StateClient(const StateClient&) = delete;
  StateClient& operator=(const StateClient&) = delete;

  // Looks at a node now. Asked for is what `sink` has a function for; a sink without any asks for
  // nothing. What the guest cannot tell ends the run (the agent's failure handler).
  void Sample(uint32_t node, StateSink sink);

 private:
  struct Pending {
    StateSink sink;
    Counters counters;
  };
  using Asked = std::map<uint32_t, Pending>;  // by request

  AgentClient& agent_;
  std::shared_ptr<Asked> asked_ = std::make_shared<Asked>();  // handlers hold it weakly
};

}  // namespace viaduct::guest
