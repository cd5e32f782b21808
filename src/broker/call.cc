#include "broker/call.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "base/clock.h"
#include "base/error.h"
#include "base/socket_option.h"
#include "base/units.h"
#include "broker/broker_process.h"
#include "sys/event_loop.h"
#include "sys/signals.h"

namespace viaduct::broker {
namespace {

using nlohmann::json;

// The clean-up of the largest labs ends well within this; a hung one must not hang its clients.
constexpr Duration kCleanUpPatience = Duration::Seconds(30);
constexpr Duration kPatienceWithTheSilent = Duration::Seconds(2);

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

// Readable while one of the signals that end the command is blocked and has come. Those that are
// not blocked have their own effect.
UniqueFd PendingSignals() {
  const sigset_t set = sys::SignalSet({SIGINT, SIGTERM, SIGHUP});
  return UniqueFd(SystemCall("signalfd", signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)));
}

int Poll(std::span<pollfd> waits, Instant deadline) {
  int ready = 0;
  do {
    ready = poll(waits.data(), waits.size(), PollTimeout(deadline));
  } while (ready < 0 && errno == EINTR);
  return SystemCall("poll", ready);
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
  UniqueFd signals = PendingSignals();
  Instant deadline = MonotonicClock::Now() + (is_lost_ ? kPatienceWithTheSilent : kCleanUpPatience);
  Message ignored;
  while (MonotonicClock::Now() < deadline) {
    std::array<pollfd, 2> waits{{{connection_.Fd(), POLLIN, 0}, {signals.get(), POLLIN, 0}}};
    if (Poll(waits, deadline) == 0) return;
    if (waits[1].revents != 0) {
      deadline = std::min(deadline, MonotonicClock::Now() + kPatienceWithTheSilent);
      signals.reset();
    }
    if (waits[0].revents == 0) continue;
    if (connection_.Receive(&ignored, MSG_DONTWAIT) == Connection::Status::kEnd) return;
  }
}

Message Caller::Call(MessageType type, std::string_view payload,
                     const std::vector<int>& descriptors) {
  if (is_lost_) throw Error(ended_);
  const Instant deadline = patience_ ? MonotonicClock::Now() + *patience_ : Instant::Never();
  Message answer;
  auto status = Connection::Status::kIncomplete;
  try {
    connection_.Send(type, ++sequence_, payload, descriptors);
  } catch (const SystemError& error) {
    // It may have said why before it closed the connection.
    if (error.error_number() != EPIPE && error.error_number() != ECONNRESET) throw;
  }
  while (status == Connection::Status::kIncomplete) {
    if (is_limited_) AwaitAnswer(deadline);
    status = connection_.Receive(&answer);
  }
  if (status == Connection::Status::kEnd) throw Error(ended_);
  if (answer.type == MessageType::kError) ThrowDecodedError(answer.payload);
  if (answer.type != MessageType::kReply || answer.sequence != sequence_) {
    throw ProtocolError("broker protocol: answer to another question");
  }
  return answer;
}

void Caller::LimitWaiting(std::optional<Duration> patience, Duration grace) {
  is_limited_ = true;
  patience_ = patience;
  grace_ = grace;
  const Duration longest = patience.value_or(Duration());  // 0: no limit
  SetSendTimeout(connection_.Fd(), longest);
}

void Caller::AwaitAnswer(Instant deadline) {
  const UniqueFd signals = PendingSignals();
  std::array<pollfd, 2> waits{{{connection_.Fd(), POLLIN, 0}, {signals.get(), POLLIN, 0}}};
  const std::span<pollfd> both(waits);
  Poll(both, deadline);
  const bool is_interrupted = waits[1].revents != 0;
  if (waits[0].revents == 0 && is_interrupted) {
    Poll(both.first(1), std::min(deadline, MonotonicClock::Now() + grace_));
  }
  if (waits[0].revents != 0) return;
  is_lost_ = true;
  if (is_interrupted) throw sys::Interrupted(sys::TakeSignal(signals.get()));
  ucred other{};
  socklen_t length = sizeof other;
  getsockopt(connection_.Fd(), SOL_SOCKET, SO_PEERCRED, &other, &length);
  const int pid = service_pid_ > 0 ? service_pid_ : other.pid;
  throw Error(fmt::format("process {} does not answer within {}; is it stopped (kill -CONT {})?",
                          pid, FormatDuration(*patience_), pid));
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
