// The interface to which changes of a routing table are applied.
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

// Some routes could not be installed or removed; all others of the same call were.
class RouteError : public Error {
 public:
  // The message says how many of `total` were refused and names the first three.
  RouteError(std::vector<RefusedRoute> refused, size_t total);
  RouteError(const std::string& message, std::vector<RefusedRoute> refused)
      : Error(message), refused_(std::move(refused)) {}
  const std::vector<RefusedRoute>& refused() const { return refused_; }

 private:
  std::vector<RefusedRoute> refused_;
};

// What a sink has done so far.
struct RouteCounters {
  uint64_t added = 0;       // routes that were new
  uint64_t replaced = 0;    // routes that got another next hop
  uint64_t removed = 0;     // routes that were removed
  uint64_t batches = 0;     // calls of Apply()
  uint64_t refused = 0;     // calls after which some route was refused
  int64_t nanoseconds = 0;  // wall-clock time spent in them
};

// How packets for a destination leave a node, by the tables of its forwarder.
struct Passage {
  std::vector<sys::RouteHop> hops;  // empty: not at all, or it is the node itself
  // Those of the packets that the node itself sends, where another table than its forwarder's has
  // them; otherwise the same.
  std::vector<sys::RouteHop> own_hops;
  bool is_foreign = false;  // by a route that some program of the node has made
};

// Passes the routes of one node to its forwarder. Each data plane has a class of its own
// (plane/fib/data_plane.h); the client that passes routes to another process is a sink too. For use
// by one thread.
class RouteSink {
 public:
  virtual ~RouteSink() = default;

  // Replaces, adds, then removes. Removing an absent route is no error. Throws RouteError after
  // doing all that can be done; after any other Error the state of the routes is unknown.
  void Apply(const RouteChanges& changes);

  // Restores the routes that were applied and are no longer there, because the data plane or an
  // interface of the node was restarted. Returns how many are still missing.
  virtual size_t Reinstall() { return 0; }
  // The routes that are kept for Reinstall(): those that were accepted and not removed. Valid until
  // the next call.
  virtual const RouteTable& Routes() const;
  size_t Size() const { return Routes().size(); }

  // What its forwarder would do with a packet for this destination now, read from its own tables;
  // nothing where these are not routes. Throws SystemError.
  virtual std::optional<Passage> LookUp(const wire::IpAddress& destination) {
    (void)destination;
    return std::nullopt;
  }

  // Packets whose only route leads to this device, which takes them to the simulator, go up there
  // from its forwarder too. Of use where that is not the kernel, which does so by the route.
  virtual void SetUpcallDevice(int ifindex) { (void)ifindex; }

  // What its forwarder did with packets so far, by interface and by name, where it counts them
  // ("eth0", "forwarded").
  virtual std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const {
    return {};
  }

  // The packets that its forwarder dropped so far, by cause, if it is another than the kernel,
  // whose sys::IpDrops() counts its own.
  virtual std::map<std::string, uint64_t> Drops() const { return {}; }

  // What a forwarder in a process of its own needs of it; empty: the routes are no such
  // forwarder's. Valid as long as this lives.
  virtual std::optional<forward::SharedWith> Shared() const { return std::nullopt; }

  // The tables that the simulator keeps itself, and what its forwarder tells it; empty: it passes
  // routes to Apply(). Valid as long as this lives.
  virtual std::optional<forward::ControlMemory> Control() const { return std::nullopt; }

  // A descriptor that is readable when TakeEvents() shall be called; -1: never. Valid as long as
  // this lives.
  virtual int EventFd() const { return -1; }
  virtual void TakeEvents() {}

  const RouteCounters& counters() const { return counters_; }

 private:
  virtual void DoApply(const RouteChanges& changes) = 0;
  void Count(const RouteChanges& changes, const std::vector<RefusedRoute>& refused);

  RouteCounters counters_;
};

}  // namespace viaduct::fib
