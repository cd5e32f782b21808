#include "plane/fib/userspace_routes.h"

#include <linux/rtnetlink.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/units.h"
#include "base/wire/address_scope.h"
#include "plane/forward/counters.h"
#include "plane/forward/router.h"
#include "plane/forward/table_reader.h"
#include "sys/network/sysctl.h"

namespace viaduct::fib {
namespace {

constexpr const char* kFull = "the forwarding table is full";
constexpr int64_t kLocalMetric = -1;  // lowest: the kernel looks up its table of local routes first
constexpr int64_t kAnyMetric = std::numeric_limits<int64_t>::max();
// Returns the kind of the table's entry for a kernel route of this type. Routes to the node's own
// addresses and anycast routes become kLocal: the forwarder leaves such packets to the kernel.
forward::Kind KindOf(uint8_t type) {
  switch (type) {
    case RTN_UNICAST:
      return forward::Kind::kForward;
    case RTN_LOCAL:
    case RTN_ANYCAST:
      return forward::Kind::kLocal;
    case RTN_BROADCAST:
      return forward::Kind::kBroadcast;
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

bool IsForOthers(const sys::DumpedRoute& route) {
  return route.protocol != kRouteProtocol &&
         (route.table == RT_TABLE_MAIN || route.table == RT_TABLE_LOCAL) &&
         !route.destination.address.IsMulticast();
}

bool ConcernsPreferred(const RouteChanges& changes) {
  return std::ranges::any_of(
      std::array{&changes.replaced, &changes.added, &changes.removed}, [](const auto* routes) {
        return std::ranges::find(*routes, Table::kPreferred, &Route::table) != routes->end();
      });
}

// Returns the bits below 32 of a bitmap in the format of proc_do_large_bitmap(), for example
// "0-1,3-127".
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
  } catch (const UsageError&) {  // a kernel without IPv6 sends no ICMPv6 errors
  }
  return limits;
}

}  // namespace

UserspaceRoutes::UserspaceRoutes(const NodePlace& place, size_t table_words)
    : kernel_(place.namespace_fd),
      session_(place.namespace_fd),
      others_(sys::ChangeMonitor::OfRoutesBut(kRouteProtocol, place.namespace_fd)),
      copies_(place.namespace_fd),
      interfaces_(place.ports),
      forwards_ipv4_(place.forwards_ipv4),
      forwards_ipv6_(place.forwards_ipv6),
      table_memory_(
          forward::MakeSharedMemory("viaduct-routes", table_words, forward::Writers::kCreator)),
      counters_(forward::Counters::Make(interfaces_.size())),
      table_(table_memory_.mapping.writable()) {
  for (const int fd : {others_.fd(), copies_.EventFd()}) {
    if (fd >= 0) events_.Add(fd, 0);
  }
  table_.SetLimits(LimitsOf(place.namespace_fd));
  FollowKernel();
  if (!left_out_.empty()) throw Error(kFull);
}

std::optional<forward::SharedWith> UserspaceRoutes::Shared() const {
  if (interfaces_.empty() || !(forwards_ipv4_ || forwards_ipv6_)) return std::nullopt;
  return forward::SharedWith{.program = forward::DescribeKnown("router"),
                             .interfaces = interfaces_,
                             .table = table_memory_.fd.get(),
                             .counters = counters_.fd.get()};
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
    // A next hop through an interface that is down is left out, because the kernel removes its
    // routes.
    if (!interface.is_up || entry.hops.size() == forward::kMaxHops) continue;
    entry.hops.push_back({interface.ifindex, std::nullopt});
    if (!hop.gateway.IsUnspecified()) entry.hops.back().gateway = hop.gateway;
  }
  if (entry.hops.empty()) entry.kind = forward::Kind::kNone;
  return entry;
}

forward::Entry UserspaceRoutes::EntryOfKernel(const sys::DumpedRoute& route) const {
  forward::Entry entry{KindOf(route.type), {}};
  if (entry.kind != forward::Kind::kForward) return entry;
  for (const sys::RouteHop& hop : route.hops) {
    if (entry.hops.size() == forward::kMaxHops) break;
    if (hop.ifindex == upcall_device_) entry.kind = forward::Kind::kUp;
    entry.hops.push_back({static_cast<uint32_t>(hop.ifindex), hop.gateway});
  }
  if (entry.hops.empty()) entry.kind = forward::Kind::kNone;
  return entry;
}

void UserspaceRoutes::ReadKernel() {
  of_kernel_.clear();
  known_.clear();
  for (const sys::DumpedRoute& route : sys::DumpRoutes(session_.socket())) {
    if (!IsForOthers(route)) continue;
    const Candidate candidate{route.table == RT_TABLE_LOCAL ? kLocalMetric : int64_t{route.metric},
                              EntryOfKernel(route)};
    if (candidate.entry.kind == forward::Kind::kNone) continue;
    const auto [found, is_new] = of_kernel_.try_emplace(route.destination, candidate);
    if (!is_new && candidate.metric < found->second.metric) found->second = candidate;
  }
}

