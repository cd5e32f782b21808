// Watches everything in a namespace on which the way of packets depends.
#pragma once

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
  // Readable when Read() has something.
  int Fd() const { return socket_.get(); }
  // What has changed since; does not block.
  NetworkChanges Read();

 private:
  UniqueFd socket_;
};

}  // namespace viaduct::sys
