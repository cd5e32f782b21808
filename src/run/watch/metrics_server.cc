#include "run/watch/metrics_server.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>

#include "base/clock.h"
#include "base/error.h"

namespace viaduct::watch {
namespace {

constexpr size_t kMaxConnections = 32, kMaxRequest = 8192;
constexpr int kWaitingConnections = 128;
constexpr Duration kRequestTimeout = Duration::Seconds(5);

std::string Answer(const char* status, const std::string& body, const char* more = "",
                   bool has_body = true) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: {}\r\nConnection: close\r\n{}\r\n{}",
      status, body.size(), more, has_body ? body : "");
}

socklen_t Fill(const wire::IpAddress& address, uint16_t port, sockaddr_storage* storage) {
  std::memset(storage, 0, sizeof *storage);
  if (address.family == wire::Family::kIpv4) {
    auto* ipv4 = reinterpret_cast<sockaddr_in*>(storage);
    ipv4->sin_family = AF_INET;
    ipv4->sin_port = htons(port);
    std::memcpy(&ipv4->sin_addr, address.bytes.data(), sizeof ipv4->sin_addr);
    return sizeof *ipv4;
  }
  auto* ipv6 = reinterpret_cast<sockaddr_in6*>(storage);
  ipv6->sin6_family = AF_INET6;
  ipv6->sin6_port = htons(port);
  std::memcpy(&ipv6->sin6_addr, address.bytes.data(), sizeof ipv6->sin6_addr);
  return sizeof *ipv6;
}

uint16_t BoundPort(int fd) {
  sockaddr_storage storage;
  socklen_t length = sizeof storage;
  SystemCall("getsockname", getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length));
  return ntohs(storage.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&storage)->sin_port
                                            : reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port);
}

bool IsLoopback(const wire::IpAddress& address) {
  return address.family == wire::Family::kIpv4 ? address.bytes[0] == 127
                                               : address == wire::IpAddress::Parse("::1");
}

// Whether the value of a field Host (RFC 9110, 7.2), which may have a port, is localhost or a
// loopback address.
bool IsLoopbackHost(std::string_view host) {
  const size_t end = host.starts_with('[') ? host.find(']') : host.rfind(':');
  std::string name(host.substr(0, end));
  if (name.starts_with('[')) {
    if (end == std::string_view::npos) return false;
    name.erase(0, 1);
  }
  if (strcasecmp(name.c_str(), "localhost") == 0) return true;
  try {
    return IsLoopback(wire::IpAddress::Parse(name));
  } catch (const Error&) {
    return false;  // the host is given by a name
  }
}

// Whether every field Host names this machine. A browser always sends the field.
bool HasLoopbackHost(std::string_view fields) {
  constexpr std::string_view kName = "host:";
  while (!fields.empty()) {
    std::string_view field = fields.substr(0, fields.find("\r\n"));
    fields.remove_prefix(std::min(field.size() + 2, fields.size()));
    if (field.size() < kName.size() || strncasecmp(field.data(), kName.data(), kName.size()) != 0) {
      continue;
    }
    field.remove_prefix(kName.size());
    const size_t begin = field.find_first_not_of(" \t");
    const size_t last = field.find_last_not_of(" \t");
    if (begin == std::string_view::npos) return false;
    if (!IsLoopbackHost(field.substr(begin, last - begin + 1))) return false;
  }
  return true;
}

}  // namespace

std::string Respond(std::string_view head, bool is_loopback,
                    const std::function<std::string()>& metrics) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const size_t first = line.find(' ');
  const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos || !line.substr(second + 1).starts_with("HTTP/1.")) {
    return Answer("400 Bad Request", "the request is not HTTP/1.1\n");
  }
  if (is_loopback && !HasLoopbackHost(head.substr(std::min(line.size() + 2, head.size())))) {
    return Answer("421 Misdirected Request", "use localhost, 127.0.0.1 or [::1] in the URL\n");
  }
  const std::string_view method = line.substr(0, first);
  std::string_view target = line.substr(first + 1, second - first - 1);
  target = target.substr(0, target.find('?'));
  if (method != "GET" && method != "HEAD") {
    return Answer("405 Method Not Allowed", "only GET and HEAD are supported\n",
                  "Allow: GET, HEAD\r\n");
  }
  if (target != "/metrics")
    return Answer("404 Not Found", "not found; the only page is /metrics\n");
  try {
    return Answer("200 OK", metrics(), "", method == "GET");
  } catch (const std::exception& error) {
    return Answer("500 Internal Server Error", fmt::format("{}\n", error.what()));
  }
}

