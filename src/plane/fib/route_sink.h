// The sink of routes: the interface to which changes of a routing table are applied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "plane/fib/route.h"
#include "plane/forward/equipment.h"
#include "sys/network/route_request.h"

namespace viaduct::fib {

struct RefusedRoute {
  Route route;
  std::string reason;
  friend bool operator==(const RefusedRoute&, const RefusedRoute&) = default;
};

// The error that some routes could not be installed or removed; all other changes of the same call
// were applied.
class RouteError : public Error {
 public:
  // Creates the message: it contains the number of routes that were refused, out of `total`, and
  // names the first three.
  RouteError(std::vector<RefusedRoute> refused, size_t total);
  RouteError(const std::string& message, std::vector<RefusedRoute> refused)
      : Error(message), refused_(std::move(refused)) {}
  const std::vector<RefusedRoute>& refused() const { return refused_; }

 private:
  std::vector<RefusedRoute> refused_;
};

// Counters of a sink's work so far.
struct RouteCounters {
  uint64_t added = 0;       // routes that were new
  uint64_t replaced = 0;    // routes whose next hop was replaced
  uint64_t removed = 0;     // routes that were removed
  uint64_t batches = 0;     // calls of Apply()
  uint64_t refused = 0;     // calls of Apply() after which some route was refused
  int64_t nanoseconds = 0;  // wall-clock time spent in Apply()
};

// The next hops to which a node's forwarder sends packets for a destination, according to the
// forwarder's tables.
struct Passage {
  std::vector<sys::RouteHop> hops;  // empty: the destination is unreachable, or the node itself
  // The next hops of packets that the node itself sends, if these packets are routed by another
  // table than the forwarder's; otherwise equal to `hops`.
  std::vector<sys::RouteHop> own_hops;
  bool is_foreign = false;  // a program of the node, not Viaduct or the kernel, made the route
};

// Passes the routes of one node to its forwarder. Each data plane has a separate class
// (plane/fib/data_plane.h); the client that passes routes to another process is also a sink. For
// use by one thread.
class RouteSink {
 public:
  virtual ~RouteSink() = default;

  // Replaces, then adds, then removes routes. Removing an absent route is no error. Throws
  // RouteError if some changes were refused, after applying all others; after any other Error the
  // state of the routes is unknown.
  void Apply(const RouteChanges& changes);

  // Restores the applied routes that no longer exist, because the data plane or an interface of the
  // node was restarted. Returns the number of routes still missing.
  virtual size_t Reinstall() { return 0; }
  // Returns the routes that are kept for Reinstall(): all routes that were accepted and have not
  // been removed. The reference is valid until the next call.
  virtual const RouteTable& Routes() const;
  size_t Size() const { return Routes().size(); }

  // Returns the next hops by which the node's forwarder would now send a packet for this
  // destination, read from the forwarder's tables; empty where the forwarder's tables are not
  // routes. Throws SystemError.
  virtual std::optional<Passage> LookUp(const wire::IpAddress& destination) {
    (void)destination;
    return std::nullopt;
  }

  // Sets the device that takes packets to the simulator. The forwarder sends a packet through this
  // device if the packet's only route leads to the device. Needed only if the forwarder is not the
  // kernel, because the kernel follows the route.
  virtual void SetUpcallDevice(int ifindex) { (void)ifindex; }

  // Returns the counters of the forwarder's packets so far, by interface and outcome ("eth0",
  // "forwarded"); empty where the forwarder counts no packets.
  virtual std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const {
    return {};
  }

  // Returns the number of packets that the forwarder has dropped so far, by cause; empty if the
  // forwarder is the kernel, whose drops sys::IpDrops() counts.
  virtual std::map<std::string, uint64_t> Drops() const { return {}; }

  // Returns the memory that a forwarder in a separate process shares with this sink; empty if there
  // is no such forwarder. Valid as long as this object exists.
  virtual std::optional<forward::SharedWith> Shared() const { return std::nullopt; }

  // Returns the memory of the tables that the simulator writes directly, and of the events that the
  // forwarder reports to the simulator; empty if the simulator passes routes to Apply() instead.
  // Valid as long as this object exists.
  virtual std::optional<forward::ControlMemory> Control() const { return std::nullopt; }

  // Returns a descriptor that is readable when TakeEvents() must be called; -1: never. Valid as
  // long as this object exists.
  virtual int EventFd() const { return -1; }
  virtual void TakeEvents() {}

  const RouteCounters& counters() const { return counters_; }

 private:
  virtual void DoApply(const RouteChanges& changes) = 0;
  void Count(const RouteChanges& changes, const std::vector<RefusedRoute>& refused);

  RouteCounters counters_;
};

}  // namespace viaduct::fib
