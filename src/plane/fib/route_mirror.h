// Keeps the routes of a sink equal to a table.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "plane/fib/route.h"
#include "plane/fib/route_sink.h"

namespace viaduct::fib {

// The result of one update.
struct RouteUpdate {
  RouteChanges changes;  // handed to the sink
  std::string refusal;   // which of them were refused, and why; empty: none
  size_t refused = 0;    // how many
};

// Remembers the routes that the sink has accepted. Refused ones are not among them, so every update
// tries them again; so it does with all routes of a call that failed as a whole, of which nobody
// knows how much was done.
class RouteMirror {
 public:
  explicit RouteMirror(std::shared_ptr<RouteSink> sink) : sink_(std::move(sink)) {}

  // Applies the difference between the wanted table and the sink's routes; does nothing if there is
  // none.
  RouteUpdate Update(const RouteTable& wanted);

  // The sink has these routes already, of a mirror that has ended.
  void Adopt(RouteTable routes) { installed_ = std::move(routes); }

  const RouteTable& installed() const { return installed_; }
  const RouteSink& sink() const { return *sink_; }

 private:
  RouteChanges ChangesTo(const RouteTable& wanted) const;

  std::shared_ptr<RouteSink> sink_;
  RouteTable installed_;
  RouteTable uncertain_;  // of calls that failed as a whole
};

}  // namespace viaduct::fib
