// Watches all configuration of a namespace that determines where packets go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/fd.h"

namespace viaduct::sys {

struct NetworkChanges {
  bool forwarding = false;  // routes, next hops or neighbours have changed
  // Whether links, addresses, rules, the forwarding setting or packet filters have changed.
  bool configuration = false;
  bool any() const { return forwarding || configuration; }
};

class ChangeMonitor {
 public:
  explicit ChangeMonitor(int namespace_fd);
  // Watches only links, addresses, routes, the rules for routes, and queueing disciplines. Leaves
  // out the routes of this protocol (RTPROT_*), which the kernel filters out: a process that writes
  // many such routes is not notified of them.
  static ChangeMonitor OfRoutesBut(uint8_t protocol, int namespace_fd);
  // Watches only nftables; returns nothing if the kernel has no nftables.
  static std::optional<ChangeMonitor> OfPacketRules(int namespace_fd);

  // Returns a descriptor that is readable if Read() has changes.
  int fd() const { return socket_.get(); }
  // Whether Read() has changes.
  bool HasNews() const;
  // Returns the changes since the last call; does not block.
  NetworkChanges Read();

 private:
  explicit ChangeMonitor(UniqueFd socket) : socket_(std::move(socket)) {}
  ChangeMonitor(std::span<const int> groups, int namespace_fd);
  void Subscribe(std::span<const int> groups);

  UniqueFd socket_;
};

}  // namespace viaduct::sys
