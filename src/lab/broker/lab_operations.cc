#include "lab/broker/lab_operations.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/result/run.h"
#include "base/text/json_text.h"
#include "base/utc_time.h"
#include "base/wire/address_scope.h"
#include "lab/broker/broker_process.h"
#include "lab/broker/lossy_wires.h"
#include "lab/broker/sockets.h"
#include "lab/fabric.h"
#include "lab/node_place.h"
#include "lab/plane_choice.h"
#include "lab/record.h"
#include "lab/upcalls.h"
#include "sys/descriptor_limit.h"
#include "sys/descriptors.h"
#include "sys/ipc/unix_socket.h"
#include "sys/machine/own_mounts.h"
#include "sys/network/ip_statistics.h"
#include "sys/network/multicast_table.h"
#include "sys/network/tun.h"
#include "sys/process/process.h"
#include "sys/signals.h"

namespace viaduct::broker {
namespace {

// The time between SIGTERM and SIGKILL for the lab's programs. The tear-down of a run must end
// within two seconds.
constexpr Duration kTimeout = Duration::Milliseconds(500);

// Chooses the data plane of nodes with `data_plane: auto` where paths can be joined; all further
// nodes keep `auto` until their interfaces exist. Returns, by node, the reason for or against
// joined paths.
std::map<std::string, std::string> ChoosePlanes(lab::Topology* topology) {
  const bool is_open = std::ranges::any_of(
      topology->nodes, [](const lab::Node& node) { return node.data_plane->joined != nullptr; });
  if (!is_open) return {};
  static const std::string reason = bpf::JoinerUnavailable();
  if (reason.empty()) return lab::ChooseJoined(topology);
  std::map<std::string, std::string> reasons;
  for (const lab::Node& node : topology->nodes) {
    if (node.data_plane->joined != nullptr) reasons[node.name] = reason;
  }
  return reasons;
}

bool JoinsPaths(const lab::Topology& topology) {
  return std::ranges::any_of(topology.links,
                             [&](const lab::Link& link) { return lab::IsJoined(topology, link); });
}

// Raises the limit of descriptors as needed. For each node: its namespace, a netlink session in it,
// its routes, a link monitor, and the descriptors of its data plane. For each emulated link: the
// engine's two ports. Where paths are joined: the program of each interface. For each node whose
// packets must go hop by hop (its protocol finds routes on demand, for example): two eBPF links per
// interface for copies of packets. And a reserve for programs and clients.
void RequireDescriptorsFor(const lab::Topology& topology) {
  constexpr size_t kPerNode = 4, kPerLink = 2, kReservedFds = 64;
  const size_t nodes = topology.nodes.size();
  size_t needed = kReservedFds + kPerNode * nodes + kPerLink * lab::FabricPairs(topology).size();
  const bool joins = JoinsPaths(topology);
  for (const lab::Node& node : topology.nodes) {
    const fib::DescriptorsNeeded& own = node.data_plane->descriptors;
    needed += own.per_node + own.per_interface * node.interfaces.size();
    if (joins) needed += 1 + 2 * node.interfaces.size();
    if (!node.by_hop.empty()) needed += 2 * node.interfaces.size();
  }
  sys::RequireDescriptors(needed, fmt::format("lab {} of {} nodes needs", topology.name, nodes));
}

}  // namespace

std::map<std::string, LabOperations::NodeState> LabOperations::MakeNodes(
    const lab::Lab& lab, const std::map<std::string, std::string>& reasons) {
  std::map<std::string, NodeState> nodes;
  for (const lab::Node& node : lab.topology().nodes) {
    const fib::NodePlace place = lab::PlaceOf(lab.topology(), node, lab.NamespaceFd(node.name));
    const auto reason = reasons.find(node.name);
    const std::string why = reason == reasons.end() ? "" : reason->second;
    fib::Choice choice = fib::ChoosePlane(*node.data_plane, place, why);
    if (!why.empty() && node.data_plane->joined == nullptr) choice.reason = why;
    nodes.try_emplace(node.name, choice, place);
  }
  return nodes;
}

LabOperations::LabOperations(const sys::Identity& owner, UniqueFd signals)
    : owner_(owner), signals_(std::move(signals)) {}

lab::Lab& LabOperations::TheLab() {
  if (!lab_) throw UsageError("this broker has no lab (not built yet, or already removed)");
  return *lab_;
}

LabOperations::NodeState& LabOperations::StateOf(const std::string& node) {
  TheLab().GetNode(node);  // throws an exception if the lab has no such node
  return nodes_.at(node);
}

// Records the lab's topology for processes that display it (`viaduct view`).
void LabOperations::RecordTopology() const {
  const nlohmann::json topology = lab_->topology();
  const std::string file =
      fmt::format("{}/{}/{}", sys::kRunFolder, lab_->name(), lab::kTopologyFile);
  const UniqueFd made(
      SystemCall("create " + file,
                 open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400)));
  WriteAll(made.get(),
           JsonText({{"name", topology.at("name")},
                     {"nodes", topology.at("nodes")},
                     {"links", topology.at("links")}}),
           file);
  SystemCall("chown " + file, fchown(made.get(), owner_.uid, owner_.gid));
}

