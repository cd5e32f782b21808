// The data plane that uses the kernel's own forwarding: the routing tables of one namespace.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plane/fib/route_sink.h"
#include "sys/network/link.h"
#include "sys/network/route_request.h"

namespace viaduct::fib {

// The originator of Viaduct's routes in the kernel's table (rtm_protocol). The kernel never sets
// this value, because the value is above RTPROT_STATIC. It is in neither linux/rtnetlink.h nor
// iproute2's rt_protos.
inline constexpr uint8_t kRouteProtocol = 155;
// The kernel's number of the table Table::kPreferred, and the priority of the rule that looks it
// up.
inline constexpr uint32_t kPreferredTable = 155;
inline constexpr uint32_t kPreferredPriority = 155;

// Returns the metric that the kernel gives a route which is requested with this metric.
uint32_t KernelMetric(const wire::IpPrefix& destination, uint32_t metric);

// Keeps the desired table and makes the kernel's table equal to it. Only routes of kRouteProtocol
// are ever replaced or removed. Each sendmsg(2) carries 128 requests, with one acknowledgement for
// all of them.
//
// A route through an interface that is down is kept, and installed when Reinstall() finds the
// interface up. If a route has several next hops, only the next hops whose interfaces are up are
// installed. A route to a destination for which another originator has an on-link route (a
// connected network) counts as installed. Gateways are assumed to be on-link: the simulator's
// protocols reach a neighbour by its address on the interface, whether or not a prefix of that
// interface covers the address, and a host route to the neighbour itself must not make the gateway
// unreachable.
class KernelRoutes final : public RouteSink {
 public:
  explicit KernelRoutes(int namespace_fd);

  // Installs the routes that the kernel dropped when an interface was set down.
  size_t Reinstall() override;
  const RouteTable& Routes() const override { return desired_; }
  std::optional<Passage> LookUp(const wire::IpAddress& destination) override;

 private:
  // The state of an interface; ifindex 0: there is no interface of this name.
  struct Interface {
    int ifindex = 0;
    bool is_up = false;
  };
  struct Request;
  struct Outcome;
  using Refused = std::vector<RefusedRoute>;

  void DoApply(const RouteChanges& changes) override;
  // Adds the rules for lookups in the preferred table, if a route of that table is among `routes`
  // for the first time. Link-local IPv6 addresses are never looked up there, because a default
  // route would send their packets to another link.
  void AddRules(const std::vector<Route>& routes);
  // Looks up an interface's state in the kernel, once per call of a public function.
  const Interface& Find(const std::string& interface);
  // Returns the next hops to install; empty if an interface does not exist.
  std::vector<sys::RouteHop> HopsOf(const Route& route);
  std::vector<Outcome> Exchange(const std::vector<Request>& requests);
  void SendBatch(const Request* requests, size_t count, Outcome* outcomes);
  void ReceiveAnswers(uint32_t first, size_t count, Outcome* outcomes);
  std::vector<Request> RequestsToSet(const std::vector<Route>& routes, Refused* refused);
  void SetRoutes(const std::vector<Route>& routes, Refused* refused);
  void RemoveRoutes(const RouteChanges& changes, Refused* refused);
  Refused DeleteAll(const std::vector<Route>& routes);

  sys::Netlink session_;
  std::map<std::string, Interface> interfaces_;
  RouteTable desired_;
  uint32_t sequence_ = 0;
  std::set<wire::Family> with_rules_;
};

}  // namespace viaduct::fib
