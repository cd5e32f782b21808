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

// The source or destination of datagrams. IPv4 addresses are mapped ones (RFC 4291 section
// 2.5.5.2), unless the machine has no IPv6.
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
  // Returns the same host with another port, on the same link if the address is link-local.
  Peer WithPort(uint16_t port) const;
  std::string ToString() const;  // the address without the port: "192.0.2.1", "[2001:db8::1]"
  const sockaddr_in6& as_in6() const { return address_; }
  sockaddr_in as_in() const;

 private:
  sockaddr_in6 address_{};
};

// Reads and writes bursts by recvmmsg() and sendmmsg(), with UDP GRO and GSO if the kernel and the
// peer can use them: a message of the socket is then several datagrams on the wire. Used by one
// thread.
class Underlay {
 public:
  struct Options {
    std::string address = {};    // address to bind to; empty: every address of the machine
    uint16_t port = 0;           // UDP port; 0: any
    size_t max_datagram = 1526;  // maximum bytes of a sent datagram
    int buffer = 16 << 20;       // requested bytes of the socket's buffer in each direction
    // A socket with which the new socket shares its address and port (SO_REUSEPORT); `port` is then
    // ignored. Null: no such socket.
    const Underlay* beside = nullptr;
    // A UDP socket that the caller has bound, and that this object takes over; -1: the object opens
    // a socket.
    int socket = -1;
  };
  // The content of one message of the socket: a datagram, or several of one source.
  struct Message {
    std::span<std::byte> bytes;  // valid during the call
    // Bytes of each datagram, or of each part of the content of a locally sent datagram (UDP_GRO);
    // 0: the message is one datagram.
    size_t segment = 0;
    Instant received;  // the kernel's time stamp of the reception, CLOCK_REALTIME
    Peer source;
  };

  // Throws UsageError if the address or port is not available.
  explicit Underlay(const Options& options);
  ~Underlay();

  // Divides the receive buffer among the clients of these VNIs. The returned object belongs to this
  // object. Throws as SocketShares does.
  SocketShares& Share(std::span<const uint32_t> vnis);
  void Unshare();  // ends the effect of Share(); does nothing if the buffer is not shared

  int fd() const { return socket_.get(); }
  uint16_t port() const { return port_; }
  // Returns the size of the receive buffer that the kernel set, in bytes: without CAP_NET_ADMIN at
  // most net.core.rmem_max.
  int receive_buffer() const { return receive_buffer_; }
  int send_buffer() const { return send_buffer_; }
  // Returns the number of datagrams that were lost since the socket was opened because the socket's
  // buffer was full. Datagrams beyond a share of the buffer are not included. Makes a system call,
  // and may be called by any thread. The kernel counts messages: the number of datagrams in each
  // (UDP_GRO) is estimated from the messages received at that time.
  uint64_t ReceiveDrops() const;

  static size_t DatagramsOf(const Message& message) {
    if (message.segment == 0) return 1;
    return std::max<size_t>(1, (message.bytes.size() + message.segment - 1) / message.segment);
  }

  // Reads at most kBurst messages and calls use(const Message&) for each, in order. Never blocks.
  // Returns whether more messages may be waiting.
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

  // Returns the space for a datagram of `length` bytes to `peer`, which must be filled in before
  // the next call; returns an empty span if the datagram is too long. Flush() sends the datagram,
  // unless an earlier call has sent it.
  std::span<std::byte> Queue(const Peer& peer, size_t length, uint32_t owner);
  // Sends the queued datagrams. Calls refused(owner, bytes) for each datagram that the kernel
  // refused.
  template <class Refused>
  void Flush(Refused&& refused) {
    SendAll();
    for (const Queued& each : refused_) refused(each.owner, each.length);
    refused_.clear();
  }

 private:
  static constexpr size_t kBurst = 64;
  static constexpr size_t kLongest = 65536;
  // Bytes between the beginnings of two messages' buffers: if this number were a power of two, all
  // buffers would share a few sets of the processor's caches.
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
  // Records that a burst with these numbers of messages and datagrams was read.
  void NoteBurst(size_t messages, size_t datagrams);
  // Returns the kernel's count of dropped messages, modulo 2^32, including messages beyond a share.
  uint32_t AllDroppedMessages() const;
  // Returns the count of dropped messages without messages beyond a share; the count may be too
  // small, but not too large.
  uint32_t DroppedMessages() const VIADUCT_THREAD_SAFETY(requires_capability(drops_mutex_));
  void SendAll();
  // Fills a message with as many queued datagrams, beginning with the one at `first`, as it can
  // carry.
  size_t PrepareMessage(size_t message, size_t first);

  UniqueFd socket_;
  bool ipv4_only_ = false, segments_ = true;
  uint16_t port_ = 0;
  int receive_buffer_ = 0, send_buffer_ = 0;

  std::unique_ptr<SocketShares> shares_;

  // Guards the counts of drops: another thread may ask for the drops of a reader's socket.
  mutable Mutex drops_mutex_;
  // The last result of DroppedMessages().
  mutable uint32_t dropped_ VIADUCT_GUARDED_BY(drops_mutex_) = 0;
  // The number of dropped messages that drops_ includes already.
  uint32_t seen_drops_ VIADUCT_GUARDED_BY(drops_mutex_) = 0;
  double drops_ VIADUCT_GUARDED_BY(drops_mutex_) = 0;  // the estimated number of dropped datagrams
  // The number of datagrams per message in the last burst.
  double per_message_ VIADUCT_GUARDED_BY(drops_mutex_) = 1;

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

// Makes all datagrams of a VNI arrive at one of the `count` sockets with the port of `any`. Throws
// SystemError.
void SpreadByVni(const Underlay& any, size_t count);

}  // namespace viaduct::tunnel
