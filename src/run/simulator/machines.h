// The interface to the other machines of a lab on several machines, for the run of one machine's
// part.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/fields.h"
#include "base/time.h"
#include "scenario/messages/simulator_messages.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// The end of a flow's sender that was on another machine than the flow's receiver.
struct RemoteSender {
  uint32_t flow = 0;  // index of the flow in the scenario
  int status = 0;     // wait status of the sender
  std::string output, error;

  static fields::KeysOf<RemoteSender> Keys();
};

// The machines of a run, as one of the machines uses them. The base class is for a run on a single
// machine: every node is on this machine, and there is no other machine to wait for or to report
// to.
class Machines {
 public:
  Machines() = default;
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;
  virtual ~Machines() = default;

  // Returns the object for all runs that have only one machine.
  static Machines& Alone();

  // Whether there are other machines.
  virtual bool AreSeveral() const { return false; }
  // The name of this machine, one of scenario::Scenario::machines; "" if this machine is the only
  // one.
  virtual std::string machine() const { return ""; }
  virtual bool IsLocal(const std::string& /*node*/) const { return true; }

  // Makes the loop read the other machines' messages, until Leave(). The loop's Run() throws Error
  // when another machine has failed.
  virtual void Join(sys::EventLoop& /*loop*/) {}
  virtual void Leave() {}

  // Waits until every machine has reached the stage with this name.
  virtual void Meet(const std::string& /*stage*/) {}
  // Waits until every machine is ready to start. Returns an instant a short time later, which is
  // the same on all machines as far as the offsets of their clocks are known. With one machine
  // returns the current time.
  virtual Instant MeetToStart() { return MonotonicClock::Now(); }

  // Reports the passages of packets by this machine's routes. When the routes of all machines
  // together reach every node, or the time limit has passed, the function of OnConverged() is
  // called once, with the result for all machines. With one machine the function does nothing,
  // because the simulator knows all routes.
  virtual void ReportRoutes(const scenario::Passages& /*passages*/) {}
  virtual void OnConverged(const std::function<void(const scenario::Go&)>& /*converged*/) {}

  // Reports that the sender of a flow has ended to the machine that has `node`, the receiver of the
  // flow. The function of OnSenderEnded() receives such reports of other machines.
  virtual void Tell(const std::string& /*node*/, const RemoteSender& /*ended*/) {}
  virtual void OnSenderEnded(const std::function<void(const RemoteSender&)>& /*take*/) {}

  // The lead of this machine's monotonic clock over the clock of the machine that has `node`.
  virtual Duration ClockAhead(const std::string& /*node*/) const { return {}; }
};

}  // namespace viaduct::run
