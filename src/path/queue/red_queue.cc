#include "path/queue/red_queue.h"

#include <cmath>

namespace viaduct::path {
namespace {

constexpr double kMaxPacket = 1514;  // MaximumPacketSize
// "A typical transmission time for a small packet" (section 4, s): in the paper's simulations and
// ns-2 a packet of 500 bytes.
constexpr int64_t kSmallPacketBits = 500 * 8;

}  // namespace

RedParameters RedParameters::With(const Aqm& aqm) const {
  RedParameters parameters = *this;
  if (aqm.low || aqm.high) {
    parameters.byte_mode = (aqm.low ? aqm.low : aqm.high)->unit == Queue::Unit::kBytes;
    parameters.min =
        static_cast<double>(aqm.low ? aqm.low->amount : aqm.high->amount) / (aqm.low ? 1 : 3);
    parameters.max = aqm.high ? static_cast<double>(aqm.high->amount) : 3 * parameters.min;
  }
  parameters.max_probability = aqm.max_probability.value_or(max_probability);
  parameters.weight = aqm.weight.value_or(weight);
  parameters.gentle = aqm.gentle.value_or(gentle);
  parameters.ecn = aqm.ecn.value_or(ecn);
  return parameters;
}

void RedQueue::SetRate(int64_t rate) {
  FifoQueue::SetRate(rate);
  packet_time_ = Duration::Nanoseconds(kSmallPacketBits * 1000000000 / rate);
}

// Section 4, Figure 2. While nobody waits the average falls as if small packets had passed.
void RedQueue::UpdateAverage(Instant now) {
  if (!Empty()) {
    const auto queue = static_cast<double>(parameters_.byte_mode ? bytes() : packets());
    average_ += parameters_.weight * (queue - average_);
    return;
  }
  if (!idle_since_) return;
  const double small_packets = packet_time_ > Duration()
                                   ? static_cast<double>((now - *idle_since_) / packet_time_)
                                   : HUGE_VAL;
  average_ *= std::pow(1 - parameters_.weight, small_packets);
}

// p_b, for an average at or above min.
double RedQueue::Probability(uint32_t packet_bytes) const {
  const double span = parameters_.max - parameters_.min;
  double probability = parameters_.max_probability * (average_ - parameters_.min) / span;
  if (average_ >= parameters_.max) {
    probability = parameters_.max_probability + (1 - parameters_.max_probability) *
                                                    (average_ - parameters_.max) / parameters_.max;
  }
  return parameters_.byte_mode ? probability * packet_bytes / kMaxPacket : probability;
}

RedQueue::Verdict RedQueue::Judge(uint32_t packet_bytes) {
  if (average_ < parameters_.min) {
    count_ = -1;
    return Verdict::kKeep;
  }
  if (average_ >= (parameters_.gentle ? 2 : 1) * parameters_.max) {
    count_ = -1;
    return Verdict::kForced;
  }
  ++count_;
  // p_a: makes the gaps between drops uniform on 1 ... 1/p_b instead of geometric (section 7,
  // method 2). Figure 2 of the paper starts from 0 after a drop where this starts from -1, as
  // section 7 derives it: otherwise every p_b above 1/2 would drop all.
  const double pb = Probability(packet_bytes);
  const double rest = 1 - static_cast<double>(count_) * pb;
  if (rest > 0 && !random_.Chance(pb / rest)) return Verdict::kKeep;
  count_ = -1;
  return Verdict::kEarly;
}

// RFC 3168 section 7: above the upper threshold packets are dropped, not marked.
void RedQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  UpdateAverage(now);
  idle_since_.reset();
  const Verdict verdict = Judge(packet.bytes);
  const bool marks = parameters_.ecn && verdict == Verdict::kEarly;
  if (verdict != Verdict::kKeep && !(marks && Mark(packet, store_))) {
    drops.Drop(packet, Fate::kAqm, now);
  } else if (!Fits(packet)) {
    count_ = -1;
    drops.Drop(packet, Fate::kQueueFull, now);
  } else {
    Append(packet, now, drops);
  }
  if (Empty()) idle_since_ = now;
}

std::optional<Packet> RedQueue::Dequeue(Instant now, DropSink&) {
  const auto packet = TakeFront();
  if (Empty()) idle_since_ = now;
  return packet;
}

}  // namespace viaduct::path
