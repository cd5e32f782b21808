#include "broker/server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/json_text.h"
#include "base/socket_option.h"
#include "sys/descriptors.h"

namespace viaduct::broker {
namespace {

using nlohmann::json;

// A client that does not read its answer must not block the others: the socket buffer holds the
// longest answer (the kernel counts twice the bytes), and sending never blocks.
constexpr int kSendBuffer = 3 * kMaxMessagePayload;

struct Reply {
  json value = json::object();
  std::vector<UniqueFd> descriptors;
};

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

Reply Spawn(Operations& operations, const Message& request) {
  auto options = DecodeJson(request.payload).get<ProgramOptions>();
  for (int* place : {&options.standard_input, &options.standard_output, &options.standard_error}) {
    if (*place < 0) continue;
    if (static_cast<size_t>(*place) >= request.descriptors.size()) {
      throw UsageError("broker request: a standard descriptor was not passed");
    }
    *place = request.descriptors[*place].get();
  }
  Program program = operations.Spawn(options);
  Reply reply;
  reply.value["pid"] = program.pid;
  reply.descriptors.push_back(std::move(program.pid_fd));
  reply.descriptors.push_back(std::move(program.exit_status));
  return reply;
}

lab::Endpoint EndpointOf(const json& request) {
  return {Member<std::string>(request, "node"), Member<std::string>(request, "interface")};
}

// The requests that concern the lab; the server answers those about itself.
Reply Perform(Operations& operations, const Message& request) {
  const auto arguments = [&] { return DecodeJson(request.payload); };
  switch (request.type) {
    case MessageType::kCreateLab:
      operations.CreateLab(arguments().get<lab::Topology>());
      return {};
    case MessageType::kOpenPacketSocket:
      return ReplyWith(operations.OpenPacketSocket(arguments().get<PacketSocketOptions>()));
    case MessageType::kOpenControlSocket:
      return ReplyWith(operations.OpenControlSocket(arguments().get<ControlSocketOptions>()));
    case MessageType::kOpenTun:
      return ReplyWith(operations.OpenTun(Member<std::string>(arguments(), "node")));
    case MessageType::kApplyRoutes: {
      const RoutesRequest routes = DecodeRoutes(request.payload);
      operations.ApplyRoutes(routes.node, routes.changes);
      return {};
    }
    case MessageType::kIfIndex:
      return {{{"ifindex", operations.IfIndex(EndpointOf(arguments()))}}, {}};
    case MessageType::kSetLinkUp: {
      const json request = arguments();
      operations.SetLinkUp(EndpointOf(request), Member<bool>(request, "up"));
      return {};
    }
    case MessageType::kSpawn:
      return Spawn(operations, request);
    case MessageType::kKill:
      operations.Kill(Member<int>(arguments(), "pid"), Member<int>(arguments(), "signal"));
      return {};
    case MessageType::kDescribe:
      return {operations.Describe(), {}};
    default:
      throw ProtocolError("broker protocol: an answer where a request was expected");
  }
}

void SendReply(Connection& connection, uint32_t sequence, const Reply& reply) {
  std::vector<int> descriptors;
  for (const UniqueFd& descriptor : reply.descriptors) descriptors.push_back(descriptor.get());
  const auto text = JsonText(reply.value);
  connection.Send(MessageType::kReply, sequence, text, descriptors, MSG_DONTWAIT);
}

}  // namespace

void Server::AddConnection(UniqueFd socket) {
  SetSocketBuffer(socket.get(), SO_SNDBUFFORCE, SO_SNDBUF, kSendBuffer);
  connections_.emplace_back(std::move(socket));
}

void Server::Run() {
  while (ServeRound()) {
  }
}

bool Server::ServeRound() {
  std::vector<pollfd> waits;
  std::vector<std::list<Connection>::iterator> served;
  for (auto it = connections_.begin(); it != connections_.end(); ++it) {
    waits.push_back({it->Fd(), POLLIN, 0});
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
      if (Serve(*served[i])) continue;
      if (connections_.size() == 1 && !listener_) return false;
      connections_.erase(served[i]);
    } else if (waits[i].fd == listener) {
      Accept();
    } else if (!operations_.OnReadable(waits[i].fd)) {
      return false;
    }
  }
  return true;
}

void Server::Accept() {
  if (!listener_) return;  // the lab was destroyed in this round
  UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ucred peer{};
  socklen_t length = sizeof peer;
  if (!socket || getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return;
  if (operations_.MayConnect(peer.uid)) {
    AddConnection(std::move(socket));
    return;
  }
  const EnvironmentError refusal("this lab belongs to another user; run with sudo");
  try {
    Connection(std::move(socket))
        .Send(MessageType::kError, 0, EncodeError(refusal), {}, MSG_DONTWAIT);
  } catch (const SystemError&) {  // it did not wait for the answer
  }
}

bool Server::Serve(Connection& connection) {
  uint32_t sequence = 0;
  try {
    try {
      Message request;
      switch (connection.Receive(&request, MSG_DONTWAIT)) {
        case Connection::Status::kEnd:
          return false;
        case Connection::Status::kIncomplete:
          return true;
        case Connection::Status::kMessage:
          break;
      }
      sequence = request.sequence;
      Answer(connection, request);
      return true;
    } catch (const ProtocolError& error) {
      connection.Send(MessageType::kError, sequence, EncodeError(error), {}, MSG_DONTWAIT);
      return false;
    }
  } catch (const SystemError&) {  // the connection failed: the client has closed it or hangs
    return false;
  }
}

void Server::Answer(Connection& connection, Message& request) {
  Reply reply;
  std::string failure;
  try {
    switch (request.type) {
      case MessageType::kNewConnection: {
        auto pair = sys::MakeSocketPair(SOCK_SEQPACKET);
        AddConnection(std::move(pair.first));
        reply = ReplyWith(std::move(pair.second));
        break;
      }
      case MessageType::kDetach:
        if (!listener_) listener_ = operations_.Detach();
        break;
      case MessageType::kDestroyLab:
        operations_.DestroyLab();
        listener_.reset();
        break;
      default:
        reply = Perform(operations_, request);
    }
  } catch (const ProtocolError&) {
    throw;
  } catch (const Error& error) {
    failure = EncodeError(error);
  } catch (const std::exception& error) {
    failure = EncodeError(Error(fmt::format("broker: {}", error.what())));
  }
  if (failure.empty()) {
    SendReply(connection, request.sequence, reply);
  } else {
    connection.Send(MessageType::kError, request.sequence, failure, {}, MSG_DONTWAIT);
  }
}

}  // namespace viaduct::broker
