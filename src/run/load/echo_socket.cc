#include "run/load/echo_socket.h"

#include <linux/icmp.h>
#include <linux/net_tstamp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>

#include "base/error.h"
#include "base/socket_option.h"
#include "base/timespec.h"
#include "base/wire/bytes.h"
#include "base/wire/checksum.h"
#include "base/wire/transport.h"

namespace viaduct::load {
namespace {

constexpr size_t kHeader = wire::IcmpHeader::kSize;
constexpr size_t kIdentifier = 4, kSequence = 6;  // offsets in an echo message (RFC 792)
constexpr size_t kMaxIpv4Header = 60;
constexpr int kReceiveBuffer = 4 << 20;
constexpr int kMaxErrors = 16;  // maximum number of consecutive errors

// Makes a raw socket receive only echo replies, instead of a copy of every ICMP message that this
// machine receives.
void PassRepliesOnly(int fd, bool ipv6) {
  if (ipv6) {
    icmp6_filter filter;
    ICMP6_FILTER_SETBLOCKALL(&filter);
    ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &filter);
    SetSocketOption(fd, IPPROTO_ICMPV6, ICMP6_FILTER, filter, "ICMP6_FILTER");
  } else {
    const icmp_filter filter = {.data = ~(1u << ICMP_ECHOREPLY)};
    SetSocketOption(fd, SOL_RAW, ICMP_FILTER, filter, "ICMP_FILTER");
  }
}

// Whether a datagram that is sent to a UDP socket on the loopback interface gets a time stamp on
// arrival.
bool IsStamped(int fd, const sockaddr_in& to) {
  std::byte byte{};
  if (sendto(fd, &byte, 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 1) return true;
  pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
  constexpr int kMilliseconds = 100;
  if (poll(&wait, 1, kMilliseconds) != 1) return true;
  iovec vector = {.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::byte control[CMSG_SPACE(3 * sizeof(timespec))];
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  return recvmsg(fd, &message, MSG_DONTWAIT) != 1 || CMSG_FIRSTHDR(&message) != nullptr;
}

// Waits until the kernel stamps packets, which it begins a while after the first socket of the
// machine has asked for stamps (net_enable_timestamp() in net/core/dev.c uses a work queue). A
// packet without a stamp would be stamped when it is read, which may be much later.
void AwaitStamps() {
  constexpr int kMaxTries = 100;
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof loopback;
  auto* address = reinterpret_cast<sockaddr*>(&loopback);
  // Uses SO_TIMESTAMPING, which adds no stamp when the packet is read, unlike SO_TIMESTAMPNS.
  const int stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
  if (!socket || bind(socket.get(), address, length) != 0 ||
      getsockname(socket.get(), address, &length) != 0 ||
      setsockopt(socket.get(), SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps) != 0) {
    return;
  }
  for (int i = 0; i < kMaxTries && !IsStamped(socket.get(), loopback); ++i) {
    poll(nullptr, 0, 1);
  }
}

}  // namespace

EchoSocket::EchoSocket(const Endpoint& to, const std::string& bind, int size)
    : to_(to),
      ipv6_(to.family() == AF_INET6),
      request_(kHeader + static_cast<size_t>(size)),
      reply_(kMaxIpv4Header + kHeader) {
  Open(bind);
  request_[0] = std::byte(ipv6_ ? ICMP6_ECHO_REQUEST : ICMP_ECHO);
  if (raw_) {
    identifier_ = static_cast<uint16_t>(std::random_device{}());
    wire::Store16(&request_[kIdentifier], identifier_);
  }
  for (size_t i = kHeader; i < request_.size(); ++i) request_[i] = std::byte(i);
}

void EchoSocket::Open(const std::string& bind) {
  const int protocol = ipv6_ ? int{IPPROTO_ICMPV6} : int{IPPROTO_ICMP};
  constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;
  fd_ = UniqueFd(socket(to_.family(), SOCK_DGRAM | kFlags, protocol));
  if (!fd_) {
    raw_ = true;
    fd_ = UniqueFd(socket(to_.family(), SOCK_RAW | kFlags, protocol));
  }
  if (!fd_) {
    throw SystemError(
        "send ICMP echo (needs CAP_NET_RAW, or this user's group in net.ipv4.ping_group_range)",
        errno);
  }
  if (raw_) PassRepliesOnly(fd_.get(), ipv6_);
  constexpr int kOn = 1;
  SetSocketOption(fd_.get(), SOL_SOCKET, SO_TIMESTAMPNS, kOn, "SO_TIMESTAMPNS");
  AwaitStamps();
  SetSocketBuffer(fd_.get(), SO_RCVBUFFORCE, SO_RCVBUF, kReceiveBuffer);
  if (bind.empty()) return;
  const Endpoint from = MakeEndpoint(bind, 0);
  SystemCall("bind " + bind,
             ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&from.address), from.length));
}

int EchoSocket::Send(uint16_t sequence) {
  wire::Store16(&request_[kSequence], sequence);
  if (raw_ && !ipv6_) {  // for other sockets the kernel computes the checksum
    wire::Store16(&request_[wire::IcmpHeader::kChecksumOffset], 0);
    wire::Store16(&request_[wire::IcmpHeader::kChecksumOffset], wire::InternetChecksum(request_));
  }
  const auto* to = reinterpret_cast<const sockaddr*>(&to_.address);
  ssize_t sent = 0;
  do {
    sent = sendto(fd_.get(), request_.data(), request_.size(), 0, to, to_.length);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

std::optional<uint16_t> EchoSocket::SequenceOf(size_t length) const {
  size_t header = 0;  // length of the IP header, which a raw IPv4 socket passes before the message
  if (raw_ && !ipv6_) header = length > 0 ? (std::to_integer<size_t>(reply_[0]) & 0xf) * 4 : 0;
  if (length < header + kHeader) return std::nullopt;
  const std::byte* icmp = &reply_[header];
  if (icmp[0] != std::byte(ipv6_ ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY)) return std::nullopt;
  if (raw_ && wire::Load16(icmp + kIdentifier) != identifier_) return std::nullopt;
  return wire::Load16(icmp + kSequence);
}

std::optional<EchoSocket::Reply> EchoSocket::Receive() {
  for (int errors = 0; errors < kMaxErrors;) {
    iovec vector = {.iov_base = reply_.data(), .iov_len = reply_.size()};
    alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(timespec))];
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t length = recvmsg(fd_.get(), &message, MSG_DONTWAIT);
    if (length < 0 && errno == EAGAIN) return std::nullopt;
    // The cause is a signal, or an error of the network that the socket reports once, for example
    // that an interface is down.
    if (length < 0) {
      ++errors;
      continue;
    }
    const auto sequence = SequenceOf(static_cast<size_t>(length));
    if (!sequence) {
      ++foreign_;
      continue;
    }
    Reply reply = {*sequence, Instant()};
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
      if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
      timespec stamp{};
      std::memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
      reply.received = Instant() + FromTimespec(stamp);
    }
    return reply;
  }
  return std::nullopt;
}

void EchoSocket::AwaitReply(Duration limit) const {
  pollfd waited = {.fd = fd_.get(), .events = POLLIN, .revents = 0};
  const timespec timeout = ToTimespec(std::max(limit, Duration()));
  ppoll(&waited, 1, &timeout, nullptr);
}

}  // namespace viaduct::load