void LabOperations::CreateLab(const lab::Topology& topology) {
  if (lab_) {
    throw UsageError(fmt::format(
        "this broker already has lab \"{}\"; a broker supports only one lab", lab_->name()));
  }
  lab::Validate(topology);
  lab::Topology chosen = topology;
  const std::map<std::string, std::string> reasons = ChoosePlanes(&chosen);
  RequireDescriptorsFor(chosen);
  lab::LabOptions options;
  options.owner_uid = owner_.uid;
  auto lab = std::make_unique<lab::Lab>(chosen, options);
  std::map<std::string, NodeState> nodes = MakeNodes(*lab, reasons);
  std::unique_ptr<lab::JoinedPaths> joined;
  if (JoinsPaths(lab->topology())) joined = std::make_unique<lab::JoinedPaths>(*lab);
  if (!lab::FabricPairs(lab->topology()).empty()) {
    engine_.emplace(*lab, owner_, std::move(inner_socket_), asker_);
  }
  LabForwarder::Nodes forwarded;
  for (const auto& [name, state] : nodes) {
    if (const auto shared = state.routes->Shared()) forwarded[name] = *shared;
  }
  if (!forwarded.empty()) forwarder_.emplace(*lab, owner_, std::move(forwarded), asker_);
  lab_ = std::move(lab);
  asked_ = topology;
  nodes_ = std::move(nodes);
  joined_ = std::move(joined);
  RecordTopology();
}

void LabOperations::TakeInnerSocket(UniqueFd socket) {
  const auto has = [&](int option, int wanted) {
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(socket.get(), SOL_SOCKET, option, &value, &length) == 0 && value == wanted;
  };
  if (!has(SO_PROTOCOL, IPPROTO_UDP) || !(has(SO_DOMAIN, AF_INET) || has(SO_DOMAIN, AF_INET6))) {
    throw UsageError("broker request: not a UDP socket");
  }
  inner_socket_ = std::move(socket);
}

void LabOperations::AdoptLab(const lab::Topology& topology) {
  TheLab();
  if (nlohmann::json(topology) != asked_) {
    throw UsageError(fmt::format("lab {} was built from a different topology", lab_->name()));
  }
  for (auto& [name, state] : nodes_) {
    state.upcalls.clear();  // the TUN device was removed when the failed simulator closed it
    state.is_adopted = true;
    lab::ReleaseNeighbours(*lab_, name, std::exchange(state.held, {}));
  }
}

std::vector<std::string> LabOperations::Shutdown() {
  EndPrograms();
  joined_.reset();
  forwarder_.reset();
  nodes_.clear();  // the nodes' sockets would keep the lab's namespaces alive
  std::vector<std::string> problems;
  if (lab_) problems = lab_->Remove();
  lab_.reset();
  engine_.reset();
  CollectPrograms();
  return problems;
}

void LabOperations::DestroyLab() {
  TheLab();
  const auto problems = Shutdown();
  if (problems.empty()) return;
  throw Error(fmt::format(
      "the lab could not be removed completely: {}{}; run `viaduct clean`", problems.front(),
      problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : std::string()));
}

NodeSocket LabOperations::OpenPacketSocket(const PacketSocketOptions& options) {
  if (joined_ && options.ether_type == ETH_P_ALL) {
    LeaveByHop(options.node, "a process reads the node's packets");
  }
  return MakePacketSocket(TheLab(), options);
}

NodeSocket LabOperations::OpenControlSocket(const ControlSocketOptions& options) {
  return MakeControlSocket(TheLab(), options);
}

UniqueFd LabOperations::OpenTransportSocket(const TransportSocketOptions& options) {
  return MakeTransportSocket(TheLab(), options);
}

UniqueFd LabOperations::OpenTun(const std::string& node) {
  if (TheLab().GetNode(node).program_addresses.empty()) {
    throw UsageError("node " + node + " has no TUN device: programs cannot run on this node");
  }
  return sys::OpenTun(lab_->NamespaceFd(node), lab::kProgramDevice);
}

