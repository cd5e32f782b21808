// PIE's control law (RFC 8033) for queues: PieQueue has one queue, FqPieQueue has one for each
// flow.
//
// Of the options in RFC 8033, auto-tuning (section 4.2), burst allowance (4.4), derandomization
// (5.4) and the cap on adjustments (5.5) are implemented; the queueing delay is that of the packet
// sent last, by its time stamp (section 4.3's rate estimation is not needed), and zero when the
// queue is empty. Turning PIE off and on with the queue's length (5.3) is not implemented: PIE is
// always active.
#pragma once

#include <optional>

#include "path/grammar/parameters.h"
#include "path/packet/ecn.h"
#include "path/queue/queue_discipline.h"

namespace viaduct::path {

struct PieParameters {
  Duration target = Duration::Milliseconds(15);      // QDELAY_REF in RFC 8033
  Duration update = Duration::Milliseconds(15);      // T_UPDATE in RFC 8033
  Duration max_burst = Duration::Milliseconds(150);  // MAX_BURST in RFC 8033
  double alpha = 0.125;                              // 1/s
  double beta = 1.25;                                // 1/s
  bool ecn = false;

  static std::span<const Parameter<PieParameters>> Table();
  void Check() const {}
};

class PieControl {
 public:
  // The state of one queue.
  struct State {
    double probability = 0;  // drop_prob_ in RFC 8033
    double accumulated = 0;  // accu_prob_ in RFC 8033
    Duration delay;          // current_qdelay in RFC 8033
    Duration old_delay;      // qdelay_old_ in RFC 8033
    Duration burst_allowance;
    std::optional<Instant> next_update;
  };

  PieControl(const PieParameters& parameters, const QueueSetup& setup)
      : parameters_(parameters),
        store_(setup.store),
        random_(setup.random),
        mean_packet_(setup.max_packet) {}

  State Start() const {
    State state;
    state.burst_allowance = parameters_.max_burst;
    return state;
  }
  // Runs all updates of a state that are due at `now`; the first update is due T_UPDATE after the
  // first call.
  void UpdateUntil(State& state, Instant now) const;
  // Returns whether a packet that arrives while `bytes` bytes wait must be dropped; the packet may
  // be marked instead.
  bool Drops(State& state, Packet& packet, uint64_t bytes);
  // Must be called when a packet has been taken from the queue. `empty`: whether the queue is now
  // empty.
  static void Sent(State& state, const Packet& packet, bool empty, Instant now) {
    state.delay = empty ? Duration() : now - packet.ready;
  }

 private:
  bool DropEarly(State& state, uint64_t bytes);
  bool MarkInstead(const State& state, Packet& packet);
  void Update(State& state) const;
  double Adjustment(const State& state) const;

  PieParameters parameters_;
  FrameStore& store_;
  RandomStream random_;
  // MEAN_PKTSIZE, which RFC 8033 does not specify: the link's maximum frame length, as in the
  // kernel.
  uint64_t mean_packet_;
};

}  // namespace viaduct::path