void UserspaceRoutes::FindPreferred() {
  preferred_.clear();
  for (const auto& [key, route] : accepted_) {
    if (key.table == Table::kPreferred) preferred_.insert(key.destination);
  }
}

forward::Entry UserspaceRoutes::OwnOf(const wire::IpPrefix& destination, Table table,
                                      int64_t below_metric) {
  forward::Entry best;
  for (auto own = accepted_.lower_bound({destination, 0, Table::kPreferred});
       own != accepted_.end() && own->first.destination == destination; ++own) {
    // All routes to the destination are compared, because the keys are not in the order of the
    // kernel's metrics: the kernel's metric for 0 is not the lowest in IPv6.
    const int64_t metric = KernelMetric(destination, own->first.metric);
    if (own->first.table != table || metric >= below_metric) continue;
    forward::Entry entry = EntryOf(own->second);
    if (entry.kind == forward::Kind::kNone) continue;
    best = std::move(entry);
    below_metric = metric;
  }
  return best;
}

bool UserspaceRoutes::IsHidden(const wire::IpPrefix& destination) {
  const wire::IpAddress& address = destination.address;
  const bool is_ipv6 = address.family == wire::Family::kIpv6;
  if (preferred_.empty() || (is_ipv6 && wire::IsLinkLocal(address))) return false;
  for (int length = 0; length < destination.length; ++length) {
    const wire::IpPrefix larger = wire::IpPrefix{address, length}.Network();
    if (preferred_.contains(larger) &&
        OwnOf(larger, Table::kPreferred, kAnyMetric).kind != forward::Kind::kNone) {
      return true;
    }
  }
  return false;
}

// Returns the entry of the usable route to a destination with the lowest metric. Packets of a
// family that is not forwarded are left to the kernel, which drops them.
forward::Entry UserspaceRoutes::BestOf(const wire::IpPrefix& destination) {
  if (!Forwards(destination.address.family)) {
    return destination.length == 0 ? forward::Entry{forward::Kind::kLocal, {}} : forward::Entry();
  }
  const auto found = of_kernel_.find(destination);
  const Candidate of_kernel = found == of_kernel_.end() ? Candidate{kAnyMetric, {}} : found->second;
  if (of_kernel.metric == kLocalMetric) return of_kernel.entry;
  forward::Entry entry = OwnOf(destination, Table::kPreferred, kAnyMetric);
  if (entry.kind != forward::Kind::kNone || IsHidden(destination)) return entry;
  entry = OwnOf(destination, Table::kMain, of_kernel.metric);
  return entry.kind != forward::Kind::kNone ? entry : of_kernel.entry;
}

bool UserspaceRoutes::Write(const wire::IpPrefix& destination) {
  const forward::Entry entry = BestOf(destination);
  copies_.Write(destination, entry.kind);
  const auto written = written_.find(destination);
  if (entry.kind == forward::Kind::kNone) {
    if (written != written_.end()) {
      table_.Remove(destination);
      written_.erase(written);
    }
  } else if (written == written_.end() || written->second != entry) {
    if (!table_.Set(destination, entry)) {
      left_out_.insert(destination);
      return false;
    }
    written_[destination] = entry;
  }
  left_out_.erase(destination);
  return true;
}

void UserspaceRoutes::WriteAll() {
  std::set<wire::IpPrefix> destinations{{{wire::Family::kIpv4, {}}, 0},
                                        {{wire::Family::kIpv6, {}}, 0}};
  for (const auto& [destination, entry] : written_) destinations.insert(destination);
  for (const auto& [destination, candidate] : of_kernel_) destinations.insert(destination);
  for (const auto& [key, route] : accepted_) destinations.insert(key.destination);
  for (const wire::IpPrefix& destination : left_out_) destinations.insert(destination);
  for (const wire::IpPrefix& destination : destinations) Write(destination);
}

void UserspaceRoutes::Accept(const Route& route, RouteChanges* undo) {
  const auto old = accepted_.find(KeyOf(route));
  const std::optional<Route> before =
      old == accepted_.end() ? std::nullopt : std::optional(old->second);
  accepted_[KeyOf(route)] = route;
  if (Write(route.destination)) return;
  if (before) {
    accepted_[KeyOf(route)] = *before;
    undo->replaced.push_back(*before);
  } else {
    accepted_.erase(KeyOf(route));
    undo->removed.push_back(route);
  }
  // Writes the earlier entry, which removes the destination from left_out_.
  Write(route.destination);
}

