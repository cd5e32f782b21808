#include "guest/inside/nodes.h"

#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "guest/inside/mptcp.h"
#include "sys/network/netns.h"
#include "sys/network/route_request.h"
#include "sys/network/route_rule.h"
#include "sys/network/sysctl.h"

namespace viaduct::guest::inside {

using agent::Code;
using agent::Operation;

namespace {

// The loopback interface's ifindex in every namespace (LOOPBACK_IFINDEX of net/flow.h).
constexpr int kLoopback = 1;

wire::IpPrefix PrefixOf(const agent::Endpoint& endpoint, uint32_t length) {
  wire::IpPrefix prefix;
  prefix.address = agent::FromEndpoint(endpoint);
  prefix.length = static_cast<int>(std::min<uint32_t>(length, 8 * prefix.address.Length()));
  return prefix;
}

wire::MacAddress MacOf(const uint8_t (&bytes)[6]) {
  wire::MacAddress mac;
  std::copy_n(bytes, 6, mac.bytes.begin());
  return mac;
}

sys::RouteEntry EntryOf(const Operation& operation) {
  const auto route = operation.As<agent::Route>();
  sys::RouteEntry entry{.destination = PrefixOf(route.destination, route.prefix_length).Network(),
                        .hops = {},
                        .metric = route.metric,
                        .table = route.table};
  for (uint32_t i = 0; i < route.hops; ++i) {
    const auto hop = operation.As<agent::RouteHop>(sizeof route + i * sizeof(agent::RouteHop));
    entry.hops.push_back({.ifindex = hop.ifindex});
    if (hop.gateway.family != AF_UNSPEC) {
      entry.hops.back().gateway = agent::FromEndpoint(hop.gateway);
    }
  }
  return entry;
}

sys::RouteRule RuleOf(const agent::Rule& rule) {
  const wire::IpPrefix from = PrefixOf(rule.from, rule.prefix_length);
  return {.from = from,
          .to = {{from.address.family, {}}, 0},
          .table = rule.table,
          .priority = rule.priority};
}

}  // namespace

Node::Node(std::string node_name, UniqueFd node_namespace)
    : name(std::move(node_name)), fd(std::move(node_namespace)) {
  netlink.socket().ReadAtOnce();
}

Nodes::Nodes(service::Agent& agent)
    : agent_(agent), root_(sys::OpenCurrentNamespace()), current_(root_.get()) {
  sys::PrepareNamespaceDirectory();
  root_netlink_.socket().ReadAtOnce();
  const auto handle = [&](Code code, auto method, auto... arguments) {
    agent_.Handle(code, [this, method, arguments...](const Operation& operation) {
      (this->*method)(operation, arguments...);
    });
  };
  handle(Code::kCreateNode, &Nodes::Create);
  handle(Code::kMoveInterface, &Nodes::MoveInterface);
  handle(Code::kSetLink, &Nodes::SetLink);
  handle(Code::kAddAddress, &Nodes::ChangeAddress, true);
  handle(Code::kRemoveAddress, &Nodes::ChangeAddress, false);
  handle(Code::kAddRoute, &Nodes::ChangeRoute, true);
  handle(Code::kRemoveRoute, &Nodes::ChangeRoute, false);
  handle(Code::kAddNeighbour, &Nodes::AddNeighbour);
  handle(Code::kWriteSysctl, &Nodes::WriteSysctl);
  handle(Code::kAddRule, &Nodes::AddRule);
  handle(Code::kAddMptcpEndpoint, &Nodes::AddMptcpEndpoint);
  handle(Code::kSetMptcpLimits, &Nodes::SetMptcpLimits);
}

Node& Nodes::Get(uint32_t number) {
  const auto found = nodes_.find(number);
  if (found == nodes_.end()) throw Error("no node has the number " + std::to_string(number));
  return *found->second;
}

void Nodes::Enter(const Node& node) { Enter(node.fd.get()); }

void Nodes::Enter(int namespace_fd) {
  if (current_ == namespace_fd) return;
  SystemCall("enter a node's namespace", setns(namespace_fd, CLONE_NEWNET));
  current_ = namespace_fd;
}

UniqueFd Nodes::OpenSocket(const agent::OpenSocket& request) {
  const Node& node = Get(request.node);
  Enter(node);
  return UniqueFd(SystemCall(node.name + ": open a socket",
                             socket(request.family, request.type | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                    static_cast<int>(request.protocol))));
}

void Nodes::Create(const Operation& operation) {
  const std::string name(operation.Text());
  if (nodes_.contains(operation.subject)) throw SystemError("create node " + name, EEXIST);
  current_ = -1;
  auto node = std::make_unique<Node>(name, sys::EnterNewNamespace(name));
  current_ = node->fd.get();
  node->netlink.SetUp(kLoopback, true);
  if (on_create_) on_create_(operation.subject);
  nodes_.emplace(operation.subject, std::move(node));
  agent_.Done(operation);
}

agent::Interface Nodes::FindDevice(const wire::MacAddress& mac) {
  if (!devices_.contains(mac)) {
    devices_.clear();
    for (const sys::LinkInfo& link : root_netlink_.Links())
      devices_[link.mac] = {link.ifindex, static_cast<uint32_t>(link.mtu)};
  }
  const auto found = devices_.find(mac);
  if (found == devices_.end()) throw SystemError("find the device " + mac.ToString(), ENODEV);
  const agent::Interface device = found->second;
  devices_.erase(found);
  return device;
}

void Nodes::MoveInterface(const Operation& operation) {
  const auto request = operation.As<agent::MoveInterface>();
  Node& node = Get(operation.subject);
  const std::string name = agent::FixedText(request.name);
  // All devices of a guest have different ifindexes, so the device's ifindex is free on the node.
  const agent::Interface device = FindDevice(MacOf(request.mac));
  root_netlink_.MoveLink(device.ifindex, node.fd.get(), name, /*keeps_ifindex=*/true);
  agent_.Done(operation, agent::BytesOf(device));
}

void Nodes::SetLink(const Operation& operation) {
  const auto request = operation.As<agent::SetLink>();
  sys::Netlink& netlink = Get(operation.subject).netlink;
  if (request.mtu != 0) netlink.SetMtu(request.ifindex, static_cast<int>(request.mtu));
  if (request.arp >= 0 && request.up >= 0) {
    netlink.SetUpAndArp(request.ifindex, request.up != 0, request.arp != 0);
  } else if (request.arp >= 0) {
    netlink.SetArp(request.ifindex, request.arp != 0);
  } else if (request.up >= 0) {
    netlink.SetUp(request.ifindex, request.up != 0);
  }
  agent_.Done(operation);
}

void Nodes::ChangeAddress(const Operation& operation, bool add) {
  const auto request = operation.As<agent::InterfaceAddress>();
  Node& node = Get(operation.subject);
  const wire::IpPrefix prefix = PrefixOf(request.address, request.prefix_length);
  if (add) {
    node.netlink.AddAddress(request.ifindex, prefix, request.no_route == 0);
  } else {
    node.netlink.RemoveAddress(request.ifindex, prefix);
  }
  agent_.Done(operation);
}

void Nodes::ChangeRoute(const Operation& operation, bool add) {
  sys::RouteEntry entry = EntryOf(operation);
  Node& node = Get(operation.subject);
  // Removes a multipath route by its destination, without naming its next hops, because the kernel
  // may have removed a next hop together with its interface.
  if (!add && entry.hops.size() > 1) entry.hops.clear();
  auto message =
      sys::RouteRequest(add ? sys::RouteAction::kReplace : sys::RouteAction::kDelete, entry);
  node.netlink.socket().Request(
      message, node.name + (add ? ": add" : ": remove") + " route " + entry.destination.ToString());
  agent_.Done(operation);
}

void Nodes::AddNeighbour(const Operation& operation) {
  const auto request = operation.As<agent::Neighbour>();
  Get(operation.subject)
      .netlink.AddPermanentNeighbour(request.ifindex, agent::FromEndpoint(request.address),
                                     MacOf(request.mac));
  agent_.Done(operation);
}

void Nodes::WriteSysctl(const Operation& operation) {
  const std::string_view text = operation.Text();
  const size_t zero = text.find('\0');
  if (zero == std::string_view::npos) throw agent::ProtocolError("parameter without a value");
  // Enters the namespace first, because a sysctl file refers to the namespace of the process that
  // writes it.
  Enter(operation.subject == agent::kGuestItself ? root_.get() : Get(operation.subject).fd.get());
  sys::WriteSysctlHere(std::string(text.substr(0, zero)), std::string(text.substr(zero + 1)));
  agent_.Done(operation);
}

std::string Nodes::NameOf(const Node& node, int ifindex) {
  Enter(node);
  char name[IF_NAMESIZE];
  if (if_indextoname(static_cast<unsigned>(ifindex), name) == nullptr) {
    throw SystemError(node.name + ": find an interface", errno);
  }
  return name;
}

void Nodes::AddRule(const Operation& operation) {
  const auto request = operation.As<agent::Rule>();
  Node& node = Get(operation.subject);
  sys::RouteRule rule = RuleOf(request);
  if (request.incoming != 0) rule.incoming = NameOf(node, request.incoming);
  auto message = sys::RuleRequest(rule);
  node.netlink.socket().Request(message, node.name + ": add a routing rule");
  agent_.Done(operation);
}

void Nodes::AddMptcpEndpoint(const Operation& operation) {
  Enter(Get(operation.subject));
  inside::AddMptcpEndpoint(operation.As<agent::MptcpEndpoint>());
  agent_.Done(operation);
}

void Nodes::SetMptcpLimits(const Operation& operation) {
  Enter(Get(operation.subject));
  inside::SetMptcpLimits(operation.As<agent::MptcpLimits>());
  agent_.Done(operation);
}

}  // namespace viaduct::guest::inside
