// The nodes of a guest: a network namespace for each node, and the namespace's configuration.
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
  // Creates a node and opens its netlink socket; must be called in the node's namespace.
  Node(std::string node_name, UniqueFd node_namespace);
  std::string name;
  UniqueFd fd;  // refers to the network namespace
  sys::Netlink netlink;
};

class Nodes {
 public:
  // Registers the handlers of the requests about nodes. This object must be created and used in the
  // namespace that has the guest's devices. The agent must outlive this object.
  explicit Nodes(service::Agent& agent);

  // Sets a handler that is called with the number of each new node, in the node's namespace, before
  // any other operation on the node.
  void OnCreate(std::function<void(uint32_t number)> handler) { on_create_ = std::move(handler); }

  // Returns the node with the number `number`; throws Error if there is none.
  Node& Get(uint32_t number);
  // Opens a socket on the node that the request names, and moves the calling thread to that node's
  // namespace.
  UniqueFd OpenSocket(const agent::OpenSocket& request);
  // Moves the calling thread to a node's namespace, unless the thread is already in it.
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
  // Enters the node's namespace and returns the name of an interface of the node. Throws
  // SystemError.
  std::string NameOf(const Node& node, int ifindex);
  void AddMptcpEndpoint(const agent::Operation& operation);
  void SetMptcpLimits(const agent::Operation& operation);
  void Enter(int namespace_fd);
  agent::Interface FindDevice(const wire::MacAddress& mac);

  service::Agent& agent_;
  UniqueFd root_;
  int current_;  // the namespace in which the thread is; -1: unknown
  sys::Netlink root_netlink_;
  // The devices in the guest's first namespace, by MAC address.
  std::map<wire::MacAddress, agent::Interface> devices_;
  std::map<uint32_t, std::unique_ptr<Node>> nodes_;
  std::function<void(uint32_t)> on_create_;
};

}  // namespace viaduct::guest::inside
