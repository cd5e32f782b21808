// The nodes of a guest: a network namespace for each, and its configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/fd.h"
#include "guest/agent/agent_protocol.h"
#include "guest/service/agent.h"
#include "sys/network/link.h"

namespace viaduct::guest::inside {

struct Node {
  // Must be called in the node's namespace.
  Node(std::string node_name, UniqueFd node_namespace);
  std::string name;
  UniqueFd fd;  // the network namespace
  sys::Netlink netlink;
};

class Nodes {
 public:
  // Registers the requests about nodes. Must be created and used in the namespace that has the
  // guest's devices. The agent must outlive it.
  explicit Nodes(service::Agent& agent);

  // Sets a handler that is called with each new node's number, in the node's namespace, before any
  // other operation on the node.
  void OnCreate(std::function<void(uint32_t number)> handler) { on_create_ = std::move(handler); }

  // Returns the node; throws Error if there is none.
  Node& Get(uint32_t number);
  // Opens a socket on its node, and moves the calling thread there.
  UniqueFd OpenSocket(const agent::OpenSocket& request);
  // Moves the calling thread to a node's namespace, unless it is there already.
  void Enter(const Node& node);

 private:
  void Create(const agent::Operation& operation);
  void MoveInterface(const agent::Operation& operation);
  void SetLink(const agent::Operation& operation);
  void ChangeAddress(const agent::Operation& operation, bool add);
  void ChangeRoute(const agent::Operation& operation, bool add);
  void AddNeighbour(const agent::Operation& operation);
  void WriteSysctl(const agent::Operation& operation);
  void AddRule(const agent::Operation& operation);
  // The name of an interface of the node, whose namespace is entered. Throws SystemError.
  std::string NameOf(const Node& node, int ifindex);
  void AddMptcpEndpoint(const agent::Operation& operation);
  void SetMptcpLimits(const agent::Operation& operation);
  void Enter(int namespace_fd);
  agent::Interface FindDevice(const wire::MacAddress& mac);

  service::Agent& agent_;
  UniqueFd root_;
  int current_;  // the namespace that the thread is in; -1: not known
  sys::Netlink root_netlink_;
  std::map<wire::MacAddress, agent::Interface> devices_;  // devices of the guest's own namespace
  std::map<uint32_t, std::unique_ptr<Node>> nodes_;
  std::function<void(uint32_t)> on_create_;
};

}  // namespace viaduct::guest::inside
