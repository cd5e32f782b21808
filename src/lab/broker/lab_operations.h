// The broker's operations, performed on a real lab.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "lab/broker/lab_engine.h"
#include "lab/broker/lab_forwarder.h"
#include "lab/broker/operations.h"
#include "lab/builder.h"
#include "lab/joined_paths.h"
#include "plane/fib/data_plane.h"
#include "sys/network/link.h"
#include "sys/process/invoking_user.h"

namespace viaduct::broker {

// An object of this class holds at most one lab during its lifetime, because a broker serves one
// run. For use by one thread.
class LabOperations final : public Operations {
 public:
  // `signals`: a signalfd for SIGCHLD (to reap programs) and for the signals that end the broker.
  LabOperations(const sys::Identity& owner, UniqueFd signals);

  void SetAsker(int connection) override { asker_ = connection; }
  void CreateLab(const lab::Topology& topology) override;
  void AdoptLab(const lab::Topology& topology) override;
  void TakeInnerSocket(UniqueFd socket) override;
  void DestroyLab() override;
  NodeSocket OpenPacketSocket(const PacketSocketOptions& options) override;
  NodeSocket OpenControlSocket(const ControlSocketOptions& options) override;
  UniqueFd OpenTransportSocket(const TransportSocketOptions& options) override;
  UniqueFd OpenTun(const std::string& node) override;
  void ApplyRoutes(const std::string& node, const fib::RouteChanges& changes) override;
  const fib::RouteTable& Routes(const std::string& node) override {
    return StateOf(node).routes->Routes();
  }
  std::vector<std::optional<Passage>> LookUp(
      const std::string& node, const std::vector<wire::IpAddress>& destinations) override;
  int IfIndex(const lab::Endpoint& endpoint) override { return TheLab().IfIndex(endpoint); }
  void SetLinkUp(const std::vector<lab::Endpoint>& ends, bool up) override;
  void SetAddresses(const lab::Endpoint& endpoint,
                    const std::vector<wire::IpPrefix>& addresses) override;
  UniqueFd OpenLinkMonitor(const std::string& node) override;
  Tables OpenTables(const std::string& node) override;
  UniqueFd OpenUpcalls(const std::string& node, const std::set<wire::Family>& families) override;
  void SetNeighbours(const std::string& node, const std::vector<lab::Neighbour>& neighbours,
                     bool held) override;
  UniqueFd OpenMulticast(const std::string& node, wire::Family family,
                         const std::vector<std::string>& interfaces) override;
  Program Spawn(const ProgramOptions& options) override;
  void Kill(int pid, int signal) override;
  void NoteSimulator(const lab::SimulatorHistory& history) override;
  void NoteKeepersEnd() override;
  nlohmann::json Describe() override;
  UniqueFd Detach() override;
  bool MayConnect(uid_t uid) const override { return uid == 0 || uid == owner_.uid; }
  std::vector<int> Descriptors() const override;
  bool OnReadable(int descriptor) override;

  // Ends every program and removes the lab. Returns one line for each object that could not be
  // removed; the lab's record is then kept for `viaduct clean`.
  std::vector<std::string> Shutdown();

 private:
  struct NodeState {
    NodeState(const fib::Choice& the_choice, const fib::NodePlace& place)
        : choice(the_choice), routes(choice.plane->make_sink(place)), monitor(place.namespace_fd) {}
    fib::Choice choice;
    std::unique_ptr<fib::RouteSink> routes;
    sys::LinkMonitor monitor;
    // The families whose packets without a route are passed to the simulator.
    std::set<wire::Family> upcalls;
    std::vector<UniqueFd> upcall_programs;
    std::vector<lab::Neighbour> held;  // neighbours that HoldNeighbours() holds now
    // The tables of multicast routes. They are kept when the simulator fails; the next simulator
    // gets them.
    std::map<wire::Family, UniqueFd> multicast;
    bool is_adopted = false;
  };

  lab::Lab& TheLab();
  void RecordTopology() const;
  // `reasons`: the key is the name of a node, the value the reason for the node's data plane, or
  // the reason why paths through the node are not joined.
  static std::map<std::string, NodeState> MakeNodes(
      const lab::Lab& lab, const std::map<std::string, std::string>& reasons);
  NodeState& StateOf(const std::string& node);
  void LeaveByHop(const std::string& node, const char* reason);
  bool ReadSignals();
  void CollectPrograms();
  void KeepForwarding();
  void EndPrograms();

  int asker_ = -1;
  sys::Identity owner_;
  UniqueFd signals_;
  std::unique_ptr<lab::Lab> lab_;
  nlohmann::json asked_;  // the topology that the client requested, before data planes were chosen
  lab::SimulatorHistory simulator_;
  UniqueFd inner_socket_;            // the socket of LendInnerSocket(), until the lab takes it
  std::optional<LabEngine> engine_;  // empty if the lab has no emulated links
  // The joined paths of the lab; null if the lab has no wires over which paths are joined.
  std::unique_ptr<lab::JoinedPaths> joined_;
  std::optional<LabForwarder> forwarder_;  // empty if no node needs a forwarder
  std::map<std::string, NodeState> nodes_;
  // For each pid, the writing end of the pipe that reports the program's wait status.
  std::map<int, UniqueFd> programs_;
  std::set<int> ended_;
};

}  // namespace viaduct::broker
