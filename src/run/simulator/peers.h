// The other hosts of a lab that several have, as seen from the run of one host's part.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/time.h"
#include "sys/event_loop.h"

namespace viaduct::run {

class Peers {
 public:
  Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  virtual ~Peers() = default;

  // This host, of scenario::Scenario::hosts.
  virtual const std::string& host() const = 0;
  virtual bool IsHere(const std::string& node) const = 0;

  // From now on, what other hosts say is read in this loop, until Leave(). Its Run() throws Error
  // when another host has failed.
  virtual void Join(sys::EventLoop& loop) = 0;
  virtual void Leave() = 0;

  // Waits until every host has come to this stage of the run.
  virtual void Meet(const std::string& stage) = 0;
  // The same; returns an instant shortly after, which is the same on all hosts as far as their
  // clocks' offsets are known.
  virtual Instant MeetToStart() = 0;

  // How far packets get by this host's routes ("passages" of simulator_process.h). When those of
  // all hosts together reach every node, or the time for it is over, `converged` is called once,
  // with what holds for all hosts: "pairs", their number, and "unreachable", a list of those [from,
  // to] that cannot reach.
  virtual void ReportRoutes(const nlohmann::json& passages) = 0;
  virtual void OnConverged(std::function<void(const nlohmann::json&)> converged) = 0;

  // A message to the host that has this node, and what is done with those from others.
  virtual void Tell(const std::string& node, const nlohmann::json& message) = 0;
  virtual void OnMessage(std::function<void(const nlohmann::json&)> take) = 0;

  // How much this host's monotonic clock is ahead of that of the host that has this node.
  virtual Duration ClockAhead(const std::string& node) const = 0;
};

}  // namespace viaduct::run
