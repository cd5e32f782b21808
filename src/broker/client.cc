#include "broker/client.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/json_text.h"
#include "broker/broker_process.h"
#include "broker/call.h"
#include "sys/launch.h"

namespace viaduct::broker {
namespace {

using nlohmann::json;

constexpr char kGone[] =
    "the broker has ended (killed, or the lab was taken down); the lab is gone";

// This process's variables, except those that `changed` gives other values.
std::map<std::string, std::string> Variables(std::map<std::string, std::string> changed) {
  for (const std::string& variable : sys::OwnEnvironment()) {
    const size_t end = variable.find('=');
    if (end != std::string::npos)
      changed.emplace(variable.substr(0, end), variable.substr(end + 1));
  }
  changed.erase("VIADUCT_BROKER_FD");
  return changed;
}

mode_t FileMask() {
  const mode_t mask = umask(022);
  umask(mask);
  return mask;
}

}  // namespace

Message CallSpawn(Caller& caller, ProgramOptions program) {
  std::vector<int> descriptors;
  for (const int fd : {program.standard_input, program.standard_output, program.standard_error}) {
    if (fd >= 0) descriptors.push_back(fd);
  }
  program.environment = Variables(std::move(program.environment));
  program.file_mask = FileMask();
  if (program.working_directory.empty()) {
    program.working_directory = std::filesystem::current_path().string();
  }
  return caller.Call(MessageType::kSpawn, StrictJsonText(program), descriptors);
}

struct Client::State {
  explicit State(privilege::ServiceProcess broker) : caller(std::move(broker), kGone) {}

  NodeSocket OpenSocket(MessageType type, const json& arguments);
  UniqueFd OpenOne(MessageType type, const json& arguments);