void UserspaceRoutes::DoApply(const RouteChanges& changes) {
  std::vector<RefusedRoute> refused = ApplyToKernel(changes);
  std::set<RouteKey> not_done;
  for (const RefusedRoute& each : refused) not_done.insert(KeyOf(each.route));
  known_.clear();
  table_.Begin();
  for (const Route& route : changes.removed) {
    if (not_done.contains(KeyOf(route)) || accepted_.erase(KeyOf(route)) == 0) continue;
    Write(route.destination);
  }
  for (const wire::IpPrefix& destination : std::set(left_out_)) Write(destination);
  RouteChanges undo;
  for (const auto* routes : {&changes.replaced, &changes.added}) {
    for (const Route& route : *routes) {
      const size_t before = undo.size();
      if (!not_done.contains(KeyOf(route))) Accept(route, &undo);
      if (undo.size() > before) refused.push_back({route, kFull});
    }
  }
  if (ConcernsPreferred(changes)) {
    FindPreferred();
    WriteAll();
  }
  table_.Publish();
  ApplyToKernel(undo);
  for (const wire::IpPrefix& destination : left_out_) refused.push_back({{destination, {}}, kFull});
  if (!refused.empty()) throw RouteError(std::move(refused), changes.size());
}

std::vector<RefusedRoute> UserspaceRoutes::ApplyToKernel(const RouteChanges& changes) {
  try {
    if (!changes.empty()) kernel_.Apply(changes);
  } catch (const RouteError& error) {
    return error.refused();
  }
  return {};
}

void UserspaceRoutes::FollowKernel() {
  copies_.Suspend();
  ReadKernel();
  table_.Begin();
  WriteAll();
  table_.Publish();
  // Resumes the discarding of copies only if no change of the kernel's routes is pending: a change
  // that TakeEvents() has not read yet may be a new address.
  if (!others_.HasNews()) ReleaseCopies();
}

void UserspaceRoutes::ReleaseCopies() {
  std::set<int> ports;
  if (Shared()) {
    for (const std::string& name : interfaces_) {
      if (const Interface port = Find(name); port.ifindex != 0) {
        ports.insert(static_cast<int>(port.ifindex));
      }
    }
  }
  copies_.Resume(session_, ports);
}

void UserspaceRoutes::SetUpcallDevice(int ifindex) {
  upcall_device_ = ifindex;
  FollowKernel();
}

size_t UserspaceRoutes::Reinstall() {
  const size_t missing = kernel_.Reinstall();
  FollowKernel();
  return missing + left_out_.size();
}

// Follows the kernel's changes: reads the kernel's routes once for a burst of changes.
void UserspaceRoutes::TakeEvents() {
  const bool may_other_programs_look = copies_.TakeEvents();
  if (others_.Read().any() || may_other_programs_look) FollowKernel();
}

std::map<std::string, std::map<std::string, uint64_t>> UserspaceRoutes::PacketCounters() const {
  const auto shared = Shared();
  if (!shared) return {};
  return forward::DescribeCounters(*shared, counters_.mapping.words());
}

std::map<std::string, uint64_t> UserspaceRoutes::Drops() const {
  using forward::Counters, forward::Router;
  static constexpr std::pair<size_t, const char*> kCauses[] = {
      {Router::kMalformed, "malformed"},  {Router::kUnforwardable, "unforwardable"},
      {Router::kTtlExpired, "ttl"},       {Router::kTooLong, "too_long"},
      {Router::kNoRoute, "no_route"},     {Router::kRefused, "refused"},
      {Counters::kRingFull, "ring_full"}, {Counters::kNotSent, "not_sent"},
  };
  std::map<std::string, uint64_t> drops;
  for (size_t port = 0; port < interfaces_.size(); ++port) {
    const auto counters = Counters::Read(counters_.mapping.words(), port);
    for (const auto& [outcome, cause] : kCauses) {
      if (counters.frames[outcome] > 0) drops[cause] += counters.frames[outcome];
    }
  }
  return drops;
}

std::optional<Passage> UserspaceRoutes::LookUp(const wire::IpAddress& destination) {
  std::optional<Passage> passage = kernel_.LookUp(destination);
  if (!passage || !Shared() || !Forwards(destination.family)) return passage;
  const forward::Found found =
      forward::TableReader(table_memory_.mapping.words()).Lookup(destination);
  const auto is_found = [&](const sys::RouteHop& hop) {
    return hop.ifindex == static_cast<int>(found.hop.ifindex) && hop.gateway == found.hop.gateway;
  };
  const bool forwards = found.kind == forward::Kind::kForward || found.kind == forward::Kind::kUp;
  if (forwards ? std::ranges::any_of(passage->hops, is_found) : passage->hops.empty()) {
    return passage;
  }
  passage->hops.clear();
  if (forwards) passage->hops = {{found.hop.gateway, static_cast<int>(found.hop.ifindex)}};
  return passage;
}

}  // namespace viaduct::fib
