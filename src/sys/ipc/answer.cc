#include "sys/ipc/answer.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <utility>

#include "base/error.h"
#include "base/socket_option.h"
#include "sys/ipc/error.h"

namespace viaduct::ipc {
namespace {

using nlohmann::json;

// The send buffer of a connection, in bytes. A client that does not read an answer must not delay
// the other clients: the buffer holds the longest answer (the kernel counts twice the bytes), so
// that sending never waits.
constexpr int kSendBuffer = 3 * kMaxMessagePayload;

void SendReply(Connection& connection, uint32_t sequence, const Reply& reply) {
  std::vector<int> descriptors;
  for (const UniqueFd& descriptor : reply.descriptors) descriptors.push_back(descriptor.get());
  const auto text = reply.value.dump(-1, ' ', false, json::error_handler_t::replace);
  connection.Send(Answer::kReply, sequence, text, descriptors, MSG_DONTWAIT);
}

void AnswerRequest(Connection& connection, Message& request,
                   const std::function<Reply(Message&)>& perform) {
  Reply reply;
  std::string failure;
  try {
    if (request.code.number() < kFirstRequest) {
      throw ProtocolError(connection.service(), "expected a request, not an answer");
    }
    reply = perform(request);
  } catch (const ProtocolError&) {
    throw;
  } catch (const Error& error) {
    failure = EncodeError(connection.service(), error);
  } catch (const std::exception& error) {
    failure = EncodeError(connection.service(),
                          Error(fmt::format("{}: {}", connection.service().name, error.what())));
  }
  if (failure.empty()) {
    SendReply(connection, request.sequence, reply);
  } else {
    connection.Send(Answer::kError, request.sequence, failure, {}, MSG_DONTWAIT);
  }
}

}  // namespace

bool AnswerNext(Connection& connection, const std::function<Reply(Message&)>& perform) {
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
      AnswerRequest(connection, request, perform);
      return true;
    } catch (const ProtocolError& error) {
      connection.Send(Answer::kError, sequence, EncodeError(connection.service(), error), {},
                      MSG_DONTWAIT);
      return false;
    }
  } catch (const SystemError&) {  // the connection itself fails: the client has ended or hangs
    return false;
  }
}

void AllowLongAnswers(int socket) {
  SetSocketBuffer(socket, SO_SNDBUFFORCE, SO_SNDBUF, kSendBuffer);
}

void AnswerOnly(UniqueFd socket, const Service& service, Code code,
                const std::function<json(const json&)>& perform) {
  AllowLongAnswers(socket.get());
  Connection connection(std::move(socket), service);
  const auto answer = [&](Message& request) -> Reply {
    if (request.code != code) throw UnknownRequest(service, request.code);
    return {perform(DecodeJson(request.payload)), {}};
  };
  pollfd wait{connection.fd(), POLLIN, 0};
  while (poll(&wait, 1, -1) > 0 && AnswerNext(connection, answer)) {
  }
}

}  // namespace viaduct::ipc
