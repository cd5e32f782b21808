#include "remote/tunnel/underlay.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/socket_option.h"
#include "base/timespec.h"
#include "remote/tunnel/socket_shares.h"

namespace viaduct::tunnel {
namespace {

constexpr size_t kMappedPrefix = 12;  // bytes before the IPv4 address in a mapped address

socklen_t LengthOf(const sockaddr_storage& address) {
  return address.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

template <class T>
T ContentOf(const cmsghdr* header) {
  T content;
  std::memcpy(&content, CMSG_DATA(header), sizeof content);
  return content;
}

int BufferSize(int fd, int option) {
  int bytes = 0;
  socklen_t length = sizeof bytes;
  SystemCall("getsockopt SO_RCVBUF or SO_SNDBUF",
             getsockopt(fd, SOL_SOCKET, option, &bytes, &length));
  return bytes;
}

}  // namespace

Peer::Peer(const wire::IpAddress& address, uint16_t port) {
  address_.sin6_family = AF_INET6;
  address_.sin6_port = htons(port);
  uint8_t* const to = address_.sin6_addr.s6_addr;
  if (address.family == wire::Family::kIpv6) {
    std::memcpy(to, address.bytes.data(), 16);
    return;
  }
  to[10] = to[11] = 0xff;
  std::memcpy(to + kMappedPrefix, address.bytes.data(), 4);
}

Peer::Peer(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6) {
    std::memcpy(&address_, &address, sizeof address_);
    return;
  }
  sockaddr_in in{};
  std::memcpy(&in, &address, sizeof in);
  *this = Peer(wire::IpAddress::FromIpv4(ntohl(in.sin_addr.s_addr)), ntohs(in.sin_port));
}

wire::IpAddress Peer::address() const {
  const uint8_t* const from = address_.sin6_addr.s6_addr;
  wire::IpAddress address;
  if (IN6_IS_ADDR_V4MAPPED(&address_.sin6_addr)) {
    std::memcpy(address.bytes.data(), from + kMappedPrefix, 4);
  } else {
    address.family = wire::Family::kIpv6;
    std::memcpy(address.bytes.data(), from, 16);
  }
  return address;
}

bool Peer::SameHost(const Peer& other) const {
  return std::memcmp(&address_.sin6_addr, &other.address_.sin6_addr, sizeof(in6_addr)) == 0;
}

Peer Peer::WithPort(uint16_t port) const {
  Peer other = *this;
  other.address_.sin6_port = htons(port);
  return other;
}

sockaddr_in Peer::as_in() const {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = address_.sin6_port;
  std::memcpy(&in.sin_addr, address_.sin6_addr.s6_addr + kMappedPrefix, 4);
  return in;
}

std::string Peer::ToString() const {
  const wire::IpAddress ip = address();
  return ip.family == wire::Family::kIpv6 ? "[" + ip.ToString() + "]" : ip.ToString();
}

Underlay::Underlay(const Options& options)
    : received_(std::make_unique_for_overwrite<std::byte[]>(kBurst * kStride)),
      max_datagram_(options.max_datagram),
      sent_(std::make_unique_for_overwrite<std::byte[]>(kBurst * options.max_datagram)) {
  queue_.reserve(kBurst);
  refused_.reserve(kBurst);
  Open(options);
  for (size_t i = 0; i < kBurst; ++i) {
    vectors_[i] = {received_.get() + i * kStride, kLongest};
    out_vectors_[i].iov_base = sent_.get() + i * max_datagram_;
  }
}

Underlay::~Underlay() = default;

SocketShares& Underlay::Share(std::span<const uint32_t> vnis) {
  shares_ = std::make_unique<SocketShares>(fd(), vnis, static_cast<size_t>(receive_buffer_));
  return *shares_;
}

void Underlay::Unshare() {
  if (!shares_) return;
  SetSocketOption(fd(), SOL_SOCKET, SO_DETACH_BPF, 0, "SO_DETACH_BPF");
  shares_.reset();
}

void Underlay::Account(const Message& message) { shares_->Take(message); }

void Underlay::Bind(const Options& options) {
  const wire::IpAddress address =
      wire::IpAddress::Parse(options.address.empty() ? "::" : options.address);
  const uint16_t port = options.beside != nullptr ? options.beside->port() : options.port;
  ipv4_only_ = address.family == wire::Family::kIpv4;
  sockaddr_storage bound{};
  const auto open = [&] {
    socket_.reset(
        socket(ipv4_only_ ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_) return false;
    if (options.beside != nullptr) {
      // The first socket was bound without SO_REUSEPORT, so that no socket of another hub shares
      // its port.
      for (const int fd : {options.beside->fd(), fd()}) {
        SetSocketOption(fd, SOL_SOCKET, SO_REUSEPORT, 1, "SO_REUSEPORT");
      }
    }
    if (ipv4_only_) {
      const sockaddr_in in = options.address.empty()
                                 ? sockaddr_in{AF_INET, htons(port), {INADDR_ANY}, {}}
                                 : Peer(address, port).as_in();
      std::memcpy(&bound, &in, sizeof in);
    } else {
      if (options.address.empty())
        SetSocketOption(fd(), IPPROTO_IPV6, IPV6_V6ONLY, 0, "IPV6_V6ONLY");
      std::memcpy(&bound, &Peer(address, port).as_in6(), sizeof(sockaddr_in6));
    }
    return bind(fd(), reinterpret_cast<const sockaddr*>(&bound), LengthOf(bound)) == 0;
  };
  bool is_open = open();
  if (!is_open && !ipv4_only_ && options.address.empty() && errno == EAFNOSUPPORT) {
    ipv4_only_ = true;
    is_open = open();
  }
  if (!is_open) {
    const int error = errno;
    throw UsageError(fmt::format(
        "UDP port {}{}: {}{}", port, options.address.empty() ? "" : " of " + options.address,
        std::strerror(error),
        error == EADDRINUSE
            ? "; another hub or a VXLAN interface of this network namespace uses this port"
            : ""));
  }
}

void Underlay::Open(const Options& options) {
  if (options.socket < 0) {
    Bind(options);
  } else {
    socket_.reset(options.socket);
  }
  SetSocketOption(fd(), SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
  SetSocketOption(fd(), SOL_UDP, UDP_GRO, 1, "UDP_GRO");
  SetSocketBuffer(fd(), SO_RCVBUFFORCE, SO_RCVBUF, options.buffer);
  SetSocketBuffer(fd(), SO_SNDBUFFORCE, SO_SNDBUF, options.buffer);
  receive_buffer_ = BufferSize(fd(), SO_RCVBUF);
  send_buffer_ = BufferSize(fd(), SO_SNDBUF);
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  SystemCall("getsockname of a tunnel's socket",
             getsockname(fd(), reinterpret_cast<sockaddr*>(&bound), &length));
  ipv4_only_ = bound.ss_family == AF_INET;
  port_ = Peer(bound).port();
}

uint32_t Underlay::AllDroppedMessages() const {
  std::array<uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t length = sizeof memory;
  SystemCall("getsockopt SO_MEMINFO",
             getsockopt(fd(), SOL_SOCKET, SO_MEMINFO, memory.data(), &length));
  return memory[SK_MEMINFO_DROPS];
}

uint32_t Underlay::DroppedMessages() const {
  if (!shares_) return dropped_ = AllDroppedMessages();
  // Both counts may grow between the reading of one and the reading of the other. The program
  // counts a refusal before the kernel does, so the difference of the counts may be too small, but
  // not too large, unless another refusal happens between the two readings.
  constexpr int kAttempts = 8;
  for (int i = 0; i < kAttempts; ++i) {
    const uint64_t refused = shares_->RefusedMessages();
    const uint32_t all = AllDroppedMessages();
    if (refused != shares_->RefusedMessages()) continue;
    const auto more = static_cast<int32_t>(all - static_cast<uint32_t>(refused) - dropped_);
    if (more > 0) dropped_ += static_cast<uint32_t>(more);
    break;
  }
  return dropped_;
}

uint64_t Underlay::ReceiveDrops() const {
  const MutexLock lock(drops_mutex_);
  const uint32_t since = DroppedMessages() - seen_drops_;
  return static_cast<uint64_t>(std::llround(drops_ + static_cast<double>(since) * per_message_));
}

void Underlay::NoteBurst(size_t messages, size_t datagrams) {
  if (messages == 0) return;
  const MutexLock lock(drops_mutex_);
  const double before =
      std::exchange(per_message_, static_cast<double>(datagrams) / static_cast<double>(messages));
  // The messages that were lost since the last call were sent between the messages of this burst
  // and of the previous burst. The system call that reads the number of lost messages is made only
  // if the result depends on this number.
  const double most = std::max(before, per_message_);
  const bool may_have_more = messages == kBurst;
  const bool settles = shares_ != nullptr && (may_have_more || shares_->Differs());
  if (most <= 1 && !settles) return;
  const uint32_t now = DroppedMessages();
  drops_ += static_cast<double>(now - seen_drops_) * most;
  seen_drops_ = now;
  if (settles) shares_->Settle(now, !may_have_more);
}

size_t Underlay::ReadBurst() {
  for (size_t i = 0; i < kBurst; ++i) {
    msghdr& header = messages_[i].msg_hdr;
    header = {};
    header.msg_name = &names_[i];
    header.msg_namelen = sizeof names_[i];
    header.msg_iov = &vectors_[i];
    header.msg_iovlen = 1;
    header.msg_control = controls_[i].data();
    header.msg_controllen = controls_[i].size();
  }
  const int count = recvmmsg(fd(), messages_.data(), kBurst, MSG_DONTWAIT, nullptr);
  // EAGAIN: there is no datagram. Any other error belongs to an earlier send (an ICMP error), and
  // does not concern a datagram of this call.
  return count < 0 ? 0 : static_cast<size_t>(count);
}

Underlay::Message Underlay::Examine(size_t i) {
  msghdr& header = messages_[i].msg_hdr;
  Message message;
  message.bytes = {received_.get() + i * kStride, messages_[i].msg_len};
  for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level == SOL_UDP && each->cmsg_type == UDP_GRO) {
      message.segment = static_cast<size_t>(std::max(0, ContentOf<int>(each)));
    } else if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_TIMESTAMPNS) {
      const auto stamp = ContentOf<timespec>(each);
      message.received = Instant() + FromTimespec(stamp);
    }
  }
  message.source = Peer(names_[i]);
  return message;
}

