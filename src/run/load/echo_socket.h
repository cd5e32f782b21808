// The sockets of `viaduct-load ping`: ICMP (RFC 792) and ICMPv6 (RFC 4443) echo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"
#include "run/load/socket.h"

namespace viaduct::load {

// Sends echo requests to one address and reads the replies. If the kernel permits it, the socket is
// one of the kernel's echo sockets (net.ipv4.ping_group_range), which need no privilege; otherwise
// it is a raw socket (CAP_NET_RAW).
class EchoSocket {
 public:
  struct Reply {
    uint16_t sequence = 0;
    Instant received;  // the kernel's time stamp, CLOCK_REALTIME
  };

  // `bind`: the source address; empty: the address that the route selects. `size`: bytes of
  // payload. Throws SystemError, also if neither kind of socket is permitted.
  EchoSocket(const Endpoint& to, const std::string& bind, int size);

  // Sends a request. Returns 0, or the errno if the kernel refused the request.
  int Send(uint16_t sequence);
  // Returns the next reply to a request of this socket; nothing if none has arrived.
  std::optional<Reply> Receive();
  // Waits until a reply may have arrived, at most for `limit`, or until a signal.
  void AwaitReply(Duration limit) const;
  // Returns the number of messages that arrived at this socket and were not replies to its
  // requests.
  uint64_t foreign() const { return foreign_; }
  // Returns the number of replies that the kernel dropped because the socket's buffer was full.
  uint64_t dropped_here() const { return SocketDrops(fd_.get()); }

 private:
  void Open(const std::string& bind);
  std::optional<uint16_t> SequenceOf(size_t length) const;

  Endpoint to_;
  bool ipv6_ = false, raw_ = false;
  // The identifier of requests, for raw sockets; the kernel chooses the identifier of an echo
  // socket.
  uint16_t identifier_ = 0;
  UniqueFd fd_;
  std::vector<std::byte> request_, reply_;
  uint64_t foreign_ = 0;
};

}  // namespace viaduct::load
