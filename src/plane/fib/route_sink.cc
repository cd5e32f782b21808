#include "plane/fib/route_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/clock.h"

namespace viaduct::fib {
namespace {

std::string Summary(const std::vector<RefusedRoute>& refused, size_t total) {
  std::string text = fmt::format("{} of {} routes refused: ", refused.size(), total);
  const size_t shown = std::min<size_t>(refused.size(), 3);
  for (size_t i = 0; i < shown; ++i) {
    text +=
        fmt::format("{}{}: {}", i == 0 ? "" : "; ", ToString(refused[i].route), refused[i].reason);
  }
  if (refused.size() > shown) text += fmt::format("; and {} more", refused.size() - shown);
  return text;
}

}  // namespace

const RouteTable& RouteSink::Routes() const {
  static const RouteTable kNone;
  return kNone;
}

RouteError::RouteError(std::vector<RefusedRoute> refused, size_t total)
    : Error(Summary(refused, total)), refused_(std::move(refused)) {}

void RouteSink::Count(const RouteChanges& changes, const std::vector<RefusedRoute>& refused) {
  std::set<RouteKey> not_taken;
  for (const RefusedRoute& each : refused) not_taken.insert(KeyOf(each.route));
  const auto taken = [&](const std::vector<Route>& routes) {
    return std::ranges::count_if(
        routes, [&](const Route& route) { return !not_taken.contains(KeyOf(route)); });
  };
  counters_.added += static_cast<uint64_t>(taken(changes.added));
  counters_.replaced += static_cast<uint64_t>(taken(changes.replaced));
  counters_.removed += static_cast<uint64_t>(taken(changes.removed));
}

void RouteSink::Apply(const RouteChanges& changes) {
  ++counters_.batches;
  const Instant start = MonotonicClock::Now();
  const auto stop = [&] { counters_.nanoseconds += (MonotonicClock::Now() - start).nanoseconds(); };
  try {
    DoApply(changes);
    stop();
    Count(changes, {});
  } catch (const RouteError& error) {
    stop();
    ++counters_.refused;
    Count(changes, error.refused());
    throw;
  } catch (const Error&) {
    stop();
    ++counters_.refused;
    throw;
  }
}

}  // namespace viaduct::fib
