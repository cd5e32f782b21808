#include "remote/claim/channel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sys/descriptors.h"

namespace viaduct::claim {
namespace {

// The maximum number of bytes that are received before the peer shows that it has the key. A
// handshake has less than a thousand bytes.
constexpr size_t kMaxUnauthenticatedBytes = 16 * 1024;
// The maximum number of bytes that wait to be sent to a peer that does not read.
constexpr size_t kMaxWaiting = 4 * kMaxOffer;

bool MustWait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

[[noreturn]] void ThrowEnded() { throw ChannelEnded(std::strerror(errno)); }

}  // namespace

Channel::Channel(UniqueFd socket, const TlsContext& context, size_t longest)
    : socket_(std::move(socket)), tls_(context), lines_(longest), output_(tls_.Output()) {}

short Channel::Events() const {
  return static_cast<short>(output_.empty() ? POLLIN : POLLIN | POLLOUT);
}

std::vector<std::string> Channel::Serve() {
  Flush();
  std::array<char, 65536> wire;
  const ssize_t got = recv(socket_.get(), wire.data(), wire.size(), MSG_DONTWAIT);
  if (got < 0 && MustWait()) return {};
  if (got < 0) ThrowEnded();
  if (got == 0) throw ChannelEnded("the other end closed the connection");
  if (!IsOpen() &&
      (unauthenticated_bytes_ += static_cast<size_t>(got)) > kMaxUnauthenticatedBytes) {
    throw TlsError("too many bytes arrived before the TLS handshake was complete", false);
  }
  std::string text;
  try {
    text = tls_.Take({wire.data(), static_cast<size_t>(got)});
  } catch (const TlsError&) {
    End();
    throw;
  }
  output_ += tls_.Output();
  Flush();
  if (!lines_.Add(text)) throw MessageError("control connection: a line is too long");
  std::vector<std::string> lines;
  while (auto line = lines_.Next()) lines.push_back(*std::move(line));
  if (tls_.HasEnded() && lines.empty()) {
    throw ChannelEnded("the other end ended the connection");
  }
  return lines;
}

void Channel::Send(std::string_view line) {
  if (output_.size() > kMaxWaiting)
    throw ChannelEnded("the other end no longer reads from the control connection");
  tls_.Send(std::string(line) + "\n");
  output_ += tls_.Output();
  Flush();
}

void Channel::End() {
  tls_.End();
  output_ += tls_.Output();
  try {
    Flush();
  } catch (const ChannelEnded&) {  // the connection has ended already
    output_.clear();
  }
  shutdown(socket_.get(), SHUT_WR);
}

void Channel::Flush() {
  while (!output_.empty()) {
    const ssize_t sent =
        send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && MustWait()) return;
    if (sent < 0) ThrowEnded();
    output_.erase(0, static_cast<size_t>(sent));
  }
}

wire::IpAddress PeerAddress(int socket) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  SystemCall("getpeername", getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &length));
  wire::IpAddress address;
  if (peer.ss_family == AF_INET6) {
    address.family = wire::Family::kIpv6;
    std::memcpy(address.bytes.data(), &reinterpret_cast<sockaddr_in6&>(peer).sin6_addr, 16);
  } else {
    std::memcpy(address.bytes.data(), &reinterpret_cast<sockaddr_in&>(peer).sin_addr, 4);
  }
  return address;
}

void PrepareSocket(int socket) {
  sys::SetNonBlocking(socket);
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace viaduct::claim