std::span<std::byte> Underlay::Queue(const Peer& peer, size_t length, uint32_t owner) {
  if (length > max_datagram_) return {};
  if (queue_.size() == kBurst) SendAll();
  const size_t at = queue_.size();
  queue_.push_back({peer, length, owner});
  return {sent_.get() + at * max_datagram_, length};
}

size_t Underlay::PrepareMessage(size_t message, size_t first) {
  const Queued& begin = queue_[first];
  // Segments of a message have one length, except for the last one, which may be shorter.
  size_t last = first;
  size_t bytes = begin.length;
  while (segments_ && last + 1 < queue_.size() && queue_[last].length == begin.length &&
         queue_[last + 1].length <= begin.length && queue_[last + 1].peer.SameAs(begin.peer) &&
         bytes + queue_[last + 1].length < 65000) {
    bytes += queue_[++last].length;
  }
  msghdr& header = out_[message].msg_hdr;
  header = {};
  sockaddr_storage& name = out_names_[message];
  if (ipv4_only_) {
    const sockaddr_in in = begin.peer.as_in();
    std::memcpy(&name, &in, sizeof in);
  } else {
    std::memcpy(&name, &begin.peer.as_in6(), sizeof(sockaddr_in6));
  }
  header.msg_name = &name;
  header.msg_namelen = LengthOf(name);
  for (size_t i = first; i <= last; ++i) out_vectors_[i].iov_len = queue_[i].length;
  header.msg_iov = &out_vectors_[first];
  header.msg_iovlen = last - first + 1;
  if (last > first) {
    header.msg_control = out_controls_[message].data();
    header.msg_controllen = out_controls_[message].size();
    cmsghdr* const control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_UDP;
    control->cmsg_type = UDP_SEGMENT;
    control->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    const auto segment = static_cast<uint16_t>(begin.length);
    std::memcpy(CMSG_DATA(control), &segment, sizeof segment);
  }
  return last + 1;
}

