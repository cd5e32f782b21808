#include "lab/broker/server.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/file.h"
#include "lab/broker/protocol.h"
#include "sys/descriptors.h"
#include "sys/ipc/error.h"

namespace viaduct::broker {
namespace {

using ipc::Connection;
using ipc::Member;
using ipc::Message;
using ipc::Reply;
using nlohmann::json;

Reply ReplyWith(NodeSocket socket) {
  Reply reply;
  reply.value = {{"ifindex", socket.ifindex}, {"has_qdisc", socket.has_qdisc}};
  reply.descriptors.push_back(std::move(socket.fd));
  return reply;
}

Reply ReplyWith(UniqueFd descriptor) {
  Reply reply;
  reply.descriptors.push_back(std::move(descriptor));
  return reply;
}

Reply ReplyWith(Tables tables) {
  Reply reply;
  reply.value["table_words"] = tables.table_words;
  reply.descriptors.push_back(std::move(tables.table));
  reply.descriptors.push_back(std::move(tables.events));
  reply.descriptors.push_back(std::move(tables.doorbell));
  return reply;
}

Reply Spawn(Operations& operations, const Message& request) {
  Program program = operations.Spawn(privilege::DecodeProgram(request));
  Reply reply;
  reply.value["pid"] = program.pid;
  reply.descriptors.push_back(std::move(program.pid_fd));
  reply.descriptors.push_back(std::move(program.exit_status));
  return reply;
}

lab::Endpoint EndpointOf(const json& request) {
  return {Member<std::string>(request, "node"), Member<std::string>(request, "interface")};
}

void SetAddresses(Operations& operations, const json& request) {
  std::vector<wire::IpPrefix> addresses;
  for (const auto& text : Member<std::vector<std::string>>(request, "addresses")) {
    addresses.push_back(wire::IpPrefix::Parse(text));
  }
  operations.SetAddresses(EndpointOf(request), addresses);
}

void SetNeighbours(Operations& operations, const json& request) {
  std::vector<lab::Neighbour> neighbours;
  for (const json& one : Member<json>(request, "neighbours")) {
    neighbours.push_back({Member<std::string>(one, "interface"),
                          wire::IpAddress::Parse(Member<std::string>(one, "address")),
                          wire::MacAddress::Parse(Member<std::string>(one, "mac"))});
  }
  operations.SetNeighbours(Member<std::string>(request, "node"), neighbours,
                           Member<bool>(request, "held"));
}

Reply OpenUpcalls(Operations& operations, const json& request) {
  std::set<wire::Family> families;
  for (const int number : Member<std::vector<int>>(request, "families")) {
    families.insert(FamilyOf(number));
  }
  return ReplyWith(operations.OpenUpcalls(Member<std::string>(request, "node"), families));
}

Reply OpenMulticast(Operations& operations, const json& request) {
  return ReplyWith(
      operations.OpenMulticast(Member<std::string>(request, "node"), DecodeFamily(request),
                               Member<std::vector<std::string>>(request, "interfaces")));
}

Reply ReadRoutes(Operations& operations, const std::string& node) {
  fib::RouteChanges all;
  const fib::RouteTable& table = operations.Routes(node);
  all.added.reserve(table.size());
  for (const auto& [key, route] : table) all.added.push_back(route);
  return ReplyWith(MemoryFile("routes", EncodeRoutes(node, all)));
}

json HopsOf(const std::vector<fib::NextHop>& hops) {
  json all = json::array();
  for (const fib::NextHop& hop : hops) {
    all.push_back({{"gateway", hop.gateway.ToString()}, {"interface", hop.interface}});
  }
  return all;
}

Reply LookUp(Operations& operations, const json& request) {
  std::vector<wire::IpAddress> destinations;
  for (const json& each : Member<json>(request, "destinations")) {
    destinations.push_back(wire::IpAddress::Parse(each.get<std::string>()));
  }
  json passages = json::array();
  for (const auto& passage :
       operations.LookUp(Member<std::string>(request, "node"), destinations)) {
    if (!passage) {
      passages.push_back(nullptr);
      continue;
    }
    passages.push_back({{"foreign", passage->is_foreign},
                        {"hops", HopsOf(passage->hops)},
                        {"own_hops", HopsOf(passage->own_hops)}});
  }
  return {{{"passages", passages}}, {}};
}

bool HasClosed(int connection) {
  pollfd state{connection, 0, 0};
  return poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0;
}

// Performs a request that concerns the lab. The server itself performs requests about connections.
Reply PerformOnLab(Operations& operations, Message& request) {
  if (request.code == privilege::ProgramRequest::kSpawn) return Spawn(operations, request);
  const auto arguments = [&] { return ipc::DecodeJson(request.payload); };
  switch (request.code.As<Request>()) {
    case Request::kCreateLab:
      operations.CreateLab(arguments().get<lab::Topology>());
      return {};
    case Request::kAdoptLab:
      operations.AdoptLab(arguments().get<lab::Topology>());
      return {};
    case Request::kLendInnerSocket:
      if (request.descriptors.empty()) throw UsageError("request: no socket was passed");
      operations.TakeInnerSocket(std::move(request.descriptors.front()));
      return {};
    case Request::kOpenPacketSocket:
      return ReplyWith(operations.OpenPacketSocket(arguments().get<PacketSocketOptions>()));
    case Request::kOpenControlSocket:
      return ReplyWith(operations.OpenControlSocket(arguments().get<ControlSocketOptions>()));
    case Request::kOpenTransportSocket:
      return ReplyWith(operations.OpenTransportSocket(arguments().get<TransportSocketOptions>()));
    case Request::kOpenTun:
      return ReplyWith(operations.OpenTun(Member<std::string>(arguments(), "node")));
    case Request::kApplyRoutes: {
      const RoutesRequest routes = DecodeRoutes(request.payload);
      operations.ApplyRoutes(routes.node, routes.changes);
      return {};
    }
    case Request::kReadRoutes:
      return ReadRoutes(operations, Member<std::string>(arguments(), "node"));
    case Request::kLookUp:
      return LookUp(operations, arguments());
    case Request::kIfIndex:
      return {{{"ifindex", operations.IfIndex(EndpointOf(arguments()))}}, {}};
    case Request::kSetLinkUp: {
      const json wanted = arguments();
      std::vector<lab::Endpoint> endpoints;
      for (const json& endpoint : Member<std::vector<json>>(wanted, "endpoints")) {
        endpoints.push_back(EndpointOf(endpoint));
      }
      operations.SetLinkUp(endpoints, Member<bool>(wanted, "up"));
      return {};
    }
    case Request::kSetAddresses:
      SetAddresses(operations, arguments());
      return {};
    case Request::kOpenLinkMonitor:
      return ReplyWith(operations.OpenLinkMonitor(Member<std::string>(arguments(), "node")));
    case Request::kOpenTables:
      return ReplyWith(operations.OpenTables(Member<std::string>(arguments(), "node")));
    case Request::kOpenUpcalls:
      return OpenUpcalls(operations, arguments());
    case Request::kSetNeighbours:
      SetNeighbours(operations, arguments());
      return {};
    case Request::kOpenMulticast:
      return OpenMulticast(operations, arguments());
    case Request::kKill:
      operations.Kill(Member<int>(arguments(), "pid"), Member<int>(arguments(), "signal"));
      return {};
    case Request::kNoteSimulator:
      operations.NoteSimulator(arguments().get<lab::SimulatorHistory>());
      return {};
    case Request::kDescribe:
      return {operations.Describe(), {}};
    default:
      throw ipc::UnknownRequest(kService, request.code);
  }
}

}  // namespace

Connection& Server::AddConnection(UniqueFd socket) {
  ipc::AllowLongAnswers(socket.get());
  return connections_.emplace_back(std::move(socket), kService);
}

void Server::Run() {
  while (ServeRound()) {
  }
}

bool Server::ServeRound() {
  std::vector<pollfd> waits;
  std::vector<std::list<Connection>::iterator> served;
  for (auto it = connections_.begin(); it != connections_.end(); ++it) {
    waits.push_back({it->fd(), POLLIN, 0});
    served.push_back(it);
  }
  for (const int descriptor : operations_.Descriptors()) waits.push_back({descriptor, POLLIN, 0});
  if (listener_) waits.push_back({listener_.get(), POLLIN, 0});
  if (poll(waits.data(), waits.size(), -1) < 0) {
    if (errno == EINTR) return true;
    throw SystemError("poll", errno);
  }
  const int listener = listener_.get();
  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].revents == 0) continue;
    if (i < served.size()) {
      const Connection& asking = *served[i];
      if (ipc::AnswerNext(*served[i], [&](Message& request) { return Perform(request, asking); })) {
        continue;
      }
      NoteEnd(asking);
      if (connections_.size() == 1 && !listener_) return false;
      further_.erase(&asking);
      connections_.erase(served[i]);
    } else if (waits[i].fd == listener) {
      Accept();
    } else if (!operations_.OnReadable(waits[i].fd)) {
      return false;
    }
  }
  return true;
}

