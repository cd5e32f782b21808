// A sender of packets that a forwarder passes up to the simulator.
#pragma once

#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/wire/bytes.h"

namespace viaduct::forward {

// Sends packets through the TUN device in the node's namespace, where an eBPF program writes their
// origin before them (plane/bpf/upcall_program.h). Never blocks.
class UpcallSender {
 public:
  // Opens a packet socket for the packets that arrive on this interface, in the node's namespace.
  // Needs CAP_NET_RAW and CAP_NET_ADMIN. Throws SystemError.
  static UniqueFd OpenSocket(int ifindex);

  // `sockets`: the sockets from OpenSocket(), one per port.
  explicit UpcallSender(std::vector<UniqueFd> sockets) : sockets_(std::move(sockets)) {}

  // Sends a packet that arrived on `port`, through the TUN device `ifindex`. Returns false if the
  // packet is lost and the device does not count it.
  bool Send(size_t port, wire::ConstBytes packet, uint32_t ifindex);

 private:
  std::vector<UniqueFd> sockets_;
};

}  // namespace viaduct::forward
