// DualPI2 (RFC 9332, appendix A): L4S packets, which ECT(1) or CE identifies, have a separate queue
// with a shallow step (or ramp) of marks; a PI controller of the queueing delay drops or marks
// classic packets with the square of its probability, and couples the marks of L4S packets to its
// probability.
//
// The details that RFC 9332 does not specify are as in the kernel (net/sched/sch_dualpi2.c): the
// defaults, the scheduler (weighted round robin by bytes), and the controller's input, the longer
// of the two delays. Waiting packets are in memory, never on disk.
#pragma once

#include "path/grammar/parameters.h"
#include "path/packet/memory_fifo.h"
#include "path/queue/queue_limit.h"

namespace viaduct::path {

struct DualPi2Parameters {
  Duration target = Duration::Milliseconds(15);
  Duration update = Duration::Milliseconds(16);  // Tupdate in RFC 9332
  double alpha = 0.16;                           // 1/s
  double beta = 3.2;                             // 1/s
  double coupling = 2;                           // k in RFC 9332
  Duration step = Duration::Milliseconds(1);     // minTh: delay from which L4S packets are marked
  Duration range;                                // width of the ramp to probability 1; zero: a step
  double classic = 0.1;  // classic packets' share of bytes while L4S packets wait

  static std::span<const Parameter<DualPi2Parameters>> Table();
  // Throws UsageError if `classic` is not between 0 and 1.
  void Check() const;
};

class DualPi2Queue : public QueueDiscipline {
 public:
  static constexpr QueueSize kDefaultLimit = QueuePackets(10000);
  using Parameters = DualPi2Parameters;

  DualPi2Queue(const DualPi2Parameters& parameters, const QueueSetup& setup);
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant now, DropSink& drops) override;
  void SetRate(int64_t rate) override { limit_.SetRate(rate); }
  bool Empty() const override { return l4s_.Empty() && classic_.Empty(); }
  uint64_t packets() const override { return l4s_.packets() + classic_.packets(); }
  uint64_t bytes() const override { return l4s_.bytes() + classic_.bytes(); }

  // Runs all updates of the controller that are due at `now`; the first is due Tupdate after the
  // first packet's arrival.
  void UpdateUntil(Instant now);
  double probability() const { return probability_; }  // p' in RFC 9332

 private:
  Duration LongestDelay(Instant now);
  void Update(Instant now);
  bool L4sIsNext() const;
  double L4sProbability(Duration delay) const;
  bool PassesL4s(Packet& packet, Instant now);
  bool PassesClassic(Packet& packet);

  DualPi2Parameters parameters_;
  FrameStore& store_;
  QueueLimit limit_;
  MemoryFifo l4s_, classic_;
  double first_credit_, credit_;  // bytes for classic packets; zero or less: L4S packets are next
  double max_squared_;      // p_Cmax: if p_C reaches this value, ECN-capable packets are dropped
  double probability_ = 0;  // p' in RFC 9332
  double coupled_ = 0;      // p_CL: coupled probability of L4S marks
  double squared_ = 0;      // p_C: probability of classic drops or marks
  double l4s_count_ = 0, classic_count_ = 0;
  Duration old_delay_;  // prevq: delay at the last update
  std::optional<Instant> next_update_;
};

}  // namespace viaduct::path
