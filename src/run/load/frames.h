// Sends complete Ethernet frames to the next hop, bypassing the sender's IP stack, for a sender at
// the full speed of its interface. The kernel's UDP sockets take more time per packet than many
// networks under test.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "run/load/socket.h"

namespace viaduct::load {

// The packet socket for the frames of a flow, and the headers before the frames' UDP payloads
// (Ethernet, IPv4 or IPv6 with a hop limit of 64, UDP).
class FrameWay {
 public:
  // Queries the kernel of the calling thread's namespace for the route to `to` and for the MAC
  // address of the next hop, which must be resolved (ARP, neighbour discovery) within 5 s. `bind`:
  // the source address; empty: the address that the route selects. No other program can have the
  // same source port while this object exists. Throws EnvironmentError if there is no single next
  // hop behind an Ethernet interface or if the next hop does not answer, SystemError (not
  // permitted).
  FrameWay(const Endpoint& to, const std::string& bind, int payload_bytes);

  int fd() const { return socket_.get(); }  // a blocking packet socket, bound to the interface
  const std::vector<std::byte>& head() const { return head_; }

  // Sets the UDP checksum of a frame that begins with head(): IPv6 requires a checksum (RFC 8200,
  // section 8.1), for IPv4 it is left out (RFC 768).
  void Complete(wire::Bytes frame) const;

 private:
  UniqueFd port_;  // reserves the source port
  UniqueFd socket_;
  std::vector<std::byte> head_;
  wire::IpAddress source_, destination_;
};

}  // namespace viaduct::load
