// A mirror, which keeps the routes of a sink equal to a table.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "plane/fib/route.h"
#include "plane/fib/route_sink.h"

namespace viaduct::fib {

// The result of one call of RouteMirror::Update().
struct RouteUpdate {
  RouteChanges changes;  // the changes passed to the sink
  std::string refusal;   // text with the refused changes and the reasons; empty: none
  size_t refused = 0;    // number of refused changes
};

// Remembers the routes that the sink has accepted. Refused routes are not among them, so every
// update tries them again. If a call failed as a whole, the next update tries all its routes again,
// because it is unknown which of them the sink has changed.
class RouteMirror {
 public:
  explicit RouteMirror(std::shared_ptr<RouteSink> sink) : sink_(std::move(sink)) {}

  // Applies the difference between the wanted table and the sink's routes; does nothing if there is
  // none.
  RouteUpdate Update(const RouteTable& wanted);

  // Sets the mirror's routes to the routes of an earlier mirror, which the sink has already.
  void Adopt(RouteTable routes) { installed_ = std::move(routes); }

  const RouteTable& installed() const { return installed_; }
  const RouteSink& sink() const { return *sink_; }

 private:
  RouteChanges ChangesTo(const RouteTable& wanted) const;

  std::shared_ptr<RouteSink> sink_;
  RouteTable installed_;
  RouteTable uncertain_;  // routes of calls of the sink that failed as a whole
};

}  // namespace viaduct::fib
