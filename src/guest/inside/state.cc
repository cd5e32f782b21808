#include "guest/inside/state.h"

#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/error.h"

namespace viaduct::guest::inside {

using agent::BytesOf;
using agent::Operation;

namespace {

// The TCP states of the sampled sockets (include/net/tcp_states.h): all states except CLOSE (7) and
// LISTEN (10), which have no peer, and TIME_WAIT (6) and NEW_SYN_RECV (12), which have no struct
// tcp_info.
constexpr uint32_t kStates =
    1u << 1 | 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 8 | 1u << 9 | 1u << 11;
constexpr std::array<const char*, 3> kCounterFiles = {
    "/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat", "/proc/thread-self/net/snmp6"};
// The size of the buffer in bytes, which is enough for each file of counters and for every answer
// of a netlink dump.
constexpr size_t kBuffer = 64 * 1024;

template <class T>
T Read(const nlattr* attribute) {
  T value{};
  if (attribute == nullptr) return value;
  std::memcpy(&value, nla_data(attribute),
              std::min<size_t>(sizeof value, static_cast<size_t>(nla_len(attribute))));
  return value;
}

template <size_t N>
void Copy(std::string_view text, char (&to)[N]) {
  text.substr(0, N - 1).copy(to, N - 1);
}

template <class Header>
const nlattr* Find(const nlmsghdr* message, int attribute) {
  return nlmsg_find_attr(const_cast<nlmsghdr*>(message), sizeof(Header), attribute);
}

const nlattr* FindIn(const nlattr* nest, int attribute) {
  return nest == nullptr
             ? nullptr
             : nla_find(static_cast<const nlattr*>(nla_data(nest)), nla_len(nest), attribute);
}

agent::Endpoint EndpointOf(uint8_t family, const __be32 (&address)[4], __be16 port) {
  agent::Endpoint endpoint{};
  endpoint.family = family;
  endpoint.port = ntohs(port);
  std::memcpy(endpoint.address, address, family == AF_INET ? 4 : 16);
  return endpoint;
}

agent::TcpState TcpStateOf(const nlmsghdr* message) {
  const auto* diag = static_cast<const inet_diag_msg*>(nlmsg_data(message));
  const inet_diag_sockid& id = diag->id;
  agent::TcpState state{};
  state.local = EndpointOf(diag->idiag_family, id.idiag_src, id.idiag_sport);
  state.peer = EndpointOf(diag->idiag_family, id.idiag_dst, id.idiag_dport);
  state.cookie = uint64_t{id.idiag_cookie[1]} << 32 | id.idiag_cookie[0];
  state.receive_queue = diag->idiag_rqueue;
  state.send_queue = diag->idiag_wqueue;
  const nlattr* algorithm = Find<inet_diag_msg>(message, INET_DIAG_CONG);
  if (algorithm != nullptr) {
    Copy(static_cast<const char*>(nla_data(algorithm)), state.congestion_control);
  }
  return state;
}

agent::QdiscState QdiscStateOf(const nlmsghdr* message) {
  const auto* header = static_cast<const tcmsg*>(nlmsg_data(message));
  const nlattr* statistics = Find<tcmsg>(message, TCA_STATS2);
  const auto basic = Read<gnet_stats_basic>(FindIn(statistics, TCA_STATS_BASIC));
  const auto queue = Read<gnet_stats_queue>(FindIn(statistics, TCA_STATS_QUEUE));
  // The number of packets as a 64-bit number. The attribute is present only if 32 bits are too few
  // for the number.
  const nlattr* packets = FindIn(statistics, TCA_STATS_PKT64);
  agent::QdiscState state{};
  state.ifindex = header->tcm_ifindex;
  state.handle = header->tcm_handle;
  state.parent = header->tcm_parent;
  state.bytes = basic.bytes;
  state.packets = packets != nullptr ? Read<uint64_t>(packets) : basic.packets;
  state.queue_length = queue.qlen;
  state.backlog = queue.backlog;
  state.drops = queue.drops;
  state.requeues = queue.requeues;
  state.overlimits = queue.overlimits;
  const nlattr* kind = Find<tcmsg>(message, TCA_KIND);
  if (kind != nullptr) Copy(static_cast<const char*>(nla_data(kind)), state.kind);
  return state;
}

}  // namespace

State::Probe::Probe() : unused(sys::OpenNetlinkSocket(NETLINK_SOCK_DIAG)) {}

void State::Probe::Prepare() {
  sockets = sys::NetlinkSocket::Of(NETLINK_SOCK_DIAG, std::move(unused));
  sockets->ReadAtOnce();
  for (const char* name : kCounterFiles) {
    // A kernel without IPv6 has no file snmp6. The open file keeps referring to the namespace in
    // which it was opened.
    UniqueFd file(open(name, O_RDONLY | O_CLOEXEC));
    if (file) files.push_back(std::move(file));
  }
}

State::State(service::Agent& agent, Nodes& nodes) : agent_(agent), nodes_(nodes), buffer_(kBuffer) {
  nodes_.OnCreate([this](uint32_t number) { probes_.try_emplace(number); });
  agent_.Handle(agent::kSampleState, [this](const Operation& operation) { Sample(operation); });
}

void State::Sample(const Operation& operation) {
  const auto what = operation.As<uint32_t>();
  Node& node = nodes_.Get(operation.subject);
  Probe& probe = probes_.at(operation.subject);
  if (!probe.sockets) {
    nodes_.Enter(node);
    probe.Prepare();
  }
  if ((what & agent::kSampleTcp) != 0) SampleTcp(operation, probe);
  if ((what & agent::kSampleQdiscs) != 0) SampleQdiscs(operation, node, probe);
  if ((what & agent::kSampleCounters) != 0) SampleCounters(operation, probe);
  agent_.Done(operation);
}

// Samples the TCP sockets of a node. A request with the first version's structure is answered with
// the sockets of both address families; a request with struct inet_diag_req_v2 only with the
// sockets of one family.
void State::SampleTcp(const Operation& operation, Probe& probe) {
  inet_diag_req request{};
  request.idiag_ext = 1u << (INET_DIAG_INFO - 1) | 1u << (INET_DIAG_CONG - 1);
  request.idiag_states = kStates;
  sys::NetlinkMessage message(TCPDIAG_GETSOCK, NLM_F_DUMP);
  message.AppendHeader(request);
  probe.sockets->Query(message, "query TCP sockets", [&](const nlmsghdr* answer) {
    const nlattr* information = Find<inet_diag_msg>(answer, INET_DIAG_INFO);
    if (information == nullptr) return;
    const std::span info(static_cast<const std::byte*>(nla_data(information)),
                         static_cast<size_t>(nla_len(information)));
    agent_.Post(agent::kTcpState, operation.subject, operation.request,
                {BytesOf(TcpStateOf(answer)), info});
  });
}

const std::string& State::NameOf(int ifindex, Node& node, Probe& probe) {
  if (!probe.names.contains(ifindex)) {
    for (const sys::LinkInfo& link : node.netlink.Links()) probe.names[link.ifindex] = link.name;
  }
  return probe.names[ifindex];
}

void State::SampleQdiscs(const Operation& operation, Node& node, Probe& probe) {
  sys::NetlinkMessage message(RTM_GETQDISC, NLM_F_DUMP);
  message.AppendHeader(tcmsg{});
  // Reads all disciplines before requesting the names of their devices, because both requests use
  // the same socket.
  std::vector<agent::QdiscState> states;
  node.netlink.socket().Query(
      message, node.name + ": query queueing disciplines",
      [&](const nlmsghdr* answer) { states.push_back(QdiscStateOf(answer)); });
  for (agent::QdiscState& state : states) {
    if (std::string_view(state.kind) == "noqueue") continue;  // noqueue has no counters
    Copy(NameOf(state.ifindex, node, probe), state.device);
    agent_.Post(agent::kQdiscState, operation.subject, operation.request, {BytesOf(state)});
  }
}

void State::SampleCounters(const Operation& operation, Probe& probe) {
  for (const UniqueFd& file : probe.files) {
    const ssize_t length =
        SystemCall("read a file of counters", pread(file.get(), buffer_.data(), buffer_.size(), 0));
    agent_.Post(agent::kCounterState, operation.subject, operation.request,
                {std::span(buffer_).first(static_cast<size_t>(length))});
  }
}

}  // namespace viaduct::guest::inside
