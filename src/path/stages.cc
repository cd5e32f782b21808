#include "path/stages.h"

#include <fmt/format.h>

#include "base/error.h"
#include "path/queue/make_bottleneck.h"

namespace viaduct::path {
namespace {

constexpr uint32_t kSparedHeader = 14;

// What a queue drains over when the SPEC no longer has a rate.
class Unlimited : public RateServer {
 public:
  Instant Send(Instant start, uint32_t) override { return start; }
  int64_t RateAt(Instant) const override { return INT64_MAX; }
};

RandomStream Stream(const PipelineOptions& options, const char* stage) {
  return RandomStream(options.seed, options.name + " " + stage);
}

std::string RefuseToRead(const std::string& path) {
  throw UsageError(fmt::format("SPEC: {}: files cannot be read here; give the values", path));
}

bool SameBitErrors(const Spec& a, const Spec& b) {
  return a.bit_error_rate == b.bit_error_rate && a.header_bit_errors == b.header_bit_errors;
}

bool SameDelay(const Spec& a, const Spec& b) {
  return a.delay == b.delay && a.delay_trace == b.delay_trace && a.jitter == b.jitter &&
         a.jitter_correlation == b.jitter_correlation && a.distribution == b.distribution &&
         a.order == b.order;
}

bool SameLink(const Spec& a, const Spec& b) {
  return a.rate == b.rate && a.rate_trace == b.rate_trace && a.overhead == b.overhead &&
         a.burst == b.burst;
}

bool SameQueue(const Spec& a, const Spec& b) {
  return a.HasRate() == b.HasRate() && a.queue == b.queue && a.drop == b.drop && a.aqm == b.aqm;
}

}  // namespace

Pipeline::Stages::Stages(const Spec& spec, FrameStore& store, PipelineOptions options)
    : store_(store),
      options_(std::move(options)),
      loss_random_(Stream(options_, "loss")),
      bits_random_(Stream(options_, "ber")),
      duplicate_random_(Stream(options_, "dup")),
      delay_(MakeFifo(options_), Stream(options_, "delay"), Stream(options_, "reorder")) {
  if (!options_.read_file) options_.read_file = RefuseToRead;
  CheckSpec(spec);
  Install(spec, nullptr, MakeParts(spec, nullptr), Instant());
}

LossModel Pipeline::Stages::MakeLoss(const Loss& loss) const {
  const auto* trace = std::get_if<LossTrace>(&loss);
  if (trace == nullptr) return LossModel(loss, {});
  return LossModel(loss, ParseLossTrace(options_.read_file(trace->file), trace->file));
}

DelayModel Pipeline::Stages::MakeDelay(const Spec& spec) const {
  DelayTrace trace;
  if (spec.delay_trace)
    trace = ParseDelayTrace(options_.read_file(*spec.delay_trace), *spec.delay_trace);
  const std::string distribution = spec.distribution.value_or("uniform");
  return DelayModel(spec, std::move(trace),
                    IsDistributionFile(distribution)
                        ? Distribution::FromTable(options_.read_file(distribution), distribution)
                        : Distribution::Named(distribution));
}

Pipeline::Stages::Parts Pipeline::Stages::MakeParts(const Spec& spec, const Spec* before) const {
  Parts parts;
  if (spec.loss && (!before || spec.loss != before->loss)) parts.loss = MakeLoss(*spec.loss);
  if (!before || !SameDelay(spec, *before)) parts.delay = MakeDelay(spec);
  if (!spec.HasRate()) return parts;
  if (!before || !SameLink(spec, *before)) parts.link = MakeRateServer(spec, options_);
  if (!before || !SameQueue(spec, *before)) {
    parts.queue = MakeQueueDiscipline(spec, store_, options_);
  }
  return parts;
}

void Pipeline::Stages::Install(const Spec& spec, const Spec* before, Parts parts, Instant now) {
  if (!spec.loss || parts.loss) loss_ = std::move(parts.loss);
  if (!before || !SameBitErrors(spec, *before)) {
    bit_errors_.reset();
    if (spec.bit_error_rate) {
      bit_errors_.emplace(*spec.bit_error_rate, spec.header_bit_errors ? 0 : kSparedHeader,
                          bits_random_);
    }
  }
  if (!before || spec.duplicate != before->duplicate) {
    duplicate_.reset();
    if (spec.duplicate) duplicate_.emplace(*spec.duplicate);
  }
  InstallRate(spec, parts, now);
  if (parts.delay) delay_.SetDelay(std::move(*parts.delay), spec.order);
  if (!before || spec.reorder != before->reorder) delay_.SetReorder(spec.reorder);
  spec_ = spec;
}

void Pipeline::Stages::InstallRate(const Spec& spec, Parts& parts, Instant now) {
  if (!spec.HasRate()) {
    if (bottleneck_ && !draining_) bottleneck_->ChangeLink(std::make_unique<Unlimited>(), now);
    draining_ = bottleneck_ != nullptr;
    return;
  }
  draining_ = false;
  if (!bottleneck_) {
    bottleneck_ = std::make_unique<Bottleneck>(std::move(parts.queue), std::move(parts.link));
    return;
  }
  if (parts.link) bottleneck_->ChangeLink(std::move(parts.link), now);
  if (parts.queue) bottleneck_->ChangeQueue(std::move(parts.queue), now);
}

void Pipeline::Stages::Change(const Spec& spec, Instant now) {
  CheckSpec(spec);
  Parts parts = MakeParts(spec, &spec_);
  Settle(now);
  const Spec before = spec_;
  Install(spec, &before, std::move(parts), now);
}

void Pipeline::Stages::Push(FrameHandle frame, uint32_t bytes, Instant now) {
  ++counters_.arrived;
  counters_.arrived_bytes += bytes;
  if (observer_ != nullptr) {
    Settle(now);
  } else if (bottleneck_) {
    Transmit(now);
  }
  Packet packet{
      .frame = frame, .bytes = bytes, .number = counters_.arrived, .arrived = now, .ready = now};
  if (loss_ && loss_->Lose(packet.number, loss_random_)) return Drop(packet, Fate::kLost, now);
  if (bit_errors_ && bit_errors_->Hit(bytes)) HitBits(packet);
  if (duplicate_ && duplicate_->Take(duplicate_random_)) return Duplicate(packet, now);
  Enter(packet, now);
}

void Pipeline::Stages::Refuse(uint32_t bytes, Fate cause, Instant now) {
  Settle(now);
  ++counters_.arrived;
  counters_.arrived_bytes += bytes;
  Meet({.frame = kNoFrame,
        .bytes = bytes,
        .number = counters_.arrived,
        .arrived = now,
        .ready = now},
       cause, now);
}

void Pipeline::Stages::HitBits(Packet& packet) {
  store_.CompleteChecksum(packet.frame);
  counters_.flipped_bits += bit_errors_->Flip(store_.Bytes(packet.frame), bits_random_);
  ++counters_.corrupted;
  packet.corrupted = true;
}

// The original goes first. A copy that finds no memory is one that was made and lost.
void Pipeline::Stages::Duplicate(const Packet& packet, Instant now) {
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

void Pipeline::Stages::Enter(const Packet& packet, Instant now) {
  if (bottleneck_ && !draining_) {
    bottleneck_->Push(packet, now, *this);
  } else {
    Delay(packet, now);
  }
}

void Pipeline::Stages::Delay(const Packet& packet, Instant now) {
  if (delay_.Push(packet, now, *this)) ++counters_.reordered;
}

// Lets what has left the link by `now` go on, one packet.
bool Pipeline::Stages::TransmitOne(Instant now) {
  const auto sent = bottleneck_->Pop(now, *this);
  if (!sent) return false;
  if (sent->marked) ++counters_.marked;
  Delay(*sent, sent->ready);
  return true;
}

void Pipeline::Stages::Transmit(Instant now) {
  while (TransmitOne(now)) {
  }
  if (draining_ && bottleneck_->packets() == 0) {
    bottleneck_.reset();
    draining_ = false;
  }
}

// Everything until `now` in the order in which it happens, for those who see the order.
void Pipeline::Stages::Settle(Instant now) {
  while (true) {
    const Instant sent = bottleneck_ ? bottleneck_->NextEvent() : Instant::Never();
    const Instant due = delay_.Next();
    if (sent <= now && sent <= due) {
      TransmitOne(sent);
    } else if (due <= now) {
      const Packet packet = delay_.PopFirst();
      Meet(packet, Fate::kDelivered, packet.ready);
      settled_.Push(packet);
    } else {
      break;
    }
  }
  if (bottleneck_) Transmit(now);
}

size_t Pipeline::Stages::Pop(Instant now, std::span<Departure> out) {
  if (delay_.Stalled()) delay_.LookAgain();
  if (observer_ != nullptr) {
    Settle(now);
  } else if (bottleneck_) {
    Transmit(now);
  }
  size_t count = 0;
  for (; count < out.size() && !settled_.Empty(); settled_.PopFront()) {
    const Packet& packet = *settled_.Front();
    out[count++] = {packet.frame, packet.bytes, packet.number, packet.ready};
  }
  while (count < out.size() && delay_.Next() <= now) {
    const Packet packet = delay_.PopFirst();
    Meet(packet, Fate::kDelivered, packet.ready);
    out[count++] = {packet.frame, packet.bytes, packet.number, packet.ready};
  }
  return count;
}

Instant Pipeline::Stages::NextEvent() const {
  if (!settled_.Empty()) return Instant();  // at once
  const Instant sent = bottleneck_ ? bottleneck_->NextEvent() : Instant::Never();
  // What leaves the link then cannot be due before its shortest delay has passed.
  const Instant due = sent == Instant::Never() ? sent : sent + delay_.Shortest();
  return std::min(delay_.Next(), due);
}

void Pipeline::Stages::Meet(const Packet& packet, Fate fate, Instant at) {
  ++counters_.fates[static_cast<size_t>(fate)];
  if (fate == Fate::kDelivered) counters_.delivered_bytes += packet.bytes;
  if (observer_ != nullptr) observer_->OnFate(packet, fate, at);
}

void Pipeline::Stages::Drop(const Packet& packet, Fate cause, Instant at) {
  Meet(packet, cause, at);
  store_.Free(packet.frame);
}

uint64_t Pipeline::Stages::waiting() const {
  return delay_.packets() + (bottleneck_ ? bottleneck_->packets() : 0);
}

uint64_t Pipeline::Stages::waiting_bytes() const {
  return delay_.bytes() + (bottleneck_ ? bottleneck_->bytes() : 0);
}

}  // namespace viaduct::path
