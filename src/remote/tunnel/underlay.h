// The UDP socket of a tunnel's hub: datagrams in bursts.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/mutex.h"
#include "base/time.h"
#include "base/wire/address.h"

namespace viaduct::tunnel {

class SocketShares;

// Where datagrams come from and go to. IPv4 addresses are mapped ones (RFC 4291 section 2.5.5.2),
// unless the machine has no IPv6.
class Peer {
 public:
  Peer() = default;
  Peer(const wire::IpAddress& address, uint16_t port);
  explicit Peer(const sockaddr_storage& address);

  wire::IpAddress address() const;
  uint16_t port() const { return ntohs(address_.sin6_port); }
  bool SameHost(const Peer& other) const;
  bool SameAs(const Peer& other) const {
    return SameHost(other) && address_.sin6_port == other.address_.sin6_port;
  }
  // The same host, on the same link if the address is link-local.
  Peer WithPort(uint16_t port) const;
  std::string ToString() const;  // "192.0.2.1", "[2001:db8::1]"; no port
  const sockaddr_in6& as_in6() const { return address_; }
  sockaddr_in as_in() const;

 private:
  sockaddr_in6 address_{};
};

// Reads and writes bursts by recvmmsg() and sendmmsg(), with UDP GRO and GSO where the kernel and
// the other end can use them: one datagram of the socket is then several on the wire. One thread.
class Underlay {
 public:
  struct Options {
    std::string address = {};    // its own; empty: every address of the machine
    uint16_t port = 0;           // 0: any
    size_t max_datagram = 1526;  // bytes that are sent in one, at most
    int buffer = 16 << 20;       // asked for, bytes, of the socket in each direction
    // Another one, whose address and port this one has, too (SO_REUSEPORT); instead of `port`.
    const Underlay* beside = nullptr;
    // A UDP socket that has been bound elsewhere, and is this object's from now on; -1: it opens
    // one.
    int socket = -1;
  };
  // What one message of the socket holds: a datagram, or several of one source.
  struct Message {
    std::span<std::byte> bytes;  // valid during the call
    size_t segment = 0;  // bytes of each datagram, or of each part of what a datagram of this
                         // machine holds (UDP_GRO); 0: it is one
    Instant received;    // the kernel's stamp, CLOCK_REALTIME
    Peer source;
  };

  // Throws UsageError if the address or port cannot be had.
  explicit Underlay(const Options& options);
  ~Underlay();

  // From now on the clients of these VNIs share the receive buffer. What is returned is this
  // object's. Throws as SocketShares does.
  SocketShares& Share(std::span<const uint32_t> vnis);
  void Unshare();  // if it was shared

  int fd() const { return socket_.get(); }
  uint16_t port() const { return port_; }
  // What the kernel gave, bytes: without CAP_NET_ADMIN not more than net.core.rmem_max.
  int receive_buffer() const { return receive_buffer_; }
  int send_buffer() const { return send_buffer_; }
  // Datagrams that found the socket's buffer full, since it was opened, without those that were
  // beyond a share of it. A system call, from any thread. The kernel counts messages: of how many
  // datagrams each was (UDP_GRO) is known by those that it gave at that time.
  uint64_t ReceiveDrops() const;

  static size_t DatagramsOf(const Message& message) {
    if (message.segment == 0) return 1;
    return std::max<size_t>(1, (message.bytes.size() + message.segment - 1) / message.segment);
  }

  // Reads at most kBurst messages and calls use(const Message&) for each, in order. Never blocks.
  // Returns whether there may be more.
  template <class Use>
  bool Receive(Use&& use) {
    const size_t count = ReadBurst();
    size_t datagrams = 0;
    for (size_t i = 0; i < count; ++i) {
      const Message message = Examine(i);
      datagrams += DatagramsOf(message);
      if (shares_) Account(message);
      use(message);
    }
    NoteBurst(count, datagrams);
    return count == kBurst;
  }

  // Room for a datagram of `length` bytes to `peer`, to be filled in before the next call; empty if
  // it is too long, or the kernel takes no more now. Sent by Flush() at the latest.
  std::span<std::byte> Queue(const Peer& peer, size_t length, uint32_t owner);
  // Sends what is queued. Those that the kernel refused are told: refused(owner, bytes).
  template <class Refused>
  void Flush(Refused&& refused) {
    SendAll();
    for (const Queued& each : refused_) refused(each.owner, each.length);
    refused_.clear();
  }

 private:
  static constexpr size_t kBurst = 64;
  static constexpr size_t kLongest = 65536;
  // Between the beginnings of two messages' buffers: were it a power of two, all of them would
  // share a few sets of the processor's caches.
  static constexpr size_t kStride = kLongest + 1664;

  struct Queued {
    Peer peer;
    size_t length = 0;
    uint32_t owner = 0;
  };

  void Bind(const Options& options);
  void Open(const Options& options);
  size_t ReadBurst();
  Message Examine(size_t i);
  void Account(const Message& message);
  // A burst of so many messages, with so many datagrams, was read.
  void NoteBurst(size_t messages, size_t datagrams);
  // Of the kernel, modulo 2^32: those that were beyond a share, too.
  uint32_t AllDroppedMessages() const;
  // Without these; never too many.
  uint32_t DroppedMessages() const VIADUCT_THREAD_SAFETY(requires_capability(drops_mutex_));
  void SendAll();
  // As many of those from `first` on as one message can carry.
  size_t PrepareMessage(size_t message, size_t first);

  UniqueFd socket_;
  bool ipv4_only_ = false, segments_ = true;
  uint16_t port_ = 0;
  int receive_buffer_ = 0, send_buffer_ = 0;

  std::unique_ptr<SocketShares> shares_;

  mutable Mutex drops_mutex_;  // those of a reader's socket are asked for by another thread
  // What DroppedMessages() said last.
  mutable uint32_t dropped_ VIADUCT_GUARDED_BY(drops_mutex_) = 0;
  uint32_t seen_drops_ VIADUCT_GUARDED_BY(drops_mutex_) = 0;  // messages that are in drops_
  double drops_ VIADUCT_GUARDED_BY(drops_mutex_) = 0;         // datagrams
  double per_message_ VIADUCT_GUARDED_BY(drops_mutex_) = 1;   // datagrams, lately

  std::unique_ptr<std::byte[]> received_;
  std::array<sockaddr_storage, kBurst> names_{};
  std::array<mmsghdr, kBurst> messages_{};
  std::array<iovec, kBurst> vectors_{};
  alignas(cmsghdr) std::array<std::array<std::byte, 128>, kBurst> controls_{};

  size_t max_datagram_;
  std::unique_ptr<std::byte[]> sent_;
  std::vector<Queued> queue_;
  std::array<mmsghdr, kBurst> out_{};
  std::array<sockaddr_storage, kBurst> out_names_{};
  std::array<iovec, kBurst> out_vectors_{};
  alignas(cmsghdr)
      std::array<std::array<std::byte, CMSG_SPACE(sizeof(uint16_t))>, kBurst> out_controls_{};
  std::vector<Queued> refused_;
};

// Of `count` sockets with the port of `any` of them, a VNI's datagrams all come to one. Throws
// SystemError.
void SpreadByVni(const Underlay& any, size_t count);

}  // namespace viaduct::tunnel