void LabOperations::ApplyRoutes(const std::string& node, const fib::RouteChanges& changes) {
  StateOf(node).routes->Apply(changes);
  if (joined_) joined_->OnChanged(node);
}

std::vector<std::optional<Passage>> LabOperations::LookUp(
    const std::string& node, const std::vector<wire::IpAddress>& destinations) {
  fib::RouteSink& routes = *StateOf(node).routes;
  std::map<int, std::string> names;
  for (const lab::Interface& each : lab_->GetNode(node).interfaces) {
    names[lab_->IfIndex({node, each.name})] = each.name;
  }
  const auto named = [&](const std::vector<sys::RouteHop>& hops, wire::Family family) {
    std::vector<fib::NextHop> all;
    for (const sys::RouteHop& hop : hops) {
      const auto name = names.find(hop.ifindex);
      all.push_back({hop.gateway.value_or(wire::IpAddress{family, {}}),
                     name == names.end() ? std::string() : name->second});
    }
    return all;
  };
  std::vector<std::optional<Passage>> passages;
  for (const wire::IpAddress& destination : destinations) {
    std::optional<Passage>& passage = passages.emplace_back();
    if (const auto found = routes.LookUp(destination)) {
      passage = {named(found->hops, destination.family), named(found->own_hops, destination.family),
                 found->is_foreign};
    }
  }
  return passages;
}

void LabOperations::SetLinkUp(const std::vector<lab::Endpoint>& ends, bool up) {
  TheLab().SetEndsUp(ends, up);
  if (!up) return;
  for (const lab::Endpoint& end : ends) StateOf(end.node).routes->Reinstall();
}

void LabOperations::SetAddresses(const lab::Endpoint& endpoint,
                                 const std::vector<wire::IpPrefix>& addresses) {
  const int ifindex = TheLab().IfIndex(endpoint);
  sys::Netlink& netlink = lab_->NetlinkOf(endpoint.node);
  const auto is_in = [](const std::vector<wire::IpPrefix>& list, const wire::IpPrefix& address) {
    return std::ranges::find(list, address) != list.end();
  };
  for (const wire::IpPrefix& address : netlink.Addresses(ifindex)) {
    // The kernel makes link-local addresses itself, so they are not removed.
    if (!wire::IsLinkLocal(address.address) && !is_in(addresses, address)) {
      netlink.RemoveAddress(ifindex, address);
    }
  }
  const std::set<wire::Family>& on_demand = StateOf(endpoint.node).upcalls;
  // Reads the addresses again: when the first address of a network is removed, the kernel also
  // removes the further addresses of the network.
  const std::vector<wire::IpPrefix> present = netlink.Addresses(ifindex);
  for (const wire::IpPrefix& address : addresses) {
    const bool is_connected = !on_demand.contains(address.address.family);
    if (!is_in(present, address)) netlink.AddAddress(ifindex, address, is_connected);
  }
  // Installs the routes that became possible with a new address.
  StateOf(endpoint.node).routes->Reinstall();
  if (forwarder_) forwarder_->Refilter(endpoint.node);
}

void LabOperations::LeaveByHop(const std::string& node, const char* reason) {
  joined_->LeaveToKernel(node);
  fib::Choice& choice = StateOf(node).choice;
  if (choice.plane->layout.joins_paths)
    choice.reason = fmt::format("forwards hop by hop: {}", reason);
}

Tables LabOperations::OpenTables(const std::string& node) {
  const auto control = StateOf(node).routes->Control();
  if (!control) {
    throw UsageError("node " + node +
                     " has no forwarding tables: only the simulator forwards frames of this node");
  }
  return {sys::Duplicate(control->table), control->table_words, sys::Duplicate(control->events),
          sys::Duplicate(control->doorbell)};
}

UniqueFd LabOperations::OpenUpcalls(const std::string& node,
                                    const std::set<wire::Family>& families) {
  NodeState& state = StateOf(node);
  const bool is_simulators = !lab_->GetNode(node).data_plane->layout.addresses_on_interfaces;
  if (is_simulators || !state.upcalls.empty()) {
    throw UsageError("node " + node +
                     " does not pass packets to the routing protocol: the data plane is the "
                     "simulator, or another program receives these packets");
  }
  if (joined_) LeaveByHop(node, "the node's routing protocol decides for each packet");
  lab::Upcalls upcalls = lab::OpenUpcalls(*lab_, node, families);
  state.upcalls = families;
  state.upcall_programs = std::move(upcalls.programs);
  state.routes->SetUpcallDevice(upcalls.ifindex);
  return std::move(upcalls.device);
}

