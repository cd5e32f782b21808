// The mirror of a route table in the kernel's main table of one namespace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "fib/route.h"
#include "sys/link.h"

namespace viaduct::fib {

// Who made a route, in the kernel's table (rtm_protocol). Neither in linux/rtnetlink.h nor in
// iproute2's rt_protos, and above RTPROT_STATIC, so the kernel leaves it to us.
inline constexpr uint8_t kRouteProtocol = 155;

// Some routes could not be installed or removed; all others of the same call were.
class RouteError : public Error {
 public:
  struct Failure {
    Route route;
    std::string reason;
  };
  RouteError(std::vector<Failure> failures, size_t total);
  const std::vector<Failure>& failures() const { return failures_; }

 private:
  std::vector<Failure> failures_;
};

// What to ask of the kernel for one route.
enum class RouteAction {
  kCreate,   // NLM_F_CREATE | NLM_F_EXCL: never in place of a route that is there
  kReplace,  // NLM_F_CREATE | NLM_F_REPLACE: atomic
  kDelete,   // only where rtm_protocol is ours
};

// One rtnetlink request (rtnetlink(7)). A route with a gateway is RTNH_F_ONLINK: the simulator's
// protocols reach a neighbour by its address on the interface, whether or not a prefix of that
// interface covers it, and a host route to the neighbour itself must not hide it.
sys::NetlinkMessage RouteRequest(RouteAction action, const Route& route, int ifindex);

// Holds the desired table and keeps the kernel's equal to it. Only routes of kRouteProtocol are
// ever replaced or removed. Requests go 128 in a sendmsg(2), with one acknowledgement for all. One
// thread.
class KernelRoutes {
 public:
  explicit KernelRoutes(int namespace_fd);

  // Replaces, adds, then removes. Removing what is not there is no error. A route through an
  // interface that is down is kept and installed when Reinstall() finds it up. A destination that
  // already has an on-link route of somebody else's (a connected network) is as good as installed.
  // Throws RouteError after doing all that can be done.
  void Apply(const RouteChanges& changes);

  // Puts back the routes that the kernel has dropped since (it does when an interface goes down).
  // Returns how many of the desired routes are still not there.
  size_t Reinstall();

  // Removes every route of kRouteProtocol, known or not, and forgets the desired table.
  void Flush();

  const RouteTable& desired() const { return desired_; }

 private:
  struct Request;
  struct Outcome;

  // 0 where there is no such interface. Looked up once a call of the public functions.
  int IfIndex(const std::string& interface);
  std::vector<Outcome> Exchange(const std::vector<Request>& requests);
  void SendBatch(const Request* requests, size_t count, Outcome* outcomes);
  void ReceiveAnswers(uint32_t first, size_t count, Outcome* outcomes);
  void SetRoutes(const std::vector<Route>& routes, std::vector<RouteError::Failure>* failures);
  void RemoveRoutes(const RouteChanges& changes, std::vector<RouteError::Failure>* failures);
  void DeleteAll(const std::vector<Route>& routes, std::vector<RouteError::Failure>* failures);

  sys::Netlink session_;         // looks interfaces up
  sys::NetlinkSocket requests_;  // capped, explained answers
  std::map<std::string, int> ifindexes_;
  RouteTable desired_;
  uint32_t sequence_ = 0;
};

}  // namespace viaduct::fib
