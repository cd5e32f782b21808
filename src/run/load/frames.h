// Whole frames to the next hop, past the sender's own IP stack, for a sender at its interface's
// full speed. The kernel's UDP sockets cost more time than many networks under test.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "run/load/socket.h"

namespace viaduct::load {

// The packet socket for the frames of a flow, and the headers before their UDP payloads (Ethernet,
// IPv4 or IPv6 with a hop limit of 64, UDP).
class FrameWay {
 public:
  // Asks the kernel of the calling thread's namespace for the route to `to` and for the next hop's
  // MAC address, which it resolves (ARP, neighbour discovery) within 5 s. `bind`: the source
  // address; empty: the route's. The source port is one that no other program has meanwhile. Throws
  // EnvironmentError if there is no single next hop behind an Ethernet interface or if it does not
  // answer, SystemError (not permitted).
  FrameWay(const Endpoint& to, const std::string& bind, int payload_bytes);

  int fd() const { return socket_.get(); }  // a blocking packet socket, bound to the interface
  const std::vector<std::byte>& head() const { return head_; }

  // Sets the UDP checksum of a frame that begins with head(): IPv6 demands one (RFC 8200, section
  // 8.1), IPv4 goes without (RFC 768).
  void Complete(wire::Bytes frame) const;

 private:
  UniqueFd port_;  // keeps the source port
  UniqueFd socket_;
  std::vector<std::byte> head_;
  wire::IpAddress source_, destination_;
};

}  // namespace viaduct::load