MetricsServer::MetricsServer(sys::EventLoop& loop, const wire::IpAddress& address, uint16_t port,
                             std::function<std::string()> metrics)
    : loop_(loop),
      is_loopback_(IsLoopback(address)),
      metrics_(std::move(metrics)),
      alive_(std::make_shared<bool>(true)) {
  const std::string what = fmt::format("listen on {} port {}", address.ToString(), port);
  const int family = address.family == wire::Family::kIpv4 ? AF_INET : AF_INET6;
  listener_.reset(SystemCall(what, socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  const int on = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_storage storage;
  const socklen_t length = Fill(address, port, &storage);
  SystemCall(what, bind(listener_.get(), reinterpret_cast<sockaddr*>(&storage), length));
  SystemCall(what, listen(listener_.get(), kWaitingConnections));
  port_ = BoundPort(listener_.get());
  loop_.Watch(listener_.get(), [this] { Accept(); });
}

MetricsServer::~MetricsServer() {
  *alive_ = false;
  loop_.Forget(listener_.get());
  for (const auto& [fd, connection] : connections_) loop_.Forget(fd);
}

void MetricsServer::Accept() {
  // Stops accepting connections if the limit is reached: the client waits in the kernel's queue
  // until another connection ends.
  if (connections_.size() >= kMaxConnections && !MakeRoom()) {
    return loop_.Forget(listener_.get());
  }
  UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    if (is_short) throw SystemError("accept a connection", errno);
    return;
  }
  const int fd = socket.get();
  const uint64_t number = ++last_number_;
  Connection& connection = connections_[fd];
  connection.socket = std::move(socket);
  connection.number = number;
  loop_.Watch(fd, [this, fd] { Read(fd); });
  loop_.At(MonotonicClock::Now() + kRequestTimeout, [this, alive = alive_, fd, number] {
    if (!*alive) return;
    const auto found = connections_.find(fd);
    if (found != connections_.end() && found->second.number == number) Drop(fd);
  });
}

// Drops the oldest idle connection, whose request is incomplete and which has sent no more bytes.
// Returns whether there was an idle connection.
bool MetricsServer::MakeRoom() {
  const Connection* oldest = nullptr;
  for (const auto& [fd, connection] : connections_) {
    char next;
    const bool is_idle = connection.answer.empty() &&
                         recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
    if (is_idle && (oldest == nullptr || connection.number < oldest->number)) oldest = &connection;
  }
  if (oldest == nullptr) return false;
  Drop(oldest->socket.get());
  return true;
}

void MetricsServer::Read(int fd) {
  Connection& connection = connections_.at(fd);
  std::array<char, 4096> buffer;
  const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return Drop(fd);
  connection.request.append(buffer.data(), static_cast<size_t>(got));
  if (connection.request.find("\r\n\r\n") != std::string::npos) {
    connection.answer = Respond(connection.request, is_loopback_, metrics_);
  } else if (connection.request.size() > kMaxRequest) {
    connection.answer = Answer("431 Request Header Fields Too Large", "");
  }
  if (connection.answer.empty()) return;
  loop_.Watch(
      fd, [this, fd] { Write(fd); }, POLLOUT);
}

void MetricsServer::Write(int fd) {
  std::string& answer = connections_.at(fd).answer;
  const ssize_t sent = send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (sent < 0) return Drop(fd);
  answer.erase(0, static_cast<size_t>(sent));
  if (answer.empty()) Drop(fd);
}

void MetricsServer::Drop(int fd) {
  loop_.Forget(fd);
  connections_.erase(fd);
  loop_.Watch(listener_.get(), [this] { Accept(); });
}

}  // namespace viaduct::watch