void LabOperations::SetNeighbours(const std::string& node,
                                  const std::vector<lab::Neighbour>& neighbours, bool held) {
  NodeState& state = StateOf(node);
  (held ? lab::HoldNeighbours : lab::ReleaseNeighbours)(TheLab(), node, neighbours);
  state.held = held ? neighbours : std::vector<lab::Neighbour>();
}

UniqueFd LabOperations::OpenMulticast(const std::string& node, wire::Family family,
                                      const std::vector<std::string>& interfaces) {
  const std::string_view reason =
      TheLab().GetNode(node).data_plane->Unavailable(fib::Feature::kMulticast);
  if (!reason.empty()) {
    throw UsageError(fmt::format("node {} does not route multicast packets: {}", node, reason));
  }
  std::vector<int> ifindexes;
  ifindexes.reserve(interfaces.size());
  for (const std::string& name : interfaces) ifindexes.push_back(lab_->IfIndex({node, name}));
  NodeState& state = StateOf(node);
  UniqueFd& kept = state.multicast[family];
  if (!kept || !state.is_adopted) {
    kept = sys::OpenMulticastRouting(lab_->NamespaceFd(node), family, ifindexes);
  }
  return sys::Duplicate(kept.get());
}

UniqueFd LabOperations::OpenLinkMonitor(const std::string& node) {
  return sys::LinkMonitor(TheLab().NamespaceFd(node)).Release();
}

Program LabOperations::Spawn(const ProgramOptions& options) {
  const int namespace_fd = TheLab().NamespaceFd(options.node);
  if (!TheLab().GetNode(options.node).container.empty()) {
    throw UsageError(fmt::format(
        "node {} is a container: use docker exec, podman exec or nsenter to run programs",
        options.node));
  }
  sys::Pipe status = sys::MakePipe();
  Program program;
  const auto enter = [&] {
    if (options.HasNodesNames()) sys::EnterNames(options.node, lab_->HostsPath());
  };
  ProgramOptions asked = options;
  asked.asker = asker_;
  program.pid = sys::StartProgram(asked, namespace_fd, "node " + options.node, owner_, enter);
  // The broker has not waited for its child yet, so the pid still belongs to the program.
  program.pid_fd = sys::OpenPidFd(program.pid);
  program.exit_status = std::move(status.read);
  ended_.erase(program.pid);
  programs_[program.pid] = std::move(status.write);
  return program;
}

void LabOperations::Kill(int pid, int signal) {
  if (ended_.contains(pid)) return;
  if (!programs_.contains(pid)) {
    throw UsageError(fmt::format("process {} does not belong to this run", pid));
  }
  if (kill(-pid, signal) != 0 && errno != ESRCH) {
    throw SystemError(fmt::format("signal {} to program {}", signal, pid), errno);
  }
}

void LabOperations::NoteSimulator(const lab::SimulatorHistory& history) {
  TheLab().RecordSimulator(history);
  simulator_ = history;
}

void LabOperations::NoteKeepersEnd() {
  // If the supervisor has given up, the reason for its end is recorded already.
  if (simulator_.given_up) return;
  lab::SimulatorHistory history = simulator_;
  history.last_death = UtcNow();
  history.without_seconds = 0;
  history.absent = history.given_up = true;
  history.cause = "the supervisor exited unexpectedly, which ended the simulator";
  NoteSimulator(history);
}

nlohmann::json LabOperations::Describe() {
  CollectPrograms();  // collects programs that have ended just before
  nlohmann::json description = TheLab().topology();
  description["broker_pid"] = getpid();
  description["owner_uid"] = owner_.uid;
  description["programs"] = nlohmann::json::array();
  for (const auto& [pid, status] : programs_) description["programs"].push_back(pid);
  for (const auto& [node, state] : nodes_) {
    description["namespaces"][node] = lab_->NamespacePath(node);
    description["data_planes"][node] = {
        {"name", state.choice.plane->name},
        {"reason", state.choice.reason},
        {"forwards_in", fib::NameOf(state.choice.plane->forwards_in)}};
    description["routes"][node] = state.routes->Size();
    const auto packets = state.routes->PacketCounters();
    if (!packets.empty()) description["packets"][node] = packets;
    auto drops = state.choice.plane->layout.kernel_forwards ? sys::IpDrops(lab_->NamespaceFd(node))
                                                            : state.routes->Drops();
    if (!state.upcalls.empty()) {
      const uint64_t full = sys::SendingDrops(lab_->NamespaceFd(node), lab::kUpcallDevice);
      if (full > 0) drops[result::kUpcallQueueFull] = full;
    }
    if (!drops.empty()) description["drops"][node] = drops;
  }
  if (joined_) {
    for (const auto& [node, packets] : joined_->PacketCounters()) {
      if (StateOf(node).choice.plane->layout.joins_paths) description["packets"][node] = packets;
    }
    description["lossy_wires"] = DescribeLossyWires(lab_->topology(), *joined_);
  }
  description["simulator"] = simulator_;
  if (engine_) {
    description["engine"] = {{"pid", engine_->pid()},
                             {"socket", EngineSocketPath(lab_->name())},
                             {"running", !engine_->ended.has_value()}};
  }
  if (forwarder_) {
    description["forwarder"] = {{"pid", forwarder_->pid()},
                                {"restarts", forwarder_->restarts()},
                                {"running", !forwarder_->ended.has_value()},
                                {"last_words", forwarder_->LastWords()}};
  }
  return description;
}

