#include "plane/fib/route_mirror.h"

#include <vector>

namespace viaduct::fib {
namespace {

// Returns the table `wanted`, but with each refused route as it is in the table `before`.
RouteTable Without(RouteTable wanted, const std::vector<RefusedRoute>& refused,
                   const RouteTable& before) {
  for (const RefusedRoute& each : refused) {
    const RouteKey key = KeyOf(each.route);
    if (const auto old = before.find(key); old != before.end()) {
      wanted[key] = old->second;
    } else {
      wanted.erase(key);
    }
  }
  return wanted;
}

}  // namespace

RouteChanges RouteMirror::ChangesTo(const RouteTable& wanted) const {
  RouteChanges changes = Difference(installed_, wanted);
  for (const auto& [key, route] : uncertain_) {
    const auto now = wanted.find(key);
    const auto known = installed_.find(key);
    if (now == wanted.end()) {
      if (known == installed_.end()) changes.removed.push_back(route);
    } else if (known != installed_.end() && known->second == now->second) {
      changes.replaced.push_back(now->second);
    }
  }
  return changes;
}

RouteUpdate RouteMirror::Update(const RouteTable& wanted) {
  RouteUpdate update{ChangesTo(wanted), "", 0};
  if (update.changes.empty()) return update;
  try {
    sink_->Apply(update.changes);
    installed_ = wanted;
    uncertain_.clear();
  } catch (const RouteError& error) {
    update.refusal = error.what();
    update.refused = error.refused().size();
    installed_ = Without(wanted, error.refused(), installed_);
    uncertain_.clear();
  } catch (const Error& error) {
    update.refusal = error.what();
    update.refused = update.changes.size();
    const RouteChanges& changes = update.changes;
    for (const auto* routes : {&changes.replaced, &changes.added, &changes.removed}) {
      for (const Route& route : *routes) uncertain_[KeyOf(route)] = route;
    }
  }
  return update;
}

}  // namespace viaduct::fib
