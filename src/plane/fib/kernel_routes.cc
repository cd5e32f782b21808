#include "plane/fib/kernel_routes.h"

#include <fmt/format.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/socket.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <set>

#include "base/socket_option.h"
#include "sys/network/route_dump.h"
#include "sys/network/route_rule.h"

namespace viaduct::fib {
namespace {

// The number of requests in a sendmsg(2). A batch of 1,024 requests is not faster than one of 128
// (0.5 M routes/s either way), and the answers to 128 requests that all fail fit the receive
// buffer.
constexpr size_t kBatch = 128;
constexpr int kReceiveBuffer = 1 << 20;

bool IsOnLink(const Route& route) {
  return std::ranges::all_of(route.next_hops,
                             [](const NextHop& hop) { return hop.gateway.IsUnspecified(); });
}

bool MixesFamilies(const Route& route) {
  return std::ranges::any_of(route.next_hops, [&](const NextHop& hop) {
    return !hop.gateway.IsUnspecified() && hop.gateway.family != route.destination.address.family;
  });
}

}  // namespace

// A metric is explicit in requests even if it is the default: a removal without a metric removes
// any route to the destination.
uint32_t KernelMetric(const wire::IpPrefix& destination, uint32_t metric) {
  const bool is_ipv6 = destination.address.family == wire::Family::kIpv6;
  constexpr uint32_t kDefaultIpv6Metric = 1024;  // IP6_RT_PRIO_USER of linux/ipv6_route.h
  return metric == 0 && is_ipv6 ? kDefaultIpv6Metric : metric;
}

struct KernelRoutes::Request {
  sys::RouteAction action;
  const Route* route;
  std::vector<sys::RouteHop> hops;
  sys::RouteEntry Entry() const {
    return {.destination = route->destination,
            .hops = hops,
            .metric = KernelMetric(route->destination, route->metric),
            .table = route->table == Table::kPreferred ? kPreferredTable : 0,
            .protocol = kRouteProtocol};
  }
};

struct KernelRoutes::Outcome {
  int error = 0;  // errno of the request; 0: success
  std::string text;
  std::string Reason() const {
    if (error == EEXIST)
      return "the network namespace already has a route to this destination that Viaduct did not "
             "install";
    return text.empty() ? std::strerror(error) : fmt::format("{} ({})", std::strerror(error), text);
  }
};

KernelRoutes::KernelRoutes(int namespace_fd) : session_(namespace_fd) {
  SetSocketOption(nl_socket_get_fd(session_.socket().get()), SOL_SOCKET, SO_RCVBUFFORCE,
                  kReceiveBuffer, "SO_RCVBUFFORCE");
}

const KernelRoutes::Interface& KernelRoutes::Find(const std::string& interface) {
  const auto found = interfaces_.find(interface);
  if (found != interfaces_.end()) return found->second;
  const auto link = session_.FindLink(interface);
  return interfaces_[interface] = link ? Interface{link->ifindex, link->up} : Interface{};
}

std::vector<sys::RouteHop> KernelRoutes::HopsOf(const Route& route) {
  const bool is_any_up = std::ranges::any_of(
      route.next_hops, [&](const NextHop& hop) { return Find(hop.interface).is_up; });
  std::vector<sys::RouteHop> hops;
  for (const NextHop& hop : route.next_hops) {
    const Interface& interface = Find(hop.interface);
    if (interface.ifindex == 0) return {};
    // An interface that is down is left out, because the kernel would refuse the route (ENETDOWN),
    // even if the interfaces of other next hops are up.
    if (is_any_up && !interface.is_up) continue;
    hops.push_back({.ifindex = interface.ifindex});
    if (!hop.gateway.IsUnspecified()) hops.back().gateway = hop.gateway;
  }
  return hops;
}

std::vector<KernelRoutes::Outcome> KernelRoutes::Exchange(const std::vector<Request>& requests) {
  std::vector<Outcome> outcomes(requests.size());
  for (size_t first = 0; first < requests.size(); first += kBatch) {
    const size_t count = std::min(kBatch, requests.size() - first);
    SendBatch(&requests[first], count, &outcomes[first]);
  }
  return outcomes;
}

void KernelRoutes::SendBatch(const Request* requests, size_t count, Outcome* outcomes) {
  std::vector<char> buffer;
  buffer.reserve(count * 96);
  const uint32_t first = sequence_ + 1;
  for (size_t i = 0; i < count; ++i) {
    const Request& request = requests[i];
    auto message = sys::RouteRequest(request.action, request.Entry());
    nlmsghdr* header = nlmsg_hdr(message.get());
    header->nlmsg_seq = ++sequence_;
    header->nlmsg_pid = 0;
    // Only the last request asks for an acknowledgement: the kernel answers every request that
    // fails, and the last acknowledgement shows that all requests were processed.
    if (i + 1 == count) header->nlmsg_flags |= NLM_F_ACK;
    const auto* bytes = reinterpret_cast<const char*>(header);
    buffer.insert(buffer.end(), bytes, bytes + header->nlmsg_len);
    buffer.resize(NLMSG_ALIGN(buffer.size()));
  }
  const int fd = nl_socket_get_fd(session_.socket().get());
  SystemCall("send routes to the kernel", send(fd, buffer.data(), buffer.size(), 0));
  ReceiveAnswers(first, count, outcomes);
}

void KernelRoutes::ReceiveAnswers(uint32_t first, size_t count, Outcome* outcomes) {
  const int fd = nl_socket_get_fd(session_.socket().get());
  alignas(nlmsghdr) std::array<char, 16384> buffer;
  while (true) {
    const ssize_t received = recv(fd, buffer.data(), buffer.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    SystemCall("receive the kernel's responses to route requests", received);
    auto left = static_cast<unsigned int>(received);
    for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(message, left);
         message = NLMSG_NEXT(message, left)) {
      const uint32_t index = message->nlmsg_seq - first;
      if (message->nlmsg_type != NLMSG_ERROR || index >= count) continue;
      const auto* error = static_cast<const nlmsgerr*>(NLMSG_DATA(message));
      outcomes[index].error = -error->error;
      if (error->error != 0) outcomes[index].text = sys::ExplanationOf(error);
      if (index + 1 == count) return;
    }
  }
}

void KernelRoutes::AddRules(const std::vector<Route>& routes) {
  for (const Route& route : routes) {
    const wire::Family family = route.destination.address.family;
    if (route.table != Table::kPreferred || !with_rules_.insert(family).second) continue;
    const wire::IpPrefix all{{family, {}}, 0};
    std::vector<sys::RouteRule> rules{{all, all, kPreferredTable, kPreferredPriority}};
    if (family == wire::Family::kIpv6) {
      rules.push_back(
          {all, wire::IpPrefix::Parse("fe80::/10"), RT_TABLE_MAIN, kPreferredPriority - 1});
    }
    for (const sys::RouteRule& rule : rules) {
      sys::NetlinkMessage request = sys::RuleRequest(rule);
      const int error = session_.socket().TryRequest(request);
      if (error != 0 && error != EEXIST) throw SystemError("add a routing rule", error);
    }
  }
}

void KernelRoutes::DoApply(const RouteChanges& changes) {
  interfaces_.clear();
  AddRules(changes.replaced);
  AddRules(changes.added);
  Refused refused;
  SetRoutes(changes.replaced, &refused);
  SetRoutes(changes.added, &refused);
  RemoveRoutes(changes, &refused);
  if (!refused.empty()) throw RouteError(std::move(refused), changes.size());
}

std::vector<KernelRoutes::Request> KernelRoutes::RequestsToSet(const std::vector<Route>& routes,
                                                               Refused* refused) {
  std::vector<Request> requests;
  requests.reserve(routes.size());
  for (const Route& route : routes) {
    std::vector<sys::RouteHop> hops = HopsOf(route);
    if (hops.empty()) {
      refused->push_back({route, "the interface does not exist"});
    } else if (MixesFamilies(route)) {
      refused->push_back(
          {route, "the gateway and the destination have different address families"});
    } else {
      const bool is_known = desired_.contains(KeyOf(route));
      requests.push_back({is_known ? sys::RouteAction::kReplace : sys::RouteAction::kCreate, &route,
                          std::move(hops)});
    }
  }
  return requests;
}

void KernelRoutes::SetRoutes(const std::vector<Route>& routes, Refused* refused) {
  const std::vector<Request> requests = RequestsToSet(routes, refused);
  const std::vector<Outcome> outcomes = Exchange(requests);
  std::vector<Route> stale;  // old routes, still in the kernel, whose new interface is down
  for (size_t i = 0; i < requests.size(); ++i) {
    const Route& route = *requests[i].route;
    const int error = outcomes[i].error;
    if (error == ENETDOWN) {
      if (const auto old = desired_.find(KeyOf(route)); old != desired_.end()) {
        stale.push_back(old->second);
      }
    }
    if (error == 0 || error == ENETDOWN) {
      desired_[KeyOf(route)] = route;
    } else if (error != EEXIST || !IsOnLink(route)) {
      refused->push_back({route, outcomes[i].Reason()});
    }
  }
  std::ranges::move(DeleteAll(stale), std::back_inserter(*refused));
}

void KernelRoutes::RemoveRoutes(const RouteChanges& changes, Refused* refused) {
  if (changes.removed.empty()) return;
  std::set<RouteKey> just_set;
  for (const auto* routes : {&changes.replaced, &changes.added}) {
    for (const Route& route : *routes) just_set.insert(KeyOf(route));
  }
  std::vector<Route> routes;
  for (const Route& route : changes.removed) {
    const auto found = desired_.find(KeyOf(route));
    if (found == desired_.end() || just_set.contains(found->first)) continue;
    routes.push_back(std::move(found->second));
    desired_.erase(found);
  }
  for (RefusedRoute& each : DeleteAll(routes)) {
    desired_[KeyOf(each.route)] = each.route;  // the kernel still has the route
    refused->push_back(std::move(each));
  }
}

KernelRoutes::Refused KernelRoutes::DeleteAll(const std::vector<Route>& routes) {
  std::vector<Request> requests;
  for (const Route& route : routes) {
    std::vector<sys::RouteHop> hops = HopsOf(route);
    if (hops.empty()) continue;
    // A route with several next hops is deleted by a request without next hops: the kernel has only
    // the next hops whose interfaces were up when the route was installed.
    if (route.next_hops.size() > 1) hops.clear();
    requests.push_back({sys::RouteAction::kDelete, &route, std::move(hops)});
  }
  const std::vector<Outcome> outcomes = Exchange(requests);
  Refused refused;
  for (size_t i = 0; i < requests.size(); ++i) {
    const int error = outcomes[i].error;  // ESRCH: the kernel dropped the route with its interface
    if (error != 0 && error != ESRCH && error != ENODEV) {
      refused.push_back({*requests[i].route, outcomes[i].Reason()});
    }
  }
  return refused;
}

size_t KernelRoutes::Reinstall() {
  interfaces_.clear();
  std::vector<Request> requests;
  for (const auto& [key, route] : desired_) {
    std::vector<sys::RouteHop> hops = HopsOf(route);
    if (hops.empty()) continue;
    // A multipath route may be installed already, with some of its next hops, so it is replaced.
    const auto action =
        route.next_hops.size() > 1 ? sys::RouteAction::kReplace : sys::RouteAction::kCreate;
    requests.push_back({action, &route, std::move(hops)});
  }
  const std::vector<Outcome> outcomes = Exchange(requests);
  const auto present = std::ranges::count_if(outcomes, [](const Outcome& outcome) {
    return outcome.error == 0 || outcome.error == EEXIST;
  });
  return desired_.size() - static_cast<size_t>(present);
}

std::optional<Passage> KernelRoutes::LookUp(const wire::IpAddress& destination) {
  const auto route = sys::LookUpRoute(session_.socket(), destination);
  if (!route || route->type != RTN_UNICAST) return Passage{};
  return Passage{route->hops, route->hops,
                 route->protocol != kRouteProtocol && route->protocol != RTPROT_KERNEL &&
                     route->protocol != RTPROT_BOOT};
}

}  // namespace viaduct::fib
