#include "sys/ipc/caller.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <span>

#include "base/clock.h"
#include "base/error.h"
#include "base/socket_option.h"
#include "base/units.h"
#include "sys/event_loop.h"
#include "sys/ipc/error.h"
#include "sys/process/process.h"
#include "sys/signals.h"

namespace viaduct::ipc {
namespace {

using nlohmann::json;

// The timeout for a service's clean-up. The clean-up of the largest labs takes much less; a hung
// service must not make its clients hang.
constexpr Duration kCleanUpTimeout = Duration::Seconds(30);
constexpr Duration kSilentServiceTimeout = Duration::Seconds(2);
// The time within which a service's process ends after its last client has closed the connection.
constexpr int kReapMilliseconds = 200;

// Waits for the process of a service that has ended or is about to end; does not wait for a process
// that still has other clients.
void Reap(int pid) {
  try {
    const UniqueFd process = sys::OpenPidFd(pid);
    pollfd wait{process.get(), POLLIN, 0};
    poll(&wait, 1, kReapMilliseconds);
  } catch (const Error&) {  // another caller has waited for the process
  }
  waitpid(pid, nullptr, WNOHANG);
}

// Returns a descriptor that is readable while SIGINT, SIGTERM or SIGHUP, which end the command, is
// blocked and pending. A signal that is not blocked has its own effect.
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

json DecodeAnswer(const Service& service, const Message& answer) {
  try {
    return DecodeJson(answer.payload);
  } catch (const UsageError& error) {
    throw ProtocolError(service, error.what());
  }
}

Caller::Caller(UniqueFd connection, int pid, const Service& service, std::string ended)
    : connection_(std::move(connection), service),
      ended_(std::move(ended)),
      service_pid_(pid),
      owner_pid_(getpid()) {}

Caller::~Caller() {
  if (getpid() != owner_pid_) return;  // a forked copy: the connection belongs to its maker
  shutdown(connection_.fd(), SHUT_WR);
  try {
    AwaitEnd();
  } catch (const Error&) {  // an error is ignored: the client sends no further request
  }
  if (service_pid_ > 0) Reap(service_pid_);
}

void Caller::AwaitEnd() {
  UniqueFd signals = PendingSignals();
  Instant deadline = MonotonicClock::Now() + (is_lost_ ? kSilentServiceTimeout : kCleanUpTimeout);
  Message ignored;
  while (MonotonicClock::Now() < deadline) {
    std::array<pollfd, 2> waits{{{connection_.fd(), POLLIN, 0}, {signals.get(), POLLIN, 0}}};
    if (Poll(waits, deadline) == 0) return;
    if (waits[1].revents != 0) {
      deadline = std::min(deadline, MonotonicClock::Now() + kSilentServiceTimeout);
      signals.reset();
    }
    if (waits[0].revents == 0) continue;
    if (connection_.Receive(&ignored, MSG_DONTWAIT) == Connection::Status::kEnd) return;
  }
}

Message Caller::Call(Code code, std::string_view payload, const std::vector<int>& descriptors) {
  if (is_lost_) throw Error(ended_);
  const Instant deadline = timeout_ ? MonotonicClock::Now() + *timeout_ : Instant::Never();
  Message answer;
  auto status = Connection::Status::kIncomplete;
  try {
    connection_.Send(code, ++sequence_, payload, descriptors);
  } catch (const SystemError& error) {
    // Continues after EPIPE and ECONNRESET: the service may have sent an error before it closed the
    // connection.
    if (error.error_number() != EPIPE && error.error_number() != ECONNRESET) throw;
  }
  while (status == Connection::Status::kIncomplete) {
    if (is_limited_) AwaitAnswer(deadline);
    status = connection_.Receive(&answer);
  }
  if (status == Connection::Status::kEnd) throw Error(ended_);
  const Service& service = connection_.service();
  if (answer.code == Answer::kError) ThrowDecodedError(service, answer.payload);
  if (answer.code != Answer::kReply || answer.sequence != sequence_) {
    throw ProtocolError(service, "answer to a different request");
  }
  return answer;
}

json Caller::CallJson(Code code, const json& arguments) {
  return DecodeAnswer(connection_.service(), Call(code, arguments.dump()));
}

void Caller::CheckAlive() const {
  pollfd other{connection_.fd(), 0, 0};
  if (poll(&other, 1, 0) > 0 && (other.revents & POLLHUP) != 0) throw Error(ended_);
}

void Caller::LimitWaiting(std::optional<Duration> timeout, Duration grace) {
  is_limited_ = true;
  timeout_ = timeout;
  grace_ = grace;
  SetSendTimeout(connection_.fd(), timeout.value_or(Duration()));  // 0: no limit
}

void Caller::AwaitAnswer(Instant deadline) {
  const UniqueFd signals = PendingSignals();
  std::array<pollfd, 2> waits{{{connection_.fd(), POLLIN, 0}, {signals.get(), POLLIN, 0}}};
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
  getsockopt(connection_.fd(), SOL_SOCKET, SO_PEERCRED, &other, &length);
  const int pid = service_pid_ > 0 ? service_pid_ : other.pid;
  throw Error(fmt::format(
      "process {} does not answer within {}; if the process is stopped, run kill -CONT {}", pid,
      FormatDuration(*timeout_), pid));
}

}  // namespace viaduct::ipc
