#include "broker/call.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/error.h"
#include "base/socket_option.h"
#include "broker/broker_process.h"

namespace viaduct::broker {
namespace {

using nlohmann::json;

// The clean-up of the largest labs ends well within this; a hung one must not hang its clients.
constexpr Duration kCleanUpPatience = Duration::Seconds(30);

// An answer that the client does not take must not stop the others: the socket holds the longest
// one (the kernel counts twice the bytes), and sending never waits.
constexpr int kSendBuffer = 3 * kMaxMessagePayload;

void SendReply(Connection& connection, uint32_t sequence, const Reply& reply) {
  std::vector<int> descriptors;
  for (const UniqueFd& descriptor : reply.descriptors) descriptors.push_back(descriptor.get());
  const auto text = reply.value.dump(-1, ' ', false, json::error_handler_t::replace);
  connection.Send(MessageType::kReply, sequence, text, descriptors, MSG_DONTWAIT);
}

void Answer(Connection& connection, Message& request,
            const std::function<Reply(Message&)>& perform) {
  Reply reply;
  std::string failure;
  try {
    reply = perform(request);
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

}  // namespace

Caller::Caller(privilege::ServiceProcess service, std::string ended)
    : connection_(std::move(service.connection)),
      ended_(std::move(ended)),
      service_pid_(service.pid),
      owner_pid_(getpid()) {}

Caller::~Caller() {
  if (getpid() != owner_pid_) return;  // a forked copy: the connection is still its maker's
  shutdown(connection_.Fd(), SHUT_WR);
  try {
    AwaitEnd();
  } catch (const Error&) {  // whatever it says, nobody asks any more
  }
  if (service_pid_ > 0) ReapBroker(service_pid_);
}

void Caller::AwaitEnd() {
  const Instant deadline = MonotonicClock::Now() + kCleanUpPatience;
  Message ignored;
  for (Instant now = MonotonicClock::Now(); now < deadline; now = MonotonicClock::Now()) {
    pollfd wait{connection_.Fd(), POLLIN, 0};
    const int ready =
        poll(&wait, 1, static_cast<int>((deadline - now) / Duration::Milliseconds(1)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return;
    if (connection_.Receive(&ignored, MSG_DONTWAIT) == Connection::Status::kEnd) return;
  }
}

Message Caller::Call(MessageType type, std::string_view payload,
                     const std::vector<int>& descriptors) {
  Message answer;
  auto status = Connection::Status::kIncomplete;
  try {
    connection_.Send(type, ++sequence_, payload, descriptors);
  } catch (const SystemError& error) {
    // It may have said why before it closed the connection.
    if (error.error_number() != EPIPE && error.error_number() != ECONNRESET) throw;
  }
  while (status == Connection::Status::kIncomplete) status = connection_.Receive(&answer);
  if (status == Connection::Status::kEnd) throw Error(ended_);
  if (answer.type == MessageType::kError) ThrowDecodedError(answer.payload);
  if (answer.type != MessageType::kReply || answer.sequence != sequence_) {
    throw ProtocolError("broker protocol: answer to another question");
  }
  return answer;
}

json Caller::CallJson(MessageType type, const json& arguments) {
  return DecodeJson(Call(type, arguments.dump()).payload);
}

void Caller::CheckAlive() const {
  pollfd other{connection_.Fd(), 0, 0};
  if (poll(&other, 1, 0) > 0 && (other.revents & POLLHUP) != 0) throw Error(ended_);
}

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
      Answer(connection, request, perform);
      return true;
    } catch (const ProtocolError& error) {
      connection.Send(MessageType::kError, sequence, EncodeError(error), {}, MSG_DONTWAIT);
      return false;
    }
  } catch (const SystemError&) {  // the connection itself fails: the client is gone or hangs
    return false;
  }
}

void AllowLongAnswers(int socket) {
  SetSocketBuffer(socket, SO_SNDBUFFORCE, SO_SNDBUF, kSendBuffer);
}

json AskOnce(privilege::Service service, MessageType type, const json& arguments) {
  return Caller(privilege::Ask(service), "root's half of the command has died")
      .CallJson(type, arguments);
}

void AnswerOnce(UniqueFd socket, MessageType type,
                const std::function<json(const json&)>& perform) {
  AllowLongAnswers(socket.get());
  Connection connection(std::move(socket));
  const auto answer = [&](Message& request) -> Reply {
    if (request.type != type) throw ProtocolError("broker protocol: not what this process does");
    return {perform(DecodeJson(request.payload)), {}};
  };
  pollfd wait{connection.Fd(), POLLIN, 0};
  while (poll(&wait, 1, -1) > 0 && AnswerNext(connection, answer)) {
  }
}

}  // namespace viaduct::broker