void Server::NoteEnd(const Connection& connection) {
  if (&connection != keeper_) return;
  keeper_ = nullptr;
  if (!listener_) return;  // the lab was removed earlier
  try {
    operations_.NoteKeepersEnd();
  } catch (const Error&) {  // `viaduct ls` will not show the supervisor's end; the lab continues
  }
}

void Server::Accept() {
  if (!listener_) return;  // the lab was destroyed while the loop handled another descriptor
  UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ucred peer{};
  socklen_t length = sizeof peer;
  if (!socket || getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return;
  if (operations_.MayConnect(peer.uid)) {
    AddConnection(std::move(socket));
    return;
  }
  const EnvironmentError refusal("this lab belongs to another user");
  try {
    Connection(std::move(socket), kService)
        .Send(ipc::Answer::kError, 0, ipc::EncodeError(kService, refusal), {}, MSG_DONTWAIT);
  } catch (const SystemError&) {  // the client did not wait for the answer
  }
}

Reply Server::Perform(Message& request, const Connection& from) {
  switch (request.code.As<Request>()) {
    case Request::kNewConnection: {
      auto pair = sys::MakeSocketPair(SOCK_SEQPACKET);
      further_.insert(&AddConnection(std::move(pair.first)));
      return ReplyWith(std::move(pair.second));
    }
    case Request::kDetach:
      if (!listener_) {
        listener_ = operations_.Detach();
        keeper_ = &from;
      }
      return {};
    case Request::kDestroyLab:
      // A simulator whose supervisor was killed may still end in an orderly way, which must not
      // end the lab.
      if (listener_ && further_.contains(&from)) return {};
      operations_.DestroyLab();
      listener_.reset();
      return {};
    default:
      // The client may have closed the connection because it waited too long for the broker.
      if (request.code == privilege::ProgramRequest::kSpawn && HasClosed(from.fd())) {
        throw ipc::ProtocolError(kService, "the client closed its connection");
      }
      operations_.SetAsker(from.fd());
      return PerformOnLab(operations_, request);
  }
}

}  // namespace viaduct::broker
