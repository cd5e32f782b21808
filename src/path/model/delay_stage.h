// Where packets are under way: constant delays in a Fifo (which may lie on disk), what would
// overtake in a timing wheel. Packets leave at their own exact instants; equals in the order in
// which they came.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "path/model/delay_model.h"
#include "path/model/loss_model.h"
#include "path/model/timing_wheel.h"
#include "path/packet/fate.h"

namespace viaduct::path {

class DelayStage {
 public:
  // `line` holds what keeps its order.
  DelayStage(std::unique_ptr<Fifo> line, RandomStream delay_random, RandomStream reorder_random);

  // For packets from now on. Until then none is delayed.
  void SetDelay(DelayModel model, std::optional<Order> order);
  void SetReorder(const std::optional<Reorder>& reorder);

  // Takes a packet that enters at `now` (never going back), or hands it to `drops` where the line
  // has no room. True when it was taken out of turn.
  bool Push(Packet packet, Instant now, DropSink& drops);
  // When the first packet leaves; Never when there is none, or (Stalled) its line is on disk.
  Instant Next() const { return std::min(line_next_, wheel_ ? wheel_->Next() : Instant::Never()); }
  // Takes the packet that leaves at Next(); packet.ready is that instant.
  Packet PopFirst();

  // The line's first packet is still on its way from disk; LookAgain when it may have come.
  bool Stalled() const { return line_next_ == Instant::Never() && !line_->Empty(); }
  void LookAgain();
  // Every packet stays at least this long.
  Duration Shortest() const { return shortest_; }
  uint64_t packets() const { return line_->packets() + (wheel_ ? wheel_->packets() : 0); }
  uint64_t bytes() const { return line_->bytes() + (wheel_ ? wheel_->bytes() : 0); }

 private:
  bool TakesOutOfTurn();
  void UpdateShortest();
  void ToWheel(const Packet& packet, Instant now);
  void ToLine(const Packet& packet, Instant now, DropSink& drops);

  std::unique_ptr<Fifo> line_;
  std::unique_ptr<TimingWheel> wheel_;  // made when it is first needed
  Instant line_next_ = Instant::Never();
  Instant line_last_;  // of the last packet put there
  Instant latest_;     // of all packets
  uint32_t turn_ = 0;
  bool always_wheel_ = false;
  bool keep_ = false;
  Duration shortest_;
  DelayModel model_;
  RandomStream delay_random_, reorder_random_;
  std::optional<Decision> reorder_;
  int64_t reorder_gap_ = 1;
  int64_t since_reorder_ = 0;  // packets delayed since one was taken out of turn
};

}  // namespace viaduct::path
