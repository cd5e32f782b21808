#include "fib/userspace_routes.h"

#include <linux/rtnetlink.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/units.h"
#include "sys/network/route_dump.h"
#include "sys/network/sysctl.h"

namespace viaduct::fib {
namespace {

// Room for several hundred thousand routes. Only what is written takes memory.
constexpr size_t kTableWords = (size_t{128} << 20) / sizeof(forward::Word);
constexpr uint32_t kDefaultIpv6Metric = 1024;  // IP6_RT_PRIO_USER of linux/ipv6_route.h

// What the kernel makes of the metric.
int64_t MetricOf(const wire::IpPrefix& destination, uint32_t metric) {
  const bool is_ipv6 = destination.address.family == wire::Family::kIpv6;
  return metric == 0 && is_ipv6 ? kDefaultIpv6Metric : metric;
}

// Of an own route only its presence counts: the forwarder leaves its packets to the kernel.
forward::Kind KindOf(uint8_t type) {
  switch (type) {
    case RTN_UNICAST:
      return forward::Kind::kForward;
    case RTN_LOCAL:
    case RTN_BROADCAST:
    case RTN_ANYCAST:
      return forward::Kind::kLocal;
    case RTN_UNREACHABLE:
      return forward::Kind::kUnreachable;
    case RTN_PROHIBIT:
      return forward::Kind::kProhibited;
    case RTN_BLACKHOLE:
      return forward::Kind::kBlackhole;
    default:
      return forward::Kind::kNone;
  }
}

forward::Entry EntryOfKernel(const sys::DumpedRoute& route) {
  forward::Entry entry{KindOf(route.type), {}};
  if (entry.kind != forward::Kind::kForward) return entry;
  for (const sys::RouteHop& hop : route.hops) {
    if (entry.hops.size() == forward::kMaxHops) break;
    entry.hops.push_back({static_cast<uint32_t>(hop.ifindex), hop.gateway});
  }
  if (entry.hops.empty()) entry.kind = forward::Kind::kNone;
  return entry;
}

bool IsForOthers(const sys::DumpedRoute& route) {
  return route.protocol != kRouteProtocol &&
         (route.table == RT_TABLE_MAIN || route.table == RT_TABLE_LOCAL) &&
         !route.destination.address.IsMulticast();
}

// "0-1,3-127": the bits of those below 32 (a bitmap as proc_do_large_bitmap() prints it).
uint32_t BitsOf(const std::string& list) {
  uint32_t bits = 0;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string range = list.substr(at, end - at);
    const size_t dash = range.find('-');
    const int64_t first = ParseInteger(range.substr(0, dash), 0, 255);
    const int64_t last =
        dash == std::string::npos ? first : ParseInteger(range.substr(dash + 1), 0, 255);
    for (int64_t bit = first; bit <= std::min<int64_t>(last, 31); ++bit) bits |= 1U << bit;
    at = end + 1;
  }
  return bits;
}

uint32_t NumberOf(int namespace_fd, const std::string& name) {
  return static_cast<uint32_t>(
      ParseInteger(sys::ReadSysctl(namespace_fd, name), 0, std::numeric_limits<uint32_t>::max()));
}

forward::IcmpLimits LimitsOf(int namespace_fd) {
  forward::IcmpLimits limits;
  limits.ipv4_interval_ms = NumberOf(namespace_fd, "net.ipv4.icmp_ratelimit");
  limits.ipv4_types = NumberOf(namespace_fd, "net.ipv4.icmp_ratemask");
  try {
    limits.ipv6_interval_ms = NumberOf(namespace_fd, "net.ipv6.icmp.ratelimit");
    limits.ipv6_types = BitsOf(sys::ReadSysctl(namespace_fd, "net.ipv6.icmp.ratemask"));
  } catch (const UsageError&) {  // a kernel without IPv6 sends none of its errors
  }
  return limits;
}

}  // namespace

UserspaceRoutes::UserspaceRoutes(const NodePlace& place)
    : kernel_(place.namespace_fd),
      session_(place.namespace_fd),
      interfaces_(place.ports),
      forwards_ipv4_(place.forwards_ipv4),
      forwards_ipv6_(place.forwards_ipv6),
      table_memory_(
          forward::MakeSharedMemory("viaduct-routes", kTableWords, forward::Writers::kCreator)),
      counters_(forward::MakeSharedMemory(
          "viaduct-counters", forward::Counters::WordsFor(std::max<size_t>(interfaces_.size(), 1)),
          forward::Writers::kAll)),
      table_(table_memory_.mapping.writable()) {
  table_.SetLimits(LimitsOf(place.namespace_fd));
  ReadKernel();
  WriteAll();
}

std::optional<forward::SharedWith> UserspaceRoutes::Shared() const {
  if (interfaces_.empty() || !(forwards_ipv4_ || forwards_ipv6_)) return std::nullopt;
  return forward::SharedWith{forward::FindProgram("router"), interfaces_, table_memory_.fd.get(),
                             counters_.fd.get()};
}

UserspaceRoutes::Interface UserspaceRoutes::Find(const std::string& name) {
  const auto [found, is_new] = known_.try_emplace(name);
  if (is_new) {
    if (const auto link = session_.FindLink(name)) {
      found->second = {static_cast<uint32_t>(link->ifindex), link->up};
    }
  }
  return found->second;
}

