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

// Sends echo requests to one address and reads their replies. Where the kernel permits it the
// socket is one of its echo sockets (net.ipv4.ping_group_range), which need no privilege, else a
// raw one (CAP_NET_RAW).
class EchoSocket {
 public:
  struct Reply {
    uint16_t sequence = 0;
    Instant received;  // the kernel's time stamp, CLOCK_REALTIME
  };

  // `bind`: the source address; empty: chosen by the route. `size`: bytes of payload. Throws
  // SystemError, also if neither kind of socket is permitted.
  EchoSocket(const Endpoint& to, const std::string& bind, int size);

  // Returns 0, or the error of a request that the kernel refused.
  int Send(uint16_t sequence);
  // Returns the next reply to a request of this socket; nothing if none has arrived.
  std::optional<Reply> Receive();
  // Waits until a reply may have arrived, for `limit` at most, or for a signal.
  void AwaitReply(Duration limit) const;
  // The number of messages to this socket that were no replies to its requests.
  uint64_t foreign() const { return foreign_; }
  // Replies that arrived while the socket's buffer was full.
  uint64_t dropped_here() const { return SocketDrops(fd_.get()); }

 private:
  void Open(const std::string& bind);
  std::optional<uint16_t> SequenceOf(size_t length) const;

  Endpoint to_;
  bool ipv6_ = false, raw_ = false;
  uint16_t identifier_ = 0;  // used by raw sockets; the kernel chooses an echo socket's
  UniqueFd fd_;
  std::vector<std::byte> request_, reply_;
  uint64_t foreign_ = 0;
};

}  // namespace viaduct::load