UniqueFd LabOperations::Detach() {
  return sys::ListenAt(ControlSocketPath(TheLab().name()), owner_.uid, owner_.gid, SOCK_SEQPACKET);
}

std::vector<int> LabOperations::Descriptors() const {
  std::vector<int> descriptors{signals_.get()};
  for (const auto& [node, state] : nodes_) {
    descriptors.push_back(state.monitor.fd());
    if (state.routes->EventFd() >= 0) descriptors.push_back(state.routes->EventFd());
  }
  if (joined_) {
    for (const int descriptor : joined_->Descriptors()) descriptors.push_back(descriptor);
  }
  return descriptors;
}

bool LabOperations::OnReadable(int descriptor) {
  if (descriptor == signals_.get()) return ReadSignals();
  if (joined_ && joined_->OnReadable(descriptor)) return true;
  const auto found = std::ranges::find_if(nodes_, [&](const auto& entry) {
    return entry.second.monitor.fd() == descriptor || entry.second.routes->EventFd() == descriptor;
  });
  // The lab was removed earlier while the loop handled another descriptor.
  if (found == nodes_.end()) return true;
  if (found->second.monitor.fd() != descriptor) {
    found->second.routes->TakeEvents();
    if (forwarder_) forwarder_->Refilter(found->first);  // the node may have got other addresses
    return true;
  }
  bool is_lost = false;
  const auto events = found->second.monitor.Read(&is_lost);
  const bool has_risen =
      std::ranges::any_of(events, [](const sys::LinkEvent& event) { return event.up; });
  // The table of a forwarder must lose the routes through an interface that went down; the kernel's
  // own table loses these routes without help.
  const bool has_table = found->second.routes->Shared().has_value();
  if (is_lost || has_risen || has_table) found->second.routes->Reinstall();
  if (joined_) {
    for (const sys::LinkEvent& event : events) joined_->OnLink(found->first, event);
  }
  return true;
}

bool LabOperations::ReadSignals() {
  bool goes_on = true;
  while (const int signal = sys::TakeSignal(signals_.get())) {
    if (signal != SIGCHLD) goes_on = false;
  }
  CollectPrograms();
  if (goes_on) KeepForwarding();
  return goes_on;
}

// Starts a new forwarder if the forwarder has ended.
void LabOperations::KeepForwarding() {
  if (!forwarder_ || !forwarder_->ended) return;
  try {
    forwarder_->Restart();
  } catch (const Error&) {  // no forwarder runs now; Describe() reports that
  }
}

// Reaps the programs that have ended, and the orphans of programs, whose subreaper the broker is.
void LabOperations::CollectPrograms() {
  int status = 0;
  while (true) {
    const int pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    if (engine_ && pid == engine_->pid()) engine_->ended = status;
    if (forwarder_ && pid == forwarder_->pid()) forwarder_->ended = status;
    const auto found = programs_.find(pid);
    if (found == programs_.end()) continue;
    const int32_t value = status;
    // The pipe takes four bytes without blocking. A client may have closed the reading end (EPIPE;
    // SIGPIPE is not raised): this is not an error.
    if (write(found->second.get(), &value, sizeof value) < 0 && errno != EPIPE) {
      throw SystemError("report an exit status", errno);
    }
    programs_.erase(found);
    ended_.insert(pid);
  }
}

void LabOperations::EndPrograms() {
  // A process that is forked while the loop ends other processes is found when the loop searches
  // again.
  for (int round = 0; round < 5; ++round) {
    CollectPrograms();
    const auto pids = sys::Descendants();
    if (pids.empty()) return;
    sys::TerminateProcesses(pids, kTimeout);
  }
}

}  // namespace viaduct::broker
