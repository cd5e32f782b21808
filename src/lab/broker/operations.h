// The operations of the broker, separate from its protocol, so that the server can be tested
// without privileges.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "lab/broker/client.h"

namespace viaduct::broker {

// The operations of the broker. Each is documented in Client; all throw Error.
class Operations {
 public:
  virtual ~Operations() = default;

  // Sets the connection of the client that requests the next operation: a long operation may be
  // given up when this connection closes.
  virtual void SetAsker(int /*connection*/) {}
  virtual void CreateLab(const lab::Topology& topology) = 0;
  virtual void AdoptLab(const lab::Topology& topology) = 0;
  virtual void TakeInnerSocket(UniqueFd socket) = 0;
  virtual void DestroyLab() = 0;
  virtual NodeSocket OpenPacketSocket(const PacketSocketOptions& options) = 0;
  virtual NodeSocket OpenControlSocket(const ControlSocketOptions& options) = 0;
  virtual UniqueFd OpenTransportSocket(const TransportSocketOptions& options) = 0;
  virtual UniqueFd OpenTun(const std::string& node) = 0;
  virtual void ApplyRoutes(const std::string& node, const fib::RouteChanges& changes) = 0;
  // Returns the routes that are in the node's data plane.
  virtual const fib::RouteTable& Routes(const std::string& node) = 0;
  virtual std::vector<std::optional<Passage>> LookUp(
      const std::string& node, const std::vector<wire::IpAddress>& destinations) = 0;
  virtual int IfIndex(const lab::Endpoint& endpoint) = 0;
  virtual void SetLinkUp(const std::vector<lab::Endpoint>& ends, bool up) = 0;
  virtual void SetAddresses(const lab::Endpoint& endpoint,
                            const std::vector<wire::IpPrefix>& addresses) = 0;
  virtual UniqueFd OpenLinkMonitor(const std::string& node) = 0;
  virtual Tables OpenTables(const std::string& node) = 0;
  virtual UniqueFd OpenUpcalls(const std::string& node, const std::set<wire::Family>& families) = 0;
  virtual void SetNeighbours(const std::string& node, const std::vector<lab::Neighbour>& neighbours,
                             bool held) = 0;
  virtual UniqueFd OpenMulticast(const std::string& node, wire::Family family,
                                 const std::vector<std::string>& interfaces) = 0;
  virtual Program Spawn(const ProgramOptions& options) = 0;
  virtual void Kill(int pid, int signal) = 0;
  virtual void NoteSimulator(const lab::SimulatorHistory& history) = 0;
  // Records that the client that detached the lab has ended without destroying the lab.
  virtual void NoteKeepersEnd() = 0;
  virtual nlohmann::json Describe() = 0;
  // Detaches the lab. Returns the listening socket on which further clients reach the broker.
  virtual UniqueFd Detach() = 0;

  // Whether the user `uid` may connect to a detached lab.
  virtual bool MayConnect(uid_t uid) const = 0;
  // Returns further descriptors to poll (link events, ended programs, signals); OnReadable()
  // handles a readable one. OnReadable() returns false if the broker must clean up and end.
  virtual std::vector<int> Descriptors() const = 0;
  virtual bool OnReadable(int descriptor) = 0;
};

}  // namespace viaduct::broker