  Caller caller;
};

NodeSocket Client::State::OpenSocket(MessageType type, const json& arguments) {
  Message answer = caller.Call(type, StrictJsonText(arguments));
  const json value = DecodeJson(answer.payload);
  if (answer.descriptors.size() != 1) throw ProtocolError("broker protocol: no socket received");
  return {std::move(answer.descriptors[0]), Member<int>(value, "ifindex"),
          Member<bool>(value, "has_qdisc")};
}

UniqueFd Client::State::OpenOne(MessageType type, const json& arguments) {
  Message answer = caller.Call(type, StrictJsonText(arguments));
  if (answer.descriptors.size() != 1)
    throw ProtocolError("broker protocol: no descriptor received");
  return std::move(answer.descriptors[0]);
}

Client::Client(UniqueFd connection) : Client(privilege::ServiceProcess{std::move(connection), 0}) {}
Client::Client(privilege::ServiceProcess broker)
    : state_(std::make_unique<State>(std::move(broker))) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Client Client::ConnectOrSpawn() {
  if (auto inherited = InheritedConnection()) return Client(std::move(*inherited));
  return Client(SpawnBroker());
}

Client Client::ConnectToLab(const std::string& lab) {
  Client client(ConnectToSocket(lab));
  client.LimitWaiting(kPatience);
  return client;
}

void Client::LimitWaiting(std::optional<Duration> patience, Duration grace) {
  state_->caller.LimitWaiting(patience, grace);
}

void Client::CreateLab(const lab::Topology& topology) {
  state_->caller.CallJson(MessageType::kCreateLab, topology);
}

void Client::LendInnerSocket(int socket) {
  state_->caller.Call(MessageType::kLendInnerSocket, "{}", {socket});
}

void Client::AdoptLab(const lab::Topology& topology) {
  state_->caller.CallJson(MessageType::kAdoptLab, topology);
}

void Client::DestroyLab() { state_->caller.CallJson(MessageType::kDestroyLab, json::object()); }

NodeSocket Client::OpenPacketSocket(const PacketSocketOptions& options) {
  return state_->OpenSocket(MessageType::kOpenPacketSocket, options);
}

NodeSocket Client::OpenControlSocket(const ControlSocketOptions& options) {
  return state_->OpenSocket(MessageType::kOpenControlSocket, options);
}

UniqueFd Client::OpenTransportSocket(const TransportSocketOptions& options) {
  return state_->OpenOne(MessageType::kOpenTransportSocket, options);
}

UniqueFd Client::OpenTun(const std::string& node) {
  return state_->OpenOne(MessageType::kOpenTun, {{"node", node}});
}

void Client::CheckAlive() const { state_->caller.CheckAlive(); }

void Client::ApplyRoutes(const std::string& node, const fib::RouteChanges& changes) {
  if (changes.empty()) return;
  state_->caller.Call(MessageType::kApplyRoutes, EncodeRoutes(node, changes));
}

fib::RouteTable Client::ReadRoutes(const std::string& node) {
  const UniqueFd file = state_->OpenOne(MessageType::kReadRoutes, {{"node", node}});
  fib::RouteTable table;
  for (fib::Route& route :
       DecodeRoutes(ReadToEnd(file.get(), "the routes of node " + node)).changes.added) {
    fib::RouteKey key = fib::KeyOf(route);
    table.emplace(key, std::move(route));
  }
  return table;
}

namespace {

std::vector<fib::NextHop> HopsOf(const json& hops) {
  std::vector<fib::NextHop> read;
  for (const json& hop : hops) {
    read.push_back({wire::IpAddress::Parse(Member<std::string>(hop, "gateway")),
                    Member<std::string>(hop, "interface")});
  }
  return read;
}

}  // namespace

std::vector<std::optional<Passage>> Client::LookUp(
    const std::string& node, const std::vector<wire::IpAddress>& destinations) {
  json addresses = json::array();
  for (const wire::IpAddress& address : destinations) addresses.push_back(address.ToString());
  const json answer =
      state_->caller.CallJson(MessageType::kLookUp, {{"node", node}, {"destinations", addresses}});
  std::vector<std::optional<Passage>> passages;
  for (const json& each : Member<json>(answer, "passages")) {
    std::optional<Passage>& passage = passages.emplace_back();
    if (each.is_null()) continue;
    passage.emplace().is_foreign = Member<bool>(each, "foreign");
    passage->hops = HopsOf(Member<json>(each, "hops"));
    passage->own_hops = HopsOf(Member<json>(each, "own_hops"));
  }
  if (passages.size() != destinations.size()) {
    throw ProtocolError("broker protocol: not one answer for each destination");
  }
  return passages;
}

int Client::IfIndex(const lab::Endpoint& endpoint) {
  const json answer = state_->caller.CallJson(
      MessageType::kIfIndex, {{"node", endpoint.node}, {"interface", endpoint.interface}});
  return Member<int>(answer, "ifindex");
}

void Client::SetEndsUp(const std::vector<lab::Endpoint>& ends, bool up) {
  json list = json::array();
  for (const lab::Endpoint& endpoint : ends) {
    list.push_back({{"node", endpoint.node}, {"interface", endpoint.interface}});
  }
  state_->caller.CallJson(MessageType::kSetLinkUp, {{"endpoints", list}, {"up", up}});
}

void Client::SetAddresses(const lab::Endpoint& endpoint,
                          const std::vector<wire::IpPrefix>& addresses) {
  json texts = json::array();
  for (const wire::IpPrefix& address : addresses) texts.push_back(address.ToString());
  state_->caller.CallJson(
      MessageType::kSetAddresses,
      {{"node", endpoint.node}, {"interface", endpoint.interface}, {"addresses", texts}});
}

UniqueFd Client::OpenLinkMonitor(const std::string& node) {
  return state_->OpenOne(MessageType::kOpenLinkMonitor, {{"node", node}});
}

Tables Client::OpenTables(const std::string& node) {
  Message answer = state_->caller.Call(MessageType::kOpenTables, StrictJsonText({{"node", node}}));
  if (answer.descriptors.size() != 3) throw ProtocolError("broker protocol: no tables received");
  return {std::move(answer.descriptors[0]),
          Member<size_t>(DecodeJson(answer.payload), "table_words"),
          std::move(answer.descriptors[1]), std::move(answer.descriptors[2])};
}

UniqueFd Client::OpenUpcalls(const std::string& node, const std::set<wire::Family>& families) {
  json numbers = json::array();
  for (const wire::Family family : families) numbers.push_back(static_cast<int>(family));
  return state_->OpenOne(MessageType::kOpenUpcalls, {{"node", node}, {"families", numbers}});
}

void Client::SetNeighbours(const std::string& node, const std::vector<lab::Neighbour>& neighbours,
                           bool held) {
  json list = json::array();
  for (const auto& [interface, address, mac] : neighbours) {
    list.push_back(
        {{"interface", interface}, {"address", address.ToString()}, {"mac", mac.ToString()}});
  }
  state_->caller.CallJson(MessageType::kSetNeighbours,
                          {{"node", node}, {"held", held}, {"neighbours", list}});
}

UniqueFd Client::OpenMulticast(const std::string& node, wire::Family family,
                               const std::vector<std::string>& interfaces) {
  return state_->OpenOne(
      MessageType::kOpenMulticast,
      {{"node", node}, {"family", static_cast<int>(family)}, {"interfaces", interfaces}});
}

Program Client::Spawn(const ProgramOptions& options) {
  Message answer = CallSpawn(state_->caller, options);
  if (answer.descriptors.size() != 2) throw ProtocolError("broker protocol: no program received");
  return {Member<int>(DecodeJson(answer.payload), "pid"), std::move(answer.descriptors[0]),
          std::move(answer.descriptors[1])};
}

void Client::Kill(int pid, int signal) {
  state_->caller.CallJson(MessageType::kKill, {{"pid", pid}, {"signal", signal}});
}

void Client::NoteSimulator(const lab::SimulatorHistory& history) {
  state_->caller.CallJson(MessageType::kNoteSimulator, history);
}

json Client::Describe() { return state_->caller.CallJson(MessageType::kDescribe, json::object()); }

void Client::Detach() { state_->caller.CallJson(MessageType::kDetach, json::object()); }

UniqueFd Client::NewConnection() {
  return state_->OpenOne(MessageType::kNewConnection, json::object());
}

}  // namespace viaduct::broker
