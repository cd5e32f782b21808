#include "fib/route_mirror.h"

#include <vector>

namespace viaduct::fib {
namespace {

// The wanted table, with the previous state of the refused routes.
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

RouteUpdate RouteMirror::Update(const RouteTable& wanted) {
  RouteUpdate update{Difference(installed_, wanted), ""};
  if (update.changes.empty()) return update;
  try {
    sink_->Apply(update.changes);
    installed_ = wanted;
  } catch (const RouteError& error) {
    update.refusal = error.what();
    installed_ = Without(wanted, error.refused(), installed_);
  } catch (const Error& error) {
    update.refusal = error.what();
  }
  return update;
}

}  // namespace viaduct::fib
