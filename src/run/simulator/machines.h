// An interface to the other machines of a divided lab, for the run of one machine's part.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/fields.h"
#include "base/time.h"
#include "scenario/messages/simulator_messages.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// The end of a flow's sender on another machine than its receiver.
struct RemoteSender {
  uint32_t flow = 0;  // the number in the scenario
  int status = 0;     // the wait status
  std::string output, error;

  static fields::KeysOf<RemoteSender> Keys();
};

class Machines {
 public:
  Machines() = default;
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;
  virtual ~Machines() = default;

  // The name of this machine, one of scenario::Scenario::machines.
  virtual const std::string& machine() const = 0;
  virtual bool IsLocal(const std::string& node) const = 0;

  // Makes the loop read the other machines' messages, until Leave(). The loop's Run() throws Error
  // when another machine has failed.
  virtual void Join(sys::EventLoop& loop) = 0;
  virtual void Leave() = 0;

  // Waits until every machine has reached this stage of the run.
  virtual void Meet(const std::string& stage) = 0;
  // Waits until every machine has reached the start; returns an instant shortly after, which is the
  // same on all machines as far as their clocks' offsets are known.
  virtual Instant MeetToStart() = 0;

  // Reports the passages of packets by this machine's routes. When the routes of all machines
  // together reach every node, or the time limit has passed, `converged` is called once, with the
  // result for all machines.
  virtual void ReportRoutes(const scenario::Passages& passages) = 0;
  virtual void OnConverged(std::function<void(const scenario::Go&)> converged) = 0;

  // Tell() reports to the machine that has this node that the sender of a flow to it has ended; the
  // function of OnSenderEnded() gets such reports of other machines.
  virtual void Tell(const std::string& node, const RemoteSender& ended) = 0;
  virtual void OnSenderEnded(std::function<void(const RemoteSender&)> take) = 0;

  // The lead of this machine's monotonic clock over that of the machine that has this node.
  virtual Duration ClockAhead(const std::string& node) const = 0;
};

}  // namespace viaduct::run
