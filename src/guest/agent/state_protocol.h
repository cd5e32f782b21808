// The request and events about the state of a node's kernel in the agent's protocol
// (agent_protocol.h).
#pragma once

#include "guest/agent/agent_protocol.h"

namespace viaduct::guest::agent {

// The request; its subject is the node's number. It is answered by the events below with the number
// of the request, then by kDone, all at the instant of the request: sampling changes nothing and
// takes no virtual time.
inline constexpr Code kSampleState{kFirstStatisticsCode};  // payload: uint32_t, a set of kSample...

inline constexpr uint32_t kSampleTcp = 1;       // sends kTcpState for each socket that has a peer
inline constexpr uint32_t kSampleQdiscs = 2;    // sends kQdiscState for each queueing discipline
inline constexpr uint32_t kSampleCounters = 4;  // sends kCounterState for each file of counters

// Events; the subject is the node's number.
//
// The state of a TCP socket. Payload: TcpState and struct tcp_info.
inline constexpr Code kTcpState{0x8000 + kFirstStatisticsCode};
// The state of a queueing discipline. Payload: QdiscState.
inline constexpr Code kQdiscState{0x8000 + kFirstStatisticsCode + 1};
// The counters of a node. Payload: the text of one file of counters.
inline constexpr Code kCounterState{0x8000 + kFirstStatisticsCode + 2};

// The state of a TCP socket of any program (struct inet_diag_msg of linux/inet_diag.h). The struct
// tcp_info of linux/tcp.h follows, with the length that it has in the guest's kernel.
struct TcpState {
  Endpoint local;
  Endpoint peer;
  uint64_t cookie;  // SO_COOKIE: unique while the kernel runs
  uint32_t receive_queue;
  uint32_t send_queue;
  char congestion_control[16];  // zero-terminated
};
static_assert(sizeof(TcpState) == 80);

// The statistics of a queueing discipline (struct gnet_stats_basic, gnet_stats_queue of
// linux/gen_stats.h).
struct QdiscState {
  int32_t ifindex;
  uint32_t handle;
  uint32_t parent;
  uint32_t queue_length;  // packets in the queue
  uint32_t backlog;       // bytes in the queue
  uint32_t drops;
  uint32_t requeues;
  uint32_t overlimits;
  uint64_t bytes;
  uint64_t packets;
  char device[16];  // zero-terminated
  char kind[16];    // zero-terminated
};
static_assert(sizeof(QdiscState) == 80);

}  // namespace viaduct::guest::agent
