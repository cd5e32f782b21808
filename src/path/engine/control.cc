#include "path/engine/control.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <exception>
#include <iterator>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/socket_option.h"
#include "base/text/json_text.h"
#include "sys/ipc/unix_socket.h"

namespace viaduct::engine {
namespace {

using nlohmann::json;

constexpr size_t kMaxConnections = 64;
// The send buffer of a connection in bytes: a complete answer must fit, because sending never
// blocks.
constexpr int kSendBuffer = 4 << 20;

json Refusal(const std::string& message, ExitStatus status) {
  return {{"ok", false}, {"error", message}, {"status", static_cast<int>(status)}};
}

}  // namespace

ControlServer::ControlServer(UniqueFd listener, Handler handler)
    : listener_(std::move(listener)), handler_(std::move(handler)) {
  Watch(listener_.get());
}

void ControlServer::Watch(int fd) { poller_.Add(fd, static_cast<uint64_t>(fd)); }

void ControlServer::Accept() {
  UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || connections_.size() >= kMaxConnections) return;
  SetSocketBuffer(socket.get(), SO_SNDBUFFORCE, SO_SNDBUF, kSendBuffer);
  const int fd = socket.get();
  Watch(fd);
  connections_[fd].socket = std::move(socket);
}

void ControlServer::Serve() {
  for (const epoll_event& event : poller_.Wait(Duration())) {
    const int fd = static_cast<int>(event.data.u64);
    if (fd == listener_.get()) {
      Accept();
    } else {
      Serve(fd);
    }
  }
}

void ControlServer::Serve(int fd) {
  // Closing the socket also removes the socket from poller_.
  if (!Read(connections_.at(fd))) connections_.erase(fd);
}

// Reads and answers the requests that a connection has sent. Returns false when the connection has
// ended.
bool ControlServer::Read(Connection& connection) {
  std::array<char, 16384> buffer;
  const ssize_t got = recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  const bool whole = connection.lines.Add({buffer.data(), static_cast<size_t>(got)});
  while (const auto line = connection.lines.Next()) {
    if (!Answer(connection, *line)) return false;
  }
  return whole;
}

bool ControlServer::Answer(Connection& connection, const std::string& line) {
  json answer;
  try {
    answer = handler_(ParseRequest(line));
    if (answer.is_null()) {
      ++connection.waiting;
      return true;
    }
    answer["ok"] = true;
  } catch (const Error& error) {
    answer = Refusal(error.what(), error.status());
  } catch (const std::exception& error) {  // the path continues after any error
    answer = Refusal(error.what(), ExitStatus::kFailure);
  }
  return Send(connection, answer);
}

bool ControlServer::Send(Connection& connection, const json& answer) {
  const std::string text = JsonText(answer) + "\n";
  const ssize_t sent =
      send(connection.socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(text.size());
}

void ControlServer::AnswerWaiting(const json& members) {
  json answer = members;
  answer["ok"] = true;
  for (auto it = connections_.begin(); it != connections_.end();) {
    Connection& connection = it->second;
    bool lives = true;
    for (; lives && connection.waiting > 0; --connection.waiting) lives = Send(connection, answer);
    it = lives ? std::next(it) : connections_.erase(it);
  }
}

void PerformSet(const ControlRequest& request, const Config& config, LivePath& live) {
  if (!request.pair && config.pairs.size() > 1) {
    std::vector<std::string> names;
    for (const Pair& pair : config.pairs) names.push_back(pair.name);
    throw UsageError(fmt::format("this path has {} pairs; specify one of them ({})", names.size(),
                                 fmt::join(names, ", ")));
  }
  const std::string pair = request.pair.value_or(config.pairs.front().name);
  const std::string class_name = request.class_name.value_or("");
  std::vector<SpecChange> changes;
  if (request.up) changes.push_back({{pair, class_name, true, false}, *request.up});
  if (request.down) changes.push_back({{pair, class_name, false, true}, *request.down});
  live.Set(changes);
}

json Ask(const std::string& socket_path, const ControlRequest& request, Duration timeout) {
  UniqueFd socket;
  try {
    socket = sys::ConnectAt(socket_path, SOCK_STREAM);
  } catch (const SystemError& error) {
    if (error.error_number() != ENOENT && error.error_number() != ECONNREFUSED) throw;
    throw UsageError("this path has just ended");
  }
  const Instant deadline = MonotonicClock::Now() + timeout;
  const std::string text = JsonText(EncodeRequest(request)) + "\n";
  SystemCall("send a request to the path",
             send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL));
  ipc::LineBuffer lines(kMaxAnswerLine);
  std::array<char, 65536> buffer;
  for (;;) {
    // The deadline applies to the complete answer, which may arrive byte by byte.
    pollfd wait{socket.get(), POLLIN, 0};
    const int ready = poll(&wait, 1, PollTimeout(deadline));
    if (ready == 0) throw Error("the path has ended or does not respond");
    const ssize_t got = ready < 0 ? -1 : recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Error("the path has ended or does not respond");
    if (!lines.Add({buffer.data(), static_cast<size_t>(got)}))
      throw Error("the response of the path is too long");
    const auto line = lines.Next();
    if (!line) continue;
    json answer = json::parse(*line, nullptr, false);
    if (!answer.is_object()) throw Error("the response of the path is malformed");
    if (answer.value("ok", false)) return answer;
    throw Error(answer.value("error", "the path refused the request"),
                static_cast<ExitStatus>(answer.value("status", 1)));
  }
}

}  // namespace viaduct::engine
