// PIE (RFC 8033): drops or marks packets at the tail, with a probability that a controller of the
// queueing delay updates every T_UPDATE.
#pragma once

#include "path/queue/fifo_queue.h"
#include "path/queue/pie_control.h"

namespace viaduct::path {

class PieQueue : public FifoQueue {
 public:
  // The kernel's default limit (net/sched/sch_pie.c), because RFC 8033 gives no limit.
  static constexpr QueueSize kDefaultLimit = QueuePackets(1000);
  using Parameters = PieParameters;

  PieQueue(const PieParameters& parameters, const QueueSetup& setup)
      : FifoQueue(setup), control_(parameters, setup), state_(control_.Start()) {}
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant now, DropSink& drops) override;

  // Runs all controller updates that are due at `now`; the first update is due T_UPDATE after the
  // first packet's arrival.
  void UpdateUntil(Instant now) { control_.UpdateUntil(state_, now); }
  double drop_probability() const { return state_.probability; }
  Duration burst_allowance() const { return state_.burst_allowance; }

 private:
  PieControl control_;
  PieControl::State state_;
};

}  // namespace viaduct::path
