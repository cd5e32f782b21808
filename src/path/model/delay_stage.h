// The delay stage: packets with constant delays wait in a Fifo (which may spill to disk), packets
// that would overtake wait in a timing wheel. Each packet leaves at its own exact instant; packets
// of the same instant leave in the order of their arrival.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "path/model/chance.h"
#include "path/model/delay_model.h"
#include "path/model/timing_wheel.h"
#include "path/packet/fate.h"

namespace viaduct::path {

class DelayStage {
 public:
  // `line` holds the packets that keep their order.
  DelayStage(std::unique_ptr<Fifo> line, RandomStream delay_random, RandomStream reorder_random);

  // Sets the delay of packets pushed from now on. Before the first call there is no delay.
  void SetDelay(DelayModel model, std::optional<Order> order);
  // Sets time 0 of a trace; without this call, time 0 is the arrival of the first packet.
  void Begin(Instant now) { model_.Begin(now); }
  void SetReorder(const std::optional<Reorder>& reorder);

  // Takes a packet that enters at `now` (which must not decrease), or hands it to `drops` if the
  // line is full. Returns true when the packet was reordered.
  bool Push(Packet packet, Instant now, DropSink& drops);
  // Returns the instant at which the first packet leaves; Never when there is no packet, or when
  // the first packet is still on disk (see Stalled()).
  Instant Next() const { return std::min(line_next_, wheel_ ? wheel_->Next() : Instant::Never()); }
  // Takes the packet that leaves at Next(); packet.ready is that instant.
  Packet PopFirst();

  // Returns whether the line's first packet is still being read from disk; LookAgain() must be
  // called when the packet may have arrived.
  bool Stalled() const { return line_next_ == Instant::Never() && !line_->Empty(); }
  void LookAgain();
  // Returns the minimum delay of all packets.
  Duration Shortest() const { return shortest_; }
  uint64_t packets() const { return line_->packets() + (wheel_ ? wheel_->packets() : 0); }
  uint64_t bytes() const { return line_->bytes() + (wheel_ ? wheel_->bytes() : 0); }

 private:
  bool TakesOutOfTurn();
  void UpdateShortest();
  void ToWheel(const Packet& packet, Instant now);
  void ToLine(const Packet& packet, Instant now, DropSink& drops);

  std::unique_ptr<Fifo> line_;
  std::unique_ptr<TimingWheel> wheel_;  // created when first needed
  Instant line_next_ = Instant::Never();
  Instant line_last_;  // leaving instant of the last packet in line_
  Instant latest_;     // latest leaving instant of all packets
  uint32_t turn_ = 0;
  bool always_wheel_ = false;
  bool keep_ = false;
  Duration shortest_;
  DelayModel model_;
  RandomStream delay_random_, reorder_random_;
  std::optional<Chance> reorder_;
  int64_t reorder_gap_ = 1;
  int64_t since_reorder_ = 0;  // packets delayed since the last reordered one
};

}  // namespace viaduct::path
