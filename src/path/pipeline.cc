#include "path/pipeline.h"

#include <fmt/format.h>

#include "base/error.h"
#include "path/model/nat.h"
#include "path/queue/disciplines.h"
#include "path/queue/make_rate_server.h"

namespace viaduct::path {
namespace {

bool HasLimitInTime(const QueueSpec& queue) {
  return queue.limit && queue.limit->unit == QueueSize::Unit::kTime;
}

std::string RefuseToRead(const std::string& path) {
  throw UsageError(fmt::format(
      "SPEC: {}: files are not supported here; specify the values instead of a file", path));
}

}  // namespace

// A pipeline begins as a plain wire and is then changed to its SPEC.
Pipeline::Pipeline(const Spec& spec, FrameStore& store, PipelineOptions options)
    : store_(store),
      options_(std::move(options)),
      loss_random_(options_.Stream("loss")),
      bits_random_(options_.Stream("ber")),
      corruption_random_(options_.Stream("corrupt")),
      duplicate_random_(options_.Stream("dup")),
      delay_(MakeFifo(options_.make_fifo), options_.Stream("delay"), options_.Stream("reorder")),
      slots_(options_.Stream("slot")) {
  if (!options_.read_file) options_.read_file = RefuseToRead;
  Change(spec, Instant());
}

// Joins the shared link of the SPEC, if any. The first SPEC decides whether the pipeline uses a
// shared link; a later SPEC that changes this is an error.
void Pipeline::JoinLink(const Spec& spec) {
  if (joined_) {
    if (spec.link.shared == spec_.link.shared) return;
    throw UsageError("SPEC: link: cannot be changed while the path runs");
  }
  if (spec.link.shared) {
    if (options_.links == nullptr) {
      throw UsageError("SPEC: link: shared links are not supported here; remove the key link");
    }
    shared_ = &options_.links->Of(*spec.link.shared);
    user_ = shared_->Join(this);
  }
  joined_ = true;
}

Pipeline::Parts Pipeline::MakeParts(const Spec& spec) const {
  Parts parts;
  if (spec.loss && spec.loss != spec_.loss) parts.loss.emplace(*spec.loss, options_);
  if (spec.delay != spec_.delay) parts.delay.emplace(spec.delay, options_.read_file);
  if (spec.slot && spec.slot != spec_.slot) parts.slots.emplace(*spec.slot, options_.read_file);
  if (!spec.link.HasRate()) return parts;
  LinkSpec link = spec.link;
  if (!link.overhead) link.overhead.emplace();
  link.overhead->bytes += options_.tag_bytes;
  if (spec.link != spec_.link) parts.link = MakeRateServer(link, options_.read_file);
  const bool same_limit = !HasLimitInTime(spec.queue) || spec.link.overhead == spec_.link.overhead;
  if (spec.queue != spec_.queue || !spec_.link.HasRate() || !same_limit) {
    parts.queue = MakeQueueDiscipline(spec.queue, store_, options_, *link.overhead);
  }
  return parts;
}

void Pipeline::CheckNat(const Spec& spec) const {
  if (!spec.nat) return;
  if (options_.is_class) {
    throw UsageError("SPEC: nat: a class cannot have NAT; set nat in the SPEC of the direction");
  }
  if (options_.nat == nullptr) {
    throw UsageError(
        "SPEC: nat: not supported on a shared link, where no side is behind the NAT; use links "
        "between two nodes");
  }
  options_.nat->Check(options_.direction, spec.nat);
}

void Pipeline::Begin(Instant now) {
  begun_ = now;
  if (options_.nat) options_.nat->Begin(now);
  if (loss_) loss_->Begin(now, now);
  if (bottleneck_) bottleneck_->Begin(now);
  if (shared_ != nullptr) shared_->Begin(now);
  delay_.Begin(now);
}

void Pipeline::Install(const Spec& spec, Parts parts, Instant now) {
  if (!spec.loss || parts.loss) loss_ = std::move(parts.loss);
  if (loss_ && spec.loss != spec_.loss && HasBegun()) loss_->Begin(begun_, now);
  if (spec.errors != spec_.errors) {
    bit_errors_.reset();
    if (spec.errors) bit_errors_.emplace(*spec.errors, bits_random_);
  }
  if (spec.corruption != spec_.corruption) corruption_ = spec.corruption;
  if (spec.duplication != spec_.duplication) {
    duplicate_.reset();
    if (spec.duplication) duplicate_.emplace(*spec.duplication);
  }
  shared_ != nullptr ? InstallSharedRate(spec, parts, now) : InstallRate(spec, parts, now);
  if (parts.delay) {
    delay_.SetDelay(std::move(*parts.delay), spec.delay.order);
    if (HasBegun()) delay_.Begin(now);
  }
  if (spec.reorder != spec_.reorder) delay_.SetReorder(spec.reorder);
  if (spec.slot != spec_.slot) slots_.Set(std::move(parts.slots));
  if (spec.nat != spec_.nat) {
    options_.nat->Set(options_.direction, spec.nat, HasBegun() ? std::optional(now) : std::nullopt);
  }
  spec_ = spec;
}

void Pipeline::InstallRate(const Spec& spec, Parts& parts, Instant now) {
  if (!spec.link.HasRate()) {
    if (bottleneck_ && !draining_) bottleneck_->ChangeLink(std::make_unique<UnlimitedRate>(), now);
    draining_ = bottleneck_ != nullptr;
    return;
  }
  draining_ = false;
  if (!bottleneck_) {
    bottleneck_ = std::make_unique<Bottleneck>(std::move(parts.queue), std::move(parts.link));
    if (HasBegun()) bottleneck_->Begin(now);
    return;
  }
  if (parts.link) bottleneck_->ChangeLink(std::move(parts.link), now);
  if (parts.queue) bottleneck_->ChangeQueue(std::move(parts.queue), now);
}

void Pipeline::InstallSharedRate(const Spec& spec, Parts& parts, Instant now) {
  if (!spec.link.HasRate()) return shared_->Undefine(user_, now);
  shared_->Define(user_, spec.link, spec.queue, std::move(parts.link), std::move(parts.queue), now);
}

void Pipeline::Change(const Spec& spec, Instant now) {
  CheckSpec(spec);
  CheckNat(spec);
  JoinLink(spec);
  if (shared_ != nullptr) shared_->Check(user_, spec.link, spec.queue);
  Parts parts = MakeParts(spec);
  Settle(now);
  Install(spec, std::move(parts), now);
}

void Pipeline::Push(FrameHandle frame, uint32_t bytes, Instant now) {
  ++counters_.arrived;
  counters_.arrived_bytes += bytes;
  if (observer_ != nullptr) {
    Settle(now);
  } else {
    Transmit(now);
  }
  Packet packet{
      .frame = frame, .bytes = bytes, .number = counters_.arrived, .arrived = now, .ready = now};
  if (observer_ != nullptr) observer_->OnArrival(packet);
  if (options_.nat && !LeaveNat(packet, now)) return Drop(packet, Fate::kNoBinding, now);
  if (loss_ && loss_->Lose(packet, loss_random_)) return Drop(packet, Fate::kLost, now);
  HitBits(packet);
  if (duplicate_ && duplicate_->Take(duplicate_random_)) return Duplicate(packet, now);
  Enter(packet, now);
}

void Pipeline::Refuse(uint32_t bytes, Fate cause, Instant now) {
  Settle(now);
  ++counters_.arrived;
  counters_.arrived_bytes += bytes;
  const Packet packet{
      .frame = kNoFrame, .bytes = bytes, .number = counters_.arrived, .arrived = now, .ready = now};
  if (observer_ != nullptr) observer_->OnArrival(packet);
  Meet(packet, cause, now);
}

// Translates a packet that leaves through the NAT, if any. The NAT is at the near end of the
// direction that leaves through it.
bool Pipeline::LeaveNat(const Packet& packet, Instant now) {
  return !options_.nat->IsOutward(options_.direction) || Translate(packet, now);
}

bool Pipeline::EnterNat(const Packet& packet) {
  return !options_.nat->IsInward(options_.direction) || Translate(packet, packet.ready);
}

bool Pipeline::Translate(const Packet& packet, Instant at) {
  store_.CompleteChecksum(packet.frame);
  return options_.nat->Translate(options_.direction, store_.Bytes(packet.frame), at);
}

void Pipeline::HitBits(Packet& packet) {
  const bool errors = bit_errors_ && bit_errors_->Hit(packet.bytes);
  const bool corruption = corruption_ && corruption_->chance.Take(corruption_random_);
  if (errors || corruption) FlipBits(packet, errors, corruption);
}

void Pipeline::FlipBits(Packet& packet, bool errors, bool corruption) {
  store_.CompleteChecksum(packet.frame);
  const std::span<std::byte> frame = store_.Bytes(packet.frame);
  uint64_t flipped = 0;
  if (errors) flipped += bit_errors_->Flip(frame, bits_random_);
  if (corruption) flipped += corruption_->Flip(frame, corruption_random_);
  if (flipped == 0) return;
  counters_.flipped_bits += flipped;
  ++counters_.corrupted;
  packet.corrupted = true;
}

// Pushes the original, then a copy. If there is no memory for the copy, the copy counts as created
// and lost.
void Pipeline::Duplicate(const Packet& packet, Instant now) {
  const auto clone = store_.Clone(packet.frame);
  Packet copy = packet;
  copy.duplicate = true;
  ++counters_.duplicated;
  if (!clone) Meet(copy, Fate::kNoMemory, now);
  Enter(packet, now);
  if (!clone) return;
  copy.frame = *clone;
  Enter(copy, now);
}

void Pipeline::Enter(const Packet& packet, Instant now) {
  if (shared_ != nullptr) {
    ++shared_packets_;
    shared_bytes_ += packet.bytes;
    shared_->Push(user_, packet, now);
  } else if (bottleneck_ && !draining_) {
    bottleneck_->Push(packet, now, *this);
  } else {
    Delay(packet, now);
  }
}

void Pipeline::Delay(const Packet& packet, Instant now) {
  if (delay_.Push(packet, now, *this)) ++counters_.reordered;
}

// Passes the next packet that has left the link by `now` to the delay stage; returns false if there
// is no such packet.
bool Pipeline::TransmitOne(Instant now) {
  const auto sent = bottleneck_->Pop(now, *this);
  if (!sent) return false;
  if (sent->marked) ++counters_.marked;
  Delay(*sent, sent->ready);
  return true;
}

// Receives a packet of this pipeline that leaves a shared link, during a call of any user of the
// link. Packets that were due at the far end earlier are reported to the observer first.
void Pipeline::Left(const Packet& packet) {
  --shared_packets_;
  shared_bytes_ -= packet.bytes;
  if (packet.marked) ++counters_.marked;
  SettleArrivals(packet.ready);
  Delay(packet, packet.ready);
  if (options_.woken) options_.woken();
}

void Pipeline::Dropped(const Packet& packet, Fate cause, Instant at) {
  --shared_packets_;
  shared_bytes_ -= packet.bytes;
  SettleArrivals(at);
  Drop(packet, cause, at);
}

void Pipeline::Transmit(Instant now) {
  if (shared_ != nullptr) return shared_->Advance(user_, now);
  if (!bottleneck_) return;
  while (TransmitOne(now)) {
  }
  if (draining_ && bottleneck_->packets() == 0) {
    bottleneck_.reset();
    draining_ = false;
  }
}

// Performs the event at NextArrival(): the delayed packet begins to wait for its slot, or arrives
// at the far end. Returns the packet if it is delivered.
std::optional<Packet> Pipeline::Arrive() {
  const bool from_slot = slots_.Next() <= delay_.Next();
  const Packet packet = from_slot ? slots_.PopFirst() : delay_.PopFirst();
  if (!from_slot && slots_.HasSlots()) {
    slots_.Push(packet);
    return std::nullopt;
  }
  if (packet.corrupted && spec_.frame_check == FrameCheck::kDrop) {
    Drop(packet, Fate::kBadFcs, packet.ready);
    return std::nullopt;
  }
  if (options_.nat && !EnterNat(packet)) {
    Drop(packet, Fate::kNoBinding, packet.ready);
    return std::nullopt;
  }
  Meet(packet, Fate::kDelivered, packet.ready);
  return packet;
}

Instant Pipeline::NextTransmission() const {
  if (shared_ != nullptr) return shared_->NextEvent();
  return bottleneck_ ? bottleneck_->NextEvent() : Instant::Never();
}

// If there is an observer, performs the arrivals at the far end before `at`, because the observer
// must see events in the order of time.
void Pipeline::SettleArrivals(Instant at) {
  if (observer_ == nullptr) return;
  while (NextArrival() < at) {
    if (const auto packet = Arrive()) settled_.Push(*packet);
  }
}

// Processes all events until `now` in their order, because observers see that order.
void Pipeline::Settle(Instant now) {
  while (true) {
    const Instant sent = NextTransmission();
    const Instant due = NextArrival();
    if (sent <= now && sent <= due) {
      shared_ != nullptr ? shared_->Advance(user_, sent) : static_cast<void>(TransmitOne(sent));
    } else if (due <= now) {
      if (const auto packet = Arrive()) settled_.Push(*packet);
    } else {
      break;
    }
  }
  Transmit(now);
}

size_t Pipeline::Pop(Instant now, std::span<Departure> out) {
  if (delay_.Stalled()) delay_.LookAgain();
  if (observer_ != nullptr) {
    Settle(now);
  } else {
    Transmit(now);
  }
  size_t count = 0;
  for (; count < out.size() && !settled_.Empty(); settled_.PopFront()) {
    const Packet& packet = *settled_.Front();
    out[count++] = {packet.frame, packet.bytes, packet.number, packet.ready};
  }
  while (count < out.size() && NextArrival() <= now) {
    const auto packet = Arrive();
    if (packet) out[count++] = {packet->frame, packet->bytes, packet->number, packet->ready};
  }
  return count;
}

Instant Pipeline::NextEvent() const {
  if (!settled_.Empty()) return Instant();  // packets can be popped at once
  // A packet of another pipeline of the shared link may be due earlier than the packets of this
  // pipeline.
  if (shared_ != nullptr) return std::min(NextArrival(), shared_->NextEventOf(user_));
  const Instant sent = bottleneck_ ? bottleneck_->NextEvent() : Instant::Never();
  // A packet that leaves the link at `sent` cannot be due before the shortest delay has passed.
  const Instant due = sent == Instant::Never() ? sent : sent + delay_.Shortest();
  return std::min(NextArrival(), due);
}

void Pipeline::Meet(const Packet& packet, Fate fate, Instant at) {
  ++counters_.fates[static_cast<size_t>(fate)];
  if (fate == Fate::kDelivered) counters_.delivered_bytes += packet.bytes;
  if (observer_ != nullptr) observer_->OnFate(packet, fate, at);
}

void Pipeline::Drop(const Packet& packet, Fate cause, Instant at) {
  Meet(packet, cause, at);
  store_.Free(packet.frame);
}

uint64_t Pipeline::waiting() const {
  return shared_packets_ + delay_.packets() + slots_.packets() +
         (bottleneck_ ? bottleneck_->packets() : 0);
}

uint64_t Pipeline::waiting_bytes() const {
  return shared_bytes_ + delay_.bytes() + slots_.bytes() + (bottleneck_ ? bottleneck_->bytes() : 0);
}

}  // namespace viaduct::path