void Underlay::SendAll() {
  size_t sent = 0;  // index in queue_ of the next datagram to send
  while (sent < queue_.size()) {
    std::array<size_t, kBurst> ends;
    size_t messages = 0;
    for (size_t next = sent; next < queue_.size(); ++messages) {
      next = PrepareMessage(messages, next);
      ends[messages] = next;
    }
    const int count = sendmmsg(fd(), out_.data(), static_cast<unsigned>(messages), MSG_DONTWAIT);
    if (count > 0) {
      sent = ends[static_cast<size_t>(count) - 1];
      continue;
    }
    if (errno == EINTR) continue;
    if (ends[0] > sent + 1 && errno != EAGAIN && errno != ENOBUFS) {
      // The segments are longer than the path's MTU (EINVAL), or the device computes no checksums
      // (EIO): sends the datagrams one by one.
      segments_ = false;
      continue;
    }
    // The first message cannot be sent: the socket's buffer is full, or there is no route. Or this
    // call reports and clears an ICMP error that concerns an earlier message.
    for (size_t i = sent; i < ends[0]; ++i) refused_.push_back(queue_[i]);
    sent = ends[0];
  }
  queue_.clear();
  segments_ = true;
}

void SpreadByVni(const Underlay& any, size_t count) {
  // The program gets the datagram from its UDP payload on (net/core/sock_reuseport.c); a datagram
  // too short for a VNI arrives at the first socket.
  std::array<sock_filter, 4> program{
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4), BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8),
       BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, uint32_t(count)), BPF_STMT(BPF_RET | BPF_A, 0)}};
  const sock_fprog all{program.size(), program.data()};
  SetSocketOption(any.fd(), SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, all, "SO_ATTACH_REUSEPORT_CBPF");
}

}  // namespace viaduct::tunnel
