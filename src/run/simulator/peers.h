// The other hosts of a lab that several have, as seen from the run of one host's part.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/fields.h"
#include "base/time.h"
#include "scenario/messages/simulator_messages.h"
#include "sys/event_loop.h"

namespace viaduct::run {

// The end of a flow's sender on another host than its receiver.
struct RemoteSender {
  uint32_t flow = 0;  // its number in the scenario
  int status = 0;     // its wait status
  std::string output, error;

  static fields::KeysOf<RemoteSender> Keys();
};

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

  // How far packets get by this host's routes. When those of all hosts together reach every node,
  // or the time for it is over, `converged` is called once, with what holds for all hosts.
  virtual void ReportRoutes(const scenario::Passages& passages) = 0;
  virtual void OnConverged(std::function<void(const scenario::Go&)> converged) = 0;

  // Tells the host that has this node that the sender of a flow to it has ended, and what is done
  // when another host tells this.
  virtual void Tell(const std::string& node, const RemoteSender& ended) = 0;
  virtual void OnSenderEnded(std::function<void(const RemoteSender&)> take) = 0;

  // How much this host's monotonic clock is ahead of that of the host that has this node.
  virtual Duration ClockAhead(const std::string& node) const = 0;
};

}  // namespace viaduct::run
