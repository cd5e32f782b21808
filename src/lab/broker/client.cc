#include "lab/broker/client.h"

#include "base/file.h"
#include "base/text/json_text.h"
#include "lab/broker/broker_process.h"
#include "lab/broker/protocol.h"
#include "sys/ipc/caller.h"

namespace viaduct::broker {
namespace {

using ipc::AnswerMember;
using ipc::Message;
using ipc::ProtocolError;
using nlohmann::json;

constexpr char kGone[] =
    "the lab no longer exists: its broker exited (killed, or the lab was removed)";

}  // namespace

struct Client::State {
  explicit State(privilege::ServiceProcess broker)
      : caller(std::move(broker.connection), broker.pid, kService, kGone) {}

  NodeSocket OpenSocket(Request request, const json& arguments);
  UniqueFd OpenOne(Request request, const json& arguments = json::object());

  ipc::Caller caller;
};

NodeSocket Client::State::OpenSocket(Request request, const json& arguments) {
  Message answer = caller.Call(request, StrictJsonText(arguments));
  const json value = ipc::DecodeAnswer(kService, answer);
  if (answer.descriptors.size() != 1) throw ProtocolError(kService, "no socket received");
  return {std::move(answer.descriptors[0]), AnswerMember<int>(kService, value, "ifindex"),
          AnswerMember<bool>(kService, value, "has_qdisc")};
}

UniqueFd Client::State::OpenOne(Request request, const json& arguments) {
  Message answer = caller.Call(request, StrictJsonText(arguments));
  if (answer.descriptors.size() != 1) throw ProtocolError(kService, "no descriptor received");
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
  client.LimitWaiting(kTimeout);
  return client;
}

void Client::LimitWaiting(std::optional<Duration> timeout, Duration grace) {
  state_->caller.LimitWaiting(timeout, grace);
}

void Client::CreateLab(const lab::Topology& topology) {
  state_->caller.CallJson(Request::kCreateLab, topology);
}

void Client::LendInnerSocket(int socket) {
  state_->caller.Call(Request::kLendInnerSocket, "{}", {socket});
}

void Client::AdoptLab(const lab::Topology& topology) {
  state_->caller.CallJson(Request::kAdoptLab, topology);
}

void Client::DestroyLab() { state_->caller.CallJson(Request::kDestroyLab); }

NodeSocket Client::OpenPacketSocket(const PacketSocketOptions& options) {
  return state_->OpenSocket(Request::kOpenPacketSocket, options);
}

NodeSocket Client::OpenControlSocket(const ControlSocketOptions& options) {
  return state_->OpenSocket(Request::kOpenControlSocket, options);
}

UniqueFd Client::OpenTransportSocket(const TransportSocketOptions& options) {
  return state_->OpenOne(Request::kOpenTransportSocket, options);
}

UniqueFd Client::OpenTun(const std::string& node) {
  return state_->OpenOne(Request::kOpenTun, {{"node", node}});
}

void Client::CheckAlive() const { state_->caller.CheckAlive(); }

void Client::ApplyRoutes(const std::string& node, const fib::RouteChanges& changes) {
  if (changes.empty()) return;
  state_->caller.Call(Request::kApplyRoutes, EncodeRoutes(node, changes));
}

fib::RouteTable Client::ReadRoutes(const std::string& node) {
  const UniqueFd file = state_->OpenOne(Request::kReadRoutes, {{"node", node}});
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
    read.push_back({wire::IpAddress::Parse(AnswerMember<std::string>(kService, hop, "gateway")),
                    AnswerMember<std::string>(kService, hop, "interface")});
  }
  return read;
}

}  // namespace

std::vector<std::optional<Passage>> Client::LookUp(
    const std::string& node, const std::vector<wire::IpAddress>& destinations) {
  json addresses = json::array();
  for (const wire::IpAddress& address : destinations) addresses.push_back(address.ToString());
  const json answer =
      state_->caller.CallJson(Request::kLookUp, {{"node", node}, {"destinations", addresses}});
  std::vector<std::optional<Passage>> passages;
  for (const json& each : AnswerMember<json>(kService, answer, "passages")) {
    std::optional<Passage>& passage = passages.emplace_back();
    if (each.is_null()) continue;
    passage.emplace().is_foreign = AnswerMember<bool>(kService, each, "foreign");
    passage->hops = HopsOf(AnswerMember<json>(kService, each, "hops"));
    passage->own_hops = HopsOf(AnswerMember<json>(kService, each, "own_hops"));
  }
  if (passages.size() != destinations.size()) {
    throw ProtocolError(kService, "the number of answers differs from the number of destinations");
  }
  return passages;
}

