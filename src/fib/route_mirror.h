// Keeps the routes of a sink equal to a table.
#pragma once

#include <memory>
#include <string>

#include "fib/route.h"
#include "fib/route_sink.h"

namespace viaduct::fib {

// What one update did.
struct RouteUpdate {
  RouteChanges changes;  // handed to the sink
  std::string refusal;   // what of them was refused, and why; empty: nothing
};

// Knows what the sink has taken. What it has refused is not among that, so every update tries it
// again.
class RouteMirror {
 public:
  explicit RouteMirror(std::shared_ptr<RouteSink> sink) : sink_(std::move(sink)) {}

  // Applies what the wanted table has other than the sink; nothing, if it is the same.
  RouteUpdate Update(const RouteTable& wanted);

  const RouteTable& installed() const { return installed_; }
  const RouteSink& sink() const { return *sink_; }

 private:
  std::shared_ptr<RouteSink> sink_;
  RouteTable installed_;
};

}  // namespace viaduct::fib
