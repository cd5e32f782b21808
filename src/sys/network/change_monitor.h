// Watches everything in a namespace on which the way of packets depends.
#pragma once

#include <cstdint>
#include <span>

#include "base/fd.h"

namespace viaduct::sys {

struct NetworkChanges {
  bool forwarding = false;     // routes, next hops, neighbours
  bool configuration = false;  // links, addresses, rules, forwarding and its filters
  bool any() const { return forwarding || configuration; }
};

class ChangeMonitor {
 public:
  explicit ChangeMonitor(int namespace_fd);
  // Of links, addresses and routes only, without the routes of this protocol (RTPROT_*), which the
  // kernel leaves out by itself: whoever writes many does not hear of them.
  static ChangeMonitor OfRoutesBut(uint8_t protocol, int namespace_fd);

  // Readable when Read() has something.
  int Fd() const { return socket_.get(); }
  // What has changed since; does not block.
  NetworkChanges Read();

 private:
  ChangeMonitor(std::span<const int> groups, int namespace_fd);

  UniqueFd socket_;
};

}  // namespace viaduct::sys