int Client::IfIndex(const lab::Endpoint& endpoint) {
  const json answer = state_->caller.CallJson(
      Request::kIfIndex, {{"node", endpoint.node}, {"interface", endpoint.interface}});
  return AnswerMember<int>(kService, answer, "ifindex");
}

void Client::SetEndsUp(const std::vector<lab::Endpoint>& ends, bool up) {
  json list = json::array();
  for (const lab::Endpoint& endpoint : ends) {
    list.push_back({{"node", endpoint.node}, {"interface", endpoint.interface}});
  }
  state_->caller.CallJson(Request::kSetLinkUp, {{"endpoints", list}, {"up", up}});
}

void Client::SetAddresses(const lab::Endpoint& endpoint,
                          const std::vector<wire::IpPrefix>& addresses) {
  json texts = json::array();
  for (const wire::IpPrefix& address : addresses) texts.push_back(address.ToString());
  state_->caller.CallJson(
      Request::kSetAddresses,
      {{"node", endpoint.node}, {"interface", endpoint.interface}, {"addresses", texts}});
}

UniqueFd Client::OpenLinkMonitor(const std::string& node) {
  return state_->OpenOne(Request::kOpenLinkMonitor, {{"node", node}});
}

Tables Client::OpenTables(const std::string& node) {
  Message answer = state_->caller.Call(Request::kOpenTables, StrictJsonText({{"node", node}}));
  if (answer.descriptors.size() != 3) throw ProtocolError(kService, "no tables received");
  return {std::move(answer.descriptors[0]),
          AnswerMember<size_t>(kService, ipc::DecodeAnswer(kService, answer), "table_words"),
          std::move(answer.descriptors[1]), std::move(answer.descriptors[2])};
}

UniqueFd Client::OpenUpcalls(const std::string& node, const std::set<wire::Family>& families) {
  json numbers = json::array();
  for (const wire::Family family : families) numbers.push_back(static_cast<int>(family));
  return state_->OpenOne(Request::kOpenUpcalls, {{"node", node}, {"families", numbers}});
}

void Client::SetNeighbours(const std::string& node, const std::vector<lab::Neighbour>& neighbours,
                           bool held) {
  json list = json::array();
  for (const auto& [interface, address, mac] : neighbours) {
    list.push_back(
        {{"interface", interface}, {"address", address.ToString()}, {"mac", mac.ToString()}});
  }
  state_->caller.CallJson(Request::kSetNeighbours,
                          {{"node", node}, {"held", held}, {"neighbours", list}});
}

UniqueFd Client::OpenMulticast(const std::string& node, wire::Family family,
                               const std::vector<std::string>& interfaces) {
  return state_->OpenOne(
      Request::kOpenMulticast,
      {{"node", node}, {"family", static_cast<int>(family)}, {"interfaces", interfaces}});
}

Program Client::Spawn(const ProgramOptions& options) {
  Message answer = privilege::CallSpawn(state_->caller, options);
  if (answer.descriptors.size() != 2) throw ProtocolError(kService, "no program received");
  return {AnswerMember<int>(kService, ipc::DecodeAnswer(kService, answer), "pid"),
          std::move(answer.descriptors[0]), std::move(answer.descriptors[1])};
}

void Client::Kill(int pid, int signal) {
  state_->caller.CallJson(Request::kKill, {{"pid", pid}, {"signal", signal}});
}

void Client::NoteSimulator(const lab::SimulatorHistory& history) {
  state_->caller.CallJson(Request::kNoteSimulator, history);
}

json Client::Describe() { return state_->caller.CallJson(Request::kDescribe); }

void Client::Detach() { state_->caller.CallJson(Request::kDetach); }

UniqueFd Client::NewConnection() { return state_->OpenOne(Request::kNewConnection); }

}  // namespace viaduct::broker
