#include "guest/service/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
// <linux/dccp.h> and <linux/sctp.h> are included last, because they need declarations of the
// headers above.
#include <linux/dccp.h>
#include <linux/sctp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "base/error.h"
#include "guest/service/datagram_info.h"

namespace viaduct::guest::service {

using agent::BytesOf;
using agent::Code;
using agent::Endpoint;
using agent::Operation;

namespace {

SocketAddress AddressOf(int fd, int (*get)(int, sockaddr*, socklen_t*)) {
  SocketAddress address;
  if (get(fd, address.get(), &address.length) < 0) address.length = 0;
  return address;
}

bool AllZero(std::span<const std::byte> bytes) {
  return bytes.empty() || (bytes[0] == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

int PendingError(int fd) {
  int error_number = 0;
  socklen_t length = sizeof error_number;
  SystemCall("getsockopt SO_ERROR", getsockopt(fd, SOL_SOCKET, SO_ERROR, &error_number, &length));
  return error_number;
}

int SocketType(int fd) {
  int type = 0;
  socklen_t length = sizeof type;
  SystemCall("getsockopt SO_TYPE", getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length));
  return type;
}

// Returns whether the socket has a connection. An error of a socket that has a connection ends the
// connection.
bool HasConnection(int fd) {
  const int type = SocketType(fd);
  return type != SOCK_DGRAM && type != SOCK_RAW;
}

// Called after recvmsg() has returned 0 bytes: returns true if a DCCP socket received an empty
// message, false if its connection has ended. An empty message cannot be distinguished from the end
// if the end follows directly and has already arrived.
bool WasEmptyMessage(int fd) {
  if (SocketType(fd) != SOCK_DCCP) return false;
  pollfd state{.fd = fd, .events = POLLRDHUP, .revents = 0};
  SystemCall("poll", poll(&state, 1, 0));
  if ((state.revents & (POLLRDHUP | POLLHUP)) == 0) return true;
  std::byte next{};
  return recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

}  // namespace

struct Sockets::Socket {
  uint32_t number = 0;
  UniqueFd fd;
  // For a DCCP socket: a duplicate of the descriptor `fd`. The duplicate is watched edge-triggered
  // (WatchRoom()).
  UniqueFd room;
  bool stream = false;  // true: a stream of bytes without message boundaries
  bool parts = false;   // SCTP: a message may arrive in parts, the last with MSG_EOR
  bool listening = false;
  bool connecting = false;
  bool ended = false;    // the peer has finished sending, or the connection is lost
  bool closing = false;  // the socket is closed once all pending data is sent
  bool watched = false;
  bool written_due = false;    // the socket is listed in written_
  bool kernel_serves = false;  // the guest's kernel serves the socket's data
  std::optional<int> shutdown;
  uint32_t events = 0;   // the watched EPOLL... events
  uint32_t request = 0;  // the number of the request kConnect
  uint64_t credit = 0;   // the bytes that may be received; listener: by each accepted socket
  uint64_t written = 0;
  std::deque<Pending> pending;
  std::vector<std::byte> begun;  // the received parts of a message whose end has not arrived
};

Sockets::Sockets(Agent& agent, Opener open)
    : agent_(agent), open_(std::move(open)), buffer_(kPiece) {
  const auto handle = [&](Code code, auto method) {
    agent_.Handle(code, [this, method](const Operation& operation) { (this->*method)(operation); });
  };
  handle(Code::kOpenSocket, &Sockets::Open);
  handle(Code::kBind, &Sockets::Bind);
  handle(Code::kListen, &Sockets::Listen);
  handle(Code::kConnect, &Sockets::Connect);
  handle(Code::kSend, &Sockets::Send);
  handle(Code::kCredit, &Sockets::Credit);
  handle(Code::kShutdown, &Sockets::Shutdown);
  handle(Code::kClose, &Sockets::Close);
  handle(Code::kSetOption, &Sockets::SetOption);
  handle(Code::kGetOption, &Sockets::GetOption);
  agent_.BeforeFlush([this] { PostWritten(); });
}

Sockets::~Sockets() {
  for (const auto& [number, socket] : sockets_) {
    if (socket->watched) agent_.Unwatch(socket->fd.get());
    if (socket->room) agent_.Unwatch(socket->room.get());
  }
}

int Sockets::Descriptor(uint32_t number) const {
  const auto found = sockets_.find(number);
  return found == sockets_.end() ? -1 : found->second->fd.get();
}

Sockets::Socket& Sockets::Get(const Operation& operation) {
  const auto found = sockets_.find(operation.subject);
  // The socket was never opened (the kernel does not have the protocol), or is closed.
  if (found == sockets_.end() || found->second->closing) {
    throw SystemError(agent::Describe(operation.code), EBADF);
  }
  return *found->second;
}

Sockets::Socket& Sockets::Adopt(uint32_t number, UniqueFd fd, bool stream) {
  auto socket = std::make_unique<Socket>();
  socket->number = number;
  socket->fd = std::move(fd);
  socket->stream = stream;
  auto& place = sockets_[number];
  if (place) throw agent::ProtocolError("socket " + std::to_string(number) + " already exists");
  place = std::move(socket);
  return *place;
}

// Watches a DCCP socket for free space in its send buffer. dccp_poll() always reports free space,
// even if dccp_sendmsg() then fails (net/dccp/proto.c), so that level-triggered watching would
// result in a loop of failing system calls. But each packet that has been sent is reported
// (dccp_write_space()), which edge-triggered watching notices. A packet that is refused because of
// the queue's length limit is reported in the same way as free space; so this function disables the
// length limit, and the send buffer limits the queue.
void Sockets::WatchRoom(Socket& socket) {
  if (SocketType(socket.fd.get()) != SOCK_DCCP) return;
  const int unlimited = 0;
  SystemCall("setsockopt DCCP_SOCKOPT_QPOLICY_TXQLEN",
             setsockopt(socket.fd.get(), SOL_DCCP, DCCP_SOCKOPT_QPOLICY_TXQLEN, &unlimited,
                        sizeof unlimited));
  if (socket.kernel_serves) return;
  socket.room =
      UniqueFd(SystemCall("watch for buffer space", fcntl(socket.fd.get(), F_DUPFD_CLOEXEC, 0)));
  const uint32_t number = socket.number;
  agent_.Watch(socket.room.get(), EPOLLOUT | EPOLLET, [this, number](uint32_t) {
    const auto found = sockets_.find(number);
    if (found == sockets_.end() || found->second->connecting) return;
    Socket& ready = *found->second;
    if (!ready.pending.empty()) SendPending(ready);
    if (ready.closing && ready.pending.empty()) Erase(ready);
  });
}

void Sockets::Open(const Operation& operation) {
  const auto request = operation.As<agent::OpenSocket>();
  UniqueFd fd = open_(request);
  if (request.family == AF_INET6 && request.type != SOCK_RAW) {
    const int on = 1;  // ns-3's IPv4 and IPv6 never share a socket
    setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  const bool stream = request.type == SOCK_STREAM && request.protocol != IPPROTO_SCTP;
  Socket& socket = Adopt(operation.subject, std::move(fd), stream);
  socket.parts = request.protocol == IPPROTO_SCTP;
  socket.kernel_serves = request.kernel_serves != 0;
  socket.credit = request.credit;
  WatchRoom(socket);
  // A socket that needs no connection can receive data now.
  if (request.type == SOCK_DGRAM || request.type == SOCK_RAW) {
    if (socket.kernel_serves) PostReady(socket, operation.request);
    UpdateWatch(socket);
  }
}

void Sockets::PostReady(const Socket& socket, uint32_t request) {
  const auto descriptor = static_cast<uint32_t>(socket.fd.get());
  agent_.Post(Code::kReady, socket.number, request, {BytesOf(descriptor)});
}

void Sockets::Bind(const Operation& operation) {
  Socket& socket = Get(operation);
  SocketAddress address = ToSocketAddress(operation.As<Endpoint>());
  SystemCall("bind", bind(socket.fd.get(), address.get(), address.length));
  PostBound(socket, operation.request);
}

void Sockets::Listen(const Operation& operation) {
  Socket& socket = Get(operation);
  const auto request = operation.As<agent::Listen>();
  SystemCall("listen", listen(socket.fd.get(), static_cast<int>(request.backlog)));
  socket.listening = true;
  socket.credit = request.credit;
  PostBound(socket, operation.request);
  UpdateWatch(socket);
}

void Sockets::PostBound(Socket& socket, uint32_t request) {
  const Endpoint local = FromSocketAddress(AddressOf(socket.fd.get(), getsockname));
  agent_.Post(Code::kBound, socket.number, request, {BytesOf(local)});
}

void Sockets::Connect(const Operation& operation) {
  Socket& socket = Get(operation);
  SocketAddress address = ToSocketAddress(operation.As<Endpoint>());
  socket.request = operation.request;
  if (connect(socket.fd.get(), address.get(), address.length) == 0) {
    PostConnected(socket);
  } else if (errno == EINPROGRESS) {
    socket.connecting = true;
  } else {
    throw SystemError("connect", errno);
  }
  UpdateWatch(socket);
}

void Sockets::PostConnected(Socket& socket) {
  const int fd = socket.fd.get();
  const agent::Connected event{FromSocketAddress(AddressOf(fd, getsockname)),
                               FromSocketAddress(AddressOf(fd, getpeername)),
                               static_cast<uint32_t>(fd), 0};
  agent_.Post(Code::kConnected, socket.number, socket.request, {BytesOf(event)});
}

void Sockets::FinishConnect(Socket& socket) {
  socket.connecting = false;
  const int error_number = PendingError(socket.fd.get());
  if (error_number == 0) {
    PostConnected(socket);
    return;
  }
  socket.ended = true;
  socket.pending.clear();
  const agent::Failed failed{error_number, static_cast<uint16_t>(Code::kConnect), 0};
  agent_.Post(Code::kFailed, socket.number, socket.request,
              {BytesOf(failed), BytesOf(std::string_view("connect"))});
}

void Sockets::Accept(Socket& listener) {
  SocketAddress peer;
  const int accepted =
      accept4(listener.fd.get(), peer.get(), &peer.length, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (accepted < 0) {
    // Throws instead of waiting for descriptors or memory, because the connection would stay ready
    // to be accepted for ever.
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      throw SystemError("accept a connection", errno);
    }
    return;  // the peer has already aborted the connection
  }
  const uint32_t number = next_accepted_++;
  if (next_accepted_ == 0) next_accepted_ = agent::kAccepted;
  Socket& socket = Adopt(number, UniqueFd(accepted), listener.stream);
  socket.parts = listener.parts;
  socket.kernel_serves = listener.kernel_serves;
  socket.credit = listener.credit;
  WatchRoom(socket);
  const agent::Accepted event{number, static_cast<uint32_t>(accepted),
                              FromSocketAddress(AddressOf(accepted, getsockname)),
                              FromSocketAddress(peer)};
  agent_.Post(Code::kAccepted, listener.number, 0, {BytesOf(event)});
  UpdateWatch(socket);
}

void Sockets::Send(const Operation& operation) {
  Socket& socket = Get(operation);
  Pending pending;
  size_t offset = 0;
  if ((operation.flags & agent::kToEndpoint) != 0) {
    pending.to = ToSocketAddress(operation.As<Endpoint>());
    offset = sizeof(Endpoint);
  }
  if ((operation.flags & agent::kZeros) != 0) {
    pending.length = operation.As<uint64_t>(offset);
    if (pending.length > kPiece && !socket.stream) throw SystemError("send", EMSGSIZE);
  } else {
    const auto bytes = operation.After(offset);
    pending.bytes.assign(bytes.begin(), bytes.end());
    pending.length = bytes.size();
  }
  socket.pending.push_back(std::move(pending));
  if (socket.pending.size() == 1 && !socket.connecting) SendPending(socket);
  UpdateWatch(socket);
}

bool Sockets::SendOnce(Socket& socket, Pending& pending) {
  static constexpr std::array<std::byte, kPiece> kZeroBytes{};
  const bool zeros = pending.bytes.empty();
  const uint64_t left = pending.length - pending.sent;
  const std::byte* from = zeros ? kZeroBytes.data() : pending.bytes.data() + pending.sent;
  const size_t length = zeros ? std::min<uint64_t>(left, kPiece) : left;
  sockaddr* to = pending.to ? pending.to->get() : nullptr;
  const auto send_now = [&] {
    return sendto(socket.fd.get(), from, length, MSG_NOSIGNAL, to,
                  pending.to ? pending.to->length : 0);
  };
  ssize_t sent = send_now();
  if (sent < 0 && errno != EAGAIN && errno != ENOBUFS && !HasConnection(socket.fd.get())) {
    // The error may belong to an earlier message (ICMP). The current message must not be lost
    // because of that error, so it is sent again.
    const int earlier = errno;
    sent = send_now();
    if (sent >= 0 || errno != earlier) {
      const int error_number = errno;
      ReportBroken(socket, earlier);
      errno = error_number;
    }
  }
  if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS)) return false;
  const int error_number = sent < 0 ? errno : 0;
  // A datagram that cannot be sent is lost, and so are the bytes that a lost connection would have
  // carried: the agent counts both as written.
  const uint64_t done = sent < 0 ? left : static_cast<uint64_t>(sent);
  pending.sent += done;
  socket.written += done;
  if (!std::exchange(socket.written_due, true)) written_.push_back(socket.number);
  if (error_number != 0) {
    const agent::Failed failed{error_number, static_cast<uint16_t>(Code::kSend), 0};
    agent_.Post(Code::kFailed, socket.number, 0,
                {BytesOf(failed), BytesOf(std::string_view("send"))});
  }
  return error_number != 0 || done == length;
}

void Sockets::SendPending(Socket& socket) {
  while (!socket.pending.empty()) {
    Pending& first = socket.pending.front();
    const bool more = SendOnce(socket, first);
    // An empty message that the kernel has not accepted yet stays pending.
    if (more && first.sent == first.length) socket.pending.pop_front();
    if (!more) return;
  }
  AfterPending(socket);
}

void Sockets::AfterPending(Socket& socket) {
  if (socket.shutdown) shutdown(socket.fd.get(), *std::exchange(socket.shutdown, std::nullopt));
}

// Enables the notification of changes of an SCTP association. If this socket shuts down the
// association, the association ends in both directions (RFC 6458 section 4.1.7), and the kernel
// reports its end to this socket only by a notification.
void Sockets::AskForEnd(const Socket& socket) {
  if (!socket.parts) return;
  sctp_event changes{};
  changes.se_type = SCTP_ASSOC_CHANGE;
  changes.se_on = 1;
  SystemCall("setsockopt SCTP_EVENT",
             setsockopt(socket.fd.get(), IPPROTO_SCTP, SCTP_EVENT, &changes, sizeof changes));
}

// Handles the notification that AskForEnd() enables; ignores other notifications.
void Sockets::TakeNotification(Socket& socket, std::span<const std::byte> bytes) {
  sctp_assoc_change change{};
  std::memcpy(&change, bytes.data(), std::min(bytes.size(), sizeof change));
  if (change.sac_type != SCTP_ASSOC_CHANGE || change.sac_state != SCTP_SHUTDOWN_COMP) return;
  socket.ended = true;
  agent_.Post(Code::kEnd, socket.number, 0, {});
}

void Sockets::Credit(const Operation& operation) {
  Socket& socket = Get(operation);
  socket.credit += operation.As<uint64_t>();
  UpdateWatch(socket);
}

void Sockets::Shutdown(const Operation& operation) {
  Socket& socket = Get(operation);
  const auto how = static_cast<int>(operation.As<uint32_t>());
  if (how != SHUT_RD) AskForEnd(socket);
  if (how != SHUT_RD && (!socket.pending.empty() || socket.connecting)) {
    socket.shutdown = how;
  } else {
    SystemCall("shutdown", shutdown(socket.fd.get(), how));
  }
}

void Sockets::Close(const Operation& operation) {
  Socket& socket = Get(operation);
  if ((operation.flags & agent::kAbort) != 0) {
    const linger at_once{1, 0};
    setsockopt(socket.fd.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket.pending.clear();
  }
  socket.closing = true;
  socket.credit = 0;
  if (socket.pending.empty()) {
    Erase(socket);
  } else {
    UpdateWatch(socket);
  }
}

void Sockets::Erase(Socket& socket) {
  if (socket.watched) agent_.Unwatch(socket.fd.get());
  if (socket.room) agent_.Unwatch(socket.room.get());
  sockets_.erase(socket.number);
}

void Sockets::SetOption(const Operation& operation) {
  Socket& socket = Get(operation);
  const auto option = operation.As<agent::SocketOption>();
  const auto value = operation.After(sizeof option);
  SystemCall("setsockopt " + std::to_string(option.level) + " " + std::to_string(option.name),
             setsockopt(socket.fd.get(), option.level, option.name, value.data(),
                        static_cast<socklen_t>(value.size())));
  if ((operation.flags & agent::kAnswer) != 0) PostReady(socket, operation.request);
}

void Sockets::GetOption(const Operation& operation) {
  Socket& socket = Get(operation);
  const auto option = operation.As<agent::SocketOption>();
  auto length = static_cast<socklen_t>(buffer_.size());
  SystemCall("getsockopt " + std::to_string(option.level) + " " + std::to_string(option.name),
             getsockopt(socket.fd.get(), option.level, option.name, buffer_.data(), &length));
  agent_.Post(Code::kOption, operation.subject, operation.request,
              {BytesOf(option), std::span(buffer_).first(length)});
}

void Sockets::UpdateWatch(Socket& socket) {
  const bool reads = !socket.ended && !socket.connecting && (socket.listening || socket.credit > 0);
  const bool writes = socket.connecting || (!socket.pending.empty() && !socket.room);
  const uint32_t events = (reads ? uint32_t{EPOLLIN} : 0u) | (writes ? uint32_t{EPOLLOUT} : 0u);
  const int fd = socket.fd.get();
  // The agent does not watch a socket whose data the kernel serves.
  if (socket.kernel_serves && !socket.connecting && !socket.listening && !writes) {
    if (std::exchange(socket.watched, false)) agent_.Unwatch(fd);
    socket.events = 0;
    return;
  }
  if (!socket.watched) {
    // If the agent has no event to wait for, does not watch the descriptor: EPOLLHUP, which is
    // always watched, would be reported for ever after the end of the connection.
    if (events == 0) return;
    const uint32_t number = socket.number;
    agent_.Watch(fd, events, [this, number](uint32_t what) { OnEvents(number, what); });
    socket.watched = true;
  } else if (socket.ended && events == 0) {
    agent_.Unwatch(fd);
    socket.watched = false;
  } else if (events != socket.events) {
    agent_.ChangeWatch(fd, events);
  }
  socket.events = events;
}

void Sockets::OnEvents(uint32_t number, uint32_t events) {
  const auto found = sockets_.find(number);
  if (found == sockets_.end()) return;
  Socket& socket = *found->second;
  if (socket.connecting) {
    FinishConnect(socket);
    if (!socket.ended) SendPending(socket);
  } else {
    if ((events & EPOLLOUT) != 0 && !socket.pending.empty()) SendPending(socket);
    if ((events & EPOLLIN) != 0 && (socket.events & EPOLLIN) != 0) {
      socket.listening ? Accept(socket) : Receive(socket);
    } else if ((events & EPOLLERR) != 0) {
      ReportBroken(socket, PendingError(socket.fd.get()));
    } else if ((events & EPOLLHUP) != 0 && socket.pending.empty()) {
      // Both directions are closed, and the received data that is left waits for credit.
      agent_.Unwatch(socket.fd.get());
      socket.watched = false;
      socket.events = 0;
      if (!socket.closing) return;
    }
  }
  if (socket.closing && socket.pending.empty()) {
    Erase(socket);
  } else {
    UpdateWatch(socket);
  }
}

void Sockets::ReportBroken(Socket& socket, int error_number) {
  if (error_number == 0) return;
  if (HasConnection(socket.fd.get())) {
    socket.ended = true;
    for (const Pending& pending : socket.pending) socket.written += pending.length - pending.sent;
    socket.pending.clear();
  }
  if (socket.closing) return;
  const auto value = static_cast<uint32_t>(error_number);
  agent_.Post(Code::kBroken, socket.number, 0, {BytesOf(value)});
}

void Sockets::Receive(Socket& socket) {
  iovec vector{buffer_.data(), socket.stream ? std::min<uint64_t>(socket.credit, kPiece)
                                             : buffer_.size() - socket.begun.size()};
  SocketAddress from;
  alignas(cmsghdr) std::array<std::byte, 256> control;
  msghdr header{};
  header.msg_name = from.get();
  header.msg_namelen = from.length;
  header.msg_iov = &vector;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t received = recvmsg(socket.fd.get(), &header, 0);
  if (received < 0) {
    if (errno != EAGAIN) ReportBroken(socket, errno);
    return;
  }
  from.length = header.msg_namelen;
  const Endpoint sender = FromSocketAddress(from);
  if (received == 0 && (socket.stream || sender.family == AF_UNSPEC) &&
      !WasEmptyMessage(socket.fd.get())) {
    socket.ended = true;
    agent_.Post(Code::kEnd, socket.number, 0, {});
    return;
  }
  auto bytes = std::span<const std::byte>(buffer_).first(static_cast<size_t>(received));
  if (socket.parts && (header.msg_flags & MSG_NOTIFICATION) != 0) {
    TakeNotification(socket, bytes);
    return;
  }
  std::vector<std::byte> whole;
  if (socket.parts) {
    // A message longer than the kernel's receive buffer arrives in parts (RFC 6458 section 8.1.21).
    const bool ends = (header.msg_flags & MSG_EOR) != 0;
    if (!ends || !socket.begun.empty()) {
      socket.begun.insert(socket.begun.end(), bytes.begin(), bytes.end());
      if (!ends && socket.begun.size() < buffer_.size()) return;
      whole = std::exchange(socket.begun, {});
      bytes = whole;
    }
  }
  socket.credit -= std::min<uint64_t>(socket.credit, std::max<size_t>(bytes.size(), 1));
  PostData(agent_, socket.number, sender, header, bytes, AllZero(bytes));
}

void Sockets::PostWritten() {
  for (const uint32_t number : written_) {
    const auto found = sockets_.find(number);
    if (found == sockets_.end()) continue;
    Socket& socket = *found->second;
    socket.written_due = false;
    const uint64_t written = std::exchange(socket.written, 0);
    if (!socket.closing) agent_.Post(Code::kWritten, number, 0, {BytesOf(written)});
  }
  written_.clear();
}

}  // namespace viaduct::guest::service