forward::Entry UserspaceRoutes::EntryOf(const Route& route) {
  forward::Entry entry{forward::Kind::kForward, {}};
  for (const NextHop& hop : route.next_hops) {
    const Interface interface = Find(hop.interface);
    // The kernel removes routes through an interface that is down.
    if (!interface.is_up || entry.hops.size() == forward::kMaxHops) continue;
    entry.hops.push_back({interface.ifindex, std::nullopt});
    if (!hop.gateway.IsUnspecified()) entry.hops.back().gateway = hop.gateway;
  }
  if (entry.hops.empty()) entry.kind = forward::Kind::kNone;
  return entry;
}

void UserspaceRoutes::ReadKernel() {
  of_kernel_.clear();
  known_.clear();
  for (const sys::DumpedRoute& route : sys::DumpRoutes(session_.socket())) {
    if (!IsForOthers(route)) continue;
    // The kernel asks its table of local routes first.
    const Candidate candidate{route.table == RT_TABLE_LOCAL ? -1 : int64_t{route.metric},
                              EntryOfKernel(route)};
    if (candidate.entry.kind == forward::Kind::kNone) continue;
    const auto [found, is_new] = of_kernel_.try_emplace(route.destination, candidate);
    if (!is_new && candidate.metric < found->second.metric) found->second = candidate;
  }
}

// Of several routes to a destination the one of the lowest metric that leads somewhere. Packets of
// a family that is not forwarded are left to the kernel, which drops them.
forward::Entry UserspaceRoutes::BestOf(const wire::IpPrefix& destination) {
  if (!Forwards(destination.address.family)) {
    return destination.length == 0 ? forward::Entry{forward::Kind::kLocal, {}} : forward::Entry();
  }
  const auto of_kernel = of_kernel_.find(destination);
  for (auto own = accepted_.lower_bound({destination, 0});
       own != accepted_.end() && own->first.destination == destination; ++own) {
    if (of_kernel != of_kernel_.end() &&
        of_kernel->second.metric <= MetricOf(destination, own->first.metric)) {
      break;
    }
    forward::Entry entry = EntryOf(own->second);
    if (entry.kind != forward::Kind::kNone) return entry;
  }
  return of_kernel == of_kernel_.end() ? forward::Entry() : of_kernel->second.entry;
}

bool UserspaceRoutes::Write(const wire::IpPrefix& destination) {
  const forward::Entry entry = BestOf(destination);
  const auto written = written_.find(destination);
  if (entry.kind == forward::Kind::kNone) {
    if (written == written_.end()) return true;
    table_.Remove(destination);
    written_.erase(written);
    return true;
  }
  if (written != written_.end() && written->second == entry) return true;
  if (!table_.Set(destination, entry)) return false;
  written_[destination] = entry;
  return true;
}

void UserspaceRoutes::WriteAll() {
  std::set<wire::IpPrefix> destinations{{{wire::Family::kIpv4, {}}, 0},
                                        {{wire::Family::kIpv6, {}}, 0}};
  for (const auto& [destination, entry] : written_) destinations.insert(destination);
  for (const auto& [destination, candidate] : of_kernel_) destinations.insert(destination);
  for (const auto& [key, route] : accepted_) destinations.insert(key.destination);
  table_.Begin();
  for (const wire::IpPrefix& destination : destinations) Write(destination);
  table_.Publish();
}

void UserspaceRoutes::DoApply(const RouteChanges& changes) {
  std::vector<RefusedRoute> refused;
  try {
    kernel_.Apply(changes);
  } catch (const RouteError& error) {
    refused = error.refused();
  }
  std::set<RouteKey> not_done;
  for (const RefusedRoute& each : refused) not_done.insert(KeyOf(each.route));
  known_.clear();
  table_.Begin();
  for (const auto* routes : {&changes.replaced, &changes.added}) {
    for (const Route& route : *routes) {
      if (not_done.contains(KeyOf(route))) continue;
      accepted_[KeyOf(route)] = route;
      if (!Write(route.destination)) refused.push_back({route, "the forwarding table is full"});
    }
  }
  for (const Route& route : changes.removed) {
    if (not_done.contains(KeyOf(route)) || accepted_.erase(KeyOf(route)) == 0) continue;
    Write(route.destination);
  }
  table_.Publish();
  if (!refused.empty()) throw RouteError(std::move(refused), changes.size());
}

size_t UserspaceRoutes::Reinstall() {
  const size_t missing = kernel_.Reinstall();
  ReadKernel();
  WriteAll();
  return missing;
}

std::map<std::string, std::map<std::string, uint64_t>> UserspaceRoutes::PacketCounters() const {
  std::map<std::string, std::map<std::string, uint64_t>> all;
  const auto shared = Shared();
  if (!shared) return all;
  for (size_t port = 0; port < interfaces_.size(); ++port) {
    const auto counters = forward::Counters::Read(counters_.mapping.words(), port);
    auto& named = all[interfaces_[port]];
    const auto outcomes = shared->program->outcomes;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      named[std::string(outcomes[i])] = counters.frames[i];
    }
    named["ring-full"] = counters.frames[forward::Counters::kRingFull];
    named["not-sent"] = counters.frames[forward::Counters::kNotSent];
    named["forwarded-bytes"] = counters.bytes;
  }
  return all;
}

}  // namespace viaduct::fib
