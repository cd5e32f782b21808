// PIE (RFC 8033): drops or marks at the tail, with a probability that a controller of the queueing
// delay sets every T_UPDATE.
//
// Of the RFC's options: auto-tuning (section 4.2), burst allowance (4.4), derandomization (5.4) and
// the cap on adjustments (5.5) are on; the queueing delay is that of the packet sent last, by its
// time stamp (section 4.3's rate estimation is not needed), and zero when the queue is empty.
// Turning PIE off and on with the queue's length (5.3) is left out: PIE is always active.
#pragma once

#include "path/grammar/parameters.h"
#include "path/queue/ecn.h"
#include "path/queue/fifo_queue.h"

namespace viaduct::path {

struct PieParameters {
  Duration target = Duration::Milliseconds(15);      // QDELAY_REF
  Duration update = Duration::Milliseconds(15);      // T_UPDATE
  Duration max_burst = Duration::Milliseconds(150);  // MAX_BURST
  double alpha = 0.125;                              // 1/s
  double beta = 1.25;                                // 1/s
  bool ecn = false;

  static std::span<const Parameter<PieParameters>> Table();
  void Check() const {}
};

class PieQueue : public FifoQueue {
 public:
  // The RFC gives no limit; 1000 packets is the kernel's default (net/sched/sch_pie.c).
  static constexpr QueueSize kDefaultLimit = QueuePackets(1000);
  using Parameters = PieParameters;

  PieQueue(const PieParameters& parameters, const QueueSetup& setup)
      : FifoQueue(setup),
        parameters_(parameters),
        store_(setup.store),
        random_(setup.random),
        mean_packet_(setup.max_packet),
        burst_allowance_(parameters.max_burst) {}
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant now, DropSink& drops) override;

  // Runs all controller updates that are due at `now`; the first is due T_UPDATE after the first
  // packet's arrival.
  void UpdateUntil(Instant now);
  double drop_probability() const { return probability_; }
  Duration burst_allowance() const { return burst_allowance_; }

 private:
  bool DropEarly();
  bool MarkInstead(Packet& packet);
  void Update();
  double Adjustment() const;

  PieParameters parameters_;
  FrameStore& store_;
  RandomStream random_;
  // RFC 8033 leaves MEAN_PKTSIZE to the implementation; the link's longest frame, as in the kernel.
  uint64_t mean_packet_;
  double probability_ = 0;  // drop_prob_
  double accumulated_ = 0;  // accu_prob_
  Duration delay_;          // current_qdelay
  Duration old_delay_;      // qdelay_old_
  Duration burst_allowance_;
  std::optional<Instant> next_update_;
};

}  // namespace viaduct::path
