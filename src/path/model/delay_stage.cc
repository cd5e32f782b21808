#include "path/model/delay_stage.h"

namespace viaduct::path {

DelayStage::DelayStage(std::unique_ptr<Fifo> line, RandomStream delay_random,
                       RandomStream reorder_random)
    : line_(std::move(line)), delay_random_(delay_random), reorder_random_(reorder_random) {}

void DelayStage::SetDelay(DelayModel model, std::optional<Order> order) {
  model_ = std::move(model);
  keep_ = order == Order::kKeep;
  // If delays vary and the order is free, the wheel holds all packets: in the line, most packets
  // would wait for earlier packets.
  always_wheel_ = !keep_ && !model_.IsConstant();
  UpdateShortest();
}

void DelayStage::SetReorder(const std::optional<Reorder>& reorder) {
  reorder_.reset();
  if (reorder) {
    reorder_.emplace(reorder->chance);
    reorder_gap_ = reorder->gap;
  }
  UpdateShortest();
}

void DelayStage::UpdateShortest() {
  shortest_ = !reorder_ && model_.IsConstant() ? model_.Base() : Duration();
}

// Counts like netem: a packet is delayed as long as fewer than gap - 1 packets were delayed since
// the last packet that was not delayed (net/sched/sch_netem.c, netem_enqueue).
bool DelayStage::TakesOutOfTurn() {
  if (since_reorder_ < reorder_gap_ - 1 || !reorder_->Take(reorder_random_)) {
    ++since_reorder_;
    return false;
  }
  since_reorder_ = 0;
  return true;
}

bool DelayStage::Push(Packet packet, Instant now, DropSink& drops) {
  packet.turn = turn_++;
  const bool out_of_turn = reorder_ && TakesOutOfTurn();
  packet.ready = now;
  if (!out_of_turn) {
    packet.ready += model_.IsConstant() ? model_.Base() : model_.Sample(now, delay_random_);
  }
  if (keep_) packet.ready = std::max(packet.ready, latest_);
  latest_ = std::max(latest_, packet.ready);
  if (always_wheel_ || packet.ready < line_last_) {
    ToWheel(packet, now);
  } else {
    ToLine(packet, now, drops);
  }
  return out_of_turn;
}

void DelayStage::ToWheel(const Packet& packet, Instant now) {
  if (!wheel_) wheel_ = std::make_unique<TimingWheel>();
  wheel_->Insert(packet, now);
}

void DelayStage::ToLine(const Packet& packet, Instant now, DropSink& drops) {
  const bool was_empty = line_->Empty();
  if (!line_->Push(packet)) {
    drops.Drop(packet, line_->DiskBehind() ? Fate::kDiskBehind : Fate::kNoMemory, now);
    return;
  }
  line_last_ = packet.ready;
  if (was_empty) LookAgain();
}

void DelayStage::LookAgain() {
  const Packet* const front = line_->Front();
  line_next_ = front != nullptr ? front->ready : Instant::Never();
}

Packet DelayStage::PopFirst() {
  if (wheel_ && wheel_->Next() <= line_next_) {
    if (wheel_->Next() < line_next_ || TurnBefore(wheel_->NextTurn(), line_->Front()->turn)) {
      return wheel_->PopFirst();
    }
  }
  const Packet packet = *line_->Front();
  line_->PopFront();
  LookAgain();
  return packet;
}

}  // namespace viaduct::path
